"""The documents of a repository and the pages that they become.

Owns which files are documents, which are their counterparts in other languages, and where each stands on the site.
Refuses to render.

Flow: folder of documents and CONTRIBUTING.md -> entries -> `Source` per page, with one document per language.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dsh_rfc.contract import Contract
from dsh_rfc.document import Document, decode
from dsh_rfc.errors import RecordMissing
from dsh_rfc.stage.languages import ENGLISH, LANGUAGES
from dsh_rfc.tree import Kind, read_tree

EXPLORER = "index.md"
CONTRACT_PAGE = "contract.md"
CONTRIBUTING_PAGE = "contributing/index.md"
_CONTRIBUTING = "CONTRIBUTING.md"
_NOT_PUBLISHED = (".i18n.yaml",)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A page that somebody wrote, in one language or more.

    Attributes:
        page: Where it stands on the site, relative to a language's tree, as Markdown.
        documents: By language tag; paths are relative to the repository.
    """

    page: str
    documents: Mapping[str, Document]

    def best(self, tag: str) -> tuple[str, Document]:
        """Return the language that a reader of `tag` gets, and its document."""
        for wanted in (tag, *(language.tag for language in LANGUAGES)):
            if wanted in self.documents:
                return wanted, self.documents[wanted]
        raise KeyError(self.page)


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Everything below the folder of documents, and the page for contributors.

    Attributes:
        pages: By page, in order.
        by_path: The page and the language of each document, by path relative to the repository.
        assets: What is copied as it is: page path -> file.
        record: Where the record stands on the site; empty when it is the site.
    """

    pages: Mapping[str, Source]
    by_path: Mapping[str, tuple[str, str]]
    assets: Mapping[str, Path]
    record: str
    _folders: set[str] = field(default_factory=set, repr=False)

    @property
    def explorer(self) -> str:
        """The page that lists the record."""
        return f"{self.record}/{EXPLORER}" if self.record else EXPLORER


def read_sources(repository: Path, documents: str, contract: Contract) -> Sources:
    """Return the documents of the repository.

    Raises:
        RecordMissing: There is no such folder, or a document cannot be read.
    """
    record = contract.root.removeprefix(f"{documents}/")
    pages: dict[str, dict[str, Document]] = {}
    by_path: dict[str, tuple[str, str]] = {}
    assets: dict[str, Path] = {}
    entries = read_tree(repository / documents, max_file_bytes=contract.max_file_bytes)
    names = frozenset(entry.path for entry in entries)
    for entry in entries:
        if entry.kind is not Kind.FILE or any(part.startswith(".") for part in entry.path.split("/")):
            continue
        path = f"{documents}/{entry.path}"
        if not entry.path.endswith(".md"):
            if not entry.path.endswith(_NOT_PUBLISHED):
                assets[entry.path] = repository / path
            continue
        plain, tag = _split_language(entry.path)
        page = _page_of(plain, record, contract, names)
        if page is None:
            continue
        if entry.fault:
            msg = f"{path} {entry.fault}"
            raise RecordMissing(msg)
        by_path[path] = (page, tag)
        pages.setdefault(page, {})[tag] = _read(path, entry.data)
    if CONTRIBUTING_PAGE not in pages:
        # the one document that hosts of repositories want outside of the folder of documents
        for tag, path in _counterparts(_CONTRIBUTING):
            if (repository / path).is_file():
                by_path[path] = (CONTRIBUTING_PAGE, tag)
                pages.setdefault(CONTRIBUTING_PAGE, {})[tag] = _read(path, (repository / path).read_bytes())
    index = f"{contract.root}/{contract.index}"
    by_path[index] = (f"{record}/{EXPLORER}", ENGLISH.tag)
    return Sources(
        pages={page: Source(page=page, documents=pages[page]) for page in sorted(pages)},
        by_path=by_path,
        assets=assets,
        record=record,
    )


def _read(path: str, data: bytes) -> Document:
    document = decode(path, data)
    if not isinstance(document, Document):
        msg = f"{path}:{document.line}:{document.column}: {document.message}"
        raise RecordMissing(msg)
    return document


def _counterparts(path: str) -> Iterator[tuple[str, str]]:
    """Yield the language tag and the path of each language's version of a document."""
    for language in LANGUAGES:
        infix = "" if language is ENGLISH else f".{language.tag}"
        yield language.tag, f"{path.removesuffix('.md')}{infix}.md"


def _split_language(path: str) -> tuple[str, str]:
    for language in LANGUAGES[1:]:
        if path.endswith(f".{language.tag}.md"):
            return f"{path.removesuffix(f'.{language.tag}.md')}.md", language.tag
    return path, ENGLISH.tag


def _page_of(path: str, record: str, contract: Contract, names: frozenset[str]) -> str | None:
    folder, _, name = path.rpartition("/")
    if folder == record and name == contract.curated:
        return f"{folder}/{CONTRACT_PAGE}"
    if folder == record and name == contract.index:
        return None  # the explorer stands in its place
    if folder.startswith(f"{record}/") and folder.count("/") == record.count("/") + 1 and name in contract.notes:
        return None  # instructions for those who write
    if name == "README.md" and f"{folder}/index.md".lstrip("/") not in names:
        return f"{folder}/index.md".lstrip("/")
    return path


def url_of(page: str) -> str:
    """Return the address of a page relative to its language's tree.

    Example:
        >>> url_of("rfc/index.md"), url_of("guides/start.md"), url_of("index.md")
        ('rfc/', 'guides/start/', '')
    """
    stem = page.removesuffix(".md")
    return "" if stem == "index" else stem.removesuffix("index") if stem.endswith("/index") else f"{stem}/"


def relative_url(target: str, page: str) -> str:
    """Return a target, relative to the site's tree, as a page would name it in HTML.

    Example:
        >>> relative_url("rfc/feed.xml", "rfc/contract.md")
        '../feed.xml'
    """
    here = url_of(page) or "."
    relative = os.path.relpath(target or ".", here).replace(os.sep, "/")
    return f"{relative}/" if target.endswith("/") or not target else relative


def relative_page(target: str, page: str) -> str:
    """Return a page as another page's Markdown names it."""
    return os.path.relpath(target, os.path.dirname(page) or ".").replace(os.sep, "/")  # noqa: PTH120 - no file is meant


def titles(sources: Sources) -> Iterator[str]:
    """Yield the pages that have no heading of level 1, which a builder would name after the file."""
    for page, source in sources.pages.items():
        for document in source.documents.values():
            if not any(heading.level == 1 for heading in document.headings):
                yield page
