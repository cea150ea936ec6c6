"""Where a link of a document leads on the site.

Owns one rule: a target inside the documents becomes the page, a module of a package becomes its API page, anything
else in the repository becomes its view in the web. What does not exist is left as it is, so that the builder, which
is strict, refuses it. Links that lead to pages are remembered, for "referenced by".
"""

import os
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from dsh_rfc.stage.inline import Targets
from dsh_rfc.stage.languages import LANGUAGES
from dsh_rfc.stage.settings import Settings
from dsh_rfc.stage.sources import Sources, relative_page, relative_url, url_of

_OUTSIDE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|$")
_PREFIX = {language.tag: language.prefix for language in LANGUAGES}


@dataclass(frozen=True, kw_only=True)
class Site:
    """What a link can lead to.

    Attributes:
        repository: The folder of the repository.
        settings: Addresses.
        sources: The documents.
        api: API page of a path in the repository.
    """

    repository: Path
    settings: Settings
    sources: Sources
    api: Mapping[str, str]
    _present: dict[str, int] = field(default_factory=dict, repr=False)

    def kind_of(self, path: str) -> int:
        """Return 0 when nothing is there, 1 for a file, 2 for a folder."""
        if path not in self._present:
            file = self.repository / path
            self._present[path] = 2 if file.is_dir() else 1 if file.is_file() else 0
        return self._present[path]


@dataclass(kw_only=True)
class Links:
    """The links of one document as it stands on one page.

    Attributes:
        site: What they can lead to.
        path: The document, relative to the repository.
        page: The page that it becomes.
        tag: The language of the tree.
        linked: Pages that were linked to, in order.
        crossed: Whether a link leads into another language's tree, which makes the text differ between trees.
    """

    site: Site
    path: str
    page: str
    tag: str
    linked: dict[str, None] = field(default_factory=dict)
    crossed: bool = False

    @property
    def targets(self) -> Targets:
        """The two functions for `inline`."""
        return Targets(markdown=self.markdown, html=self.html)

    def markdown(self, href: str) -> str:
        """Return the target that the staged Markdown names."""
        return self._resolve(href, in_html=False)

    def html(self, href: str) -> str:
        """Return the target that staged HTML names."""
        return self._resolve(href, in_html=True)

    def _resolve(self, href: str, *, in_html: bool) -> str:
        if _OUTSIDE.match(href):
            return href
        target, hash_sign, fragment = href.partition("#")
        target, query_sign, query = target.partition("?")
        rest = f"{query_sign}{query}{hash_sign}{fragment}"
        decoded = unquote(target)
        if decoded.startswith("/"):
            path = decoded.lstrip("/")
        else:
            path = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), decoded))
        if path.startswith(".."):
            return href
        path = "" if path == "." else path
        found = self._page_at(path)
        if found:
            page, tag = found
            if page == self.site.sources.explorer and not path.endswith("/index.md"):
                rest = ""  # the anchors of the generated list are not those of the explorer
            return self._to_page(page, tag, rest, in_html=in_html)
        documents = f"{self.site.settings.documents}/"
        if path.removeprefix(documents) in self.site.sources.assets and path.startswith(documents):
            asset = path.removeprefix(documents)
            return quote((relative_url if in_html else relative_page)(asset, self.page)) + rest
        api = self.site.api.get(path.rstrip("/"))
        if api and not re.fullmatch(r"L\d+.*", fragment):
            return self._to_page(api, self.tag, "", in_html=in_html)
        kind = self.site.kind_of(path)
        return self.site.settings.view(quote(path), is_folder=kind == 2) + rest if kind else href

    def _page_at(self, path: str) -> tuple[str, str] | None:
        by_path = self.site.sources.by_path
        for candidate in (path, f"{path}/index.md", f"{path}/README.md"):
            if candidate in by_path:
                return by_path[candidate]
        return None

    def _to_page(self, page: str, tag: str, rest: str, *, in_html: bool) -> str:
        self.linked.setdefault(page)
        is_explicit = tag not in {LANGUAGES[0].tag, self.tag}
        if is_explicit:
            self.crossed = True
            up = relative_url("", self.page) if not self.tag_prefix else relative_url("", self.page) + "../"
            return f"{up}{_PREFIX[tag]}{quote(url_of(page))}{rest}"
        if in_html:
            return quote(relative_url(url_of(page), self.page)) + rest
        return quote(relative_page(page, self.page)) + rest

    @property
    def tag_prefix(self) -> str:
        """The prefix of the tree's language."""
        return _PREFIX[self.tag]


def switcher_lines(lines: tuple[str, ...], name: str) -> frozenset[int]:
    """Return the 1-based lines that only lead to the counterpart; the site has a switch in its header.

    Args:
        lines: Of the document.
        name: The file name of the document, without language and suffix.
    """
    stem = re.escape(name)
    switch = re.compile(rf"(?:English \| \[[^\]]+\]\({stem}\.[a-z-]+\.md\)|\[English\]\({stem}\.md\) \| \S+)")
    return frozenset(number for number, line in enumerate(lines[:12], start=1) if switch.fullmatch(line.strip()))


def stem_of(path: str) -> str:
    """Return a document's file name without language and suffix."""
    name = os.path.basename(path).removesuffix(".md")  # noqa: PTH119 - a path of the repository, not of this machine
    for language in LANGUAGES[1:]:
        name = name.removesuffix(f".{language.tag}")
    return name
