"""Where in a page a link may lead: its headings, and what was given a name by hand.

Owns the anchors of a document on GitHub and on the site, in the order of the text. The rule of a heading's anchor
stands in `slugs`. Refuses to judge links.

Flow: block tokens -> headings' words -> anchors; raw HTML -> `id` and `name`.
"""

import re
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from dsh_rfc.document import Document
from dsh_rfc.links import HtmlReader, read_tags
from dsh_rfc.slugs import Slugger

EXPLICIT_ID = re.compile(r"\s*\{\s*#(?P<id>[^\s{}]+)\s*\}\s*$")
_HEADING_TAG = re.compile(r"h[1-6]")


def read_anchors(document: Document) -> tuple[str, ...]:
    """Return the anchors of a page, in the order of its text; some may stand twice."""
    return tuple(_anchors(document))


def _anchors(document: Document) -> Iterator[str]:
    slugger = Slugger()
    blocks = document.blocks
    for index, token in enumerate(blocks):
        if token.type == "heading_open":
            yield _heading_anchor(document.inline(blocks[index + 1]), slugger)
        if token.type == "inline" and "<" in token.content:
            for child in document.inline(token):
                if child.type == "html_inline":
                    yield from _named(child.content)
        elif token.type == "html_block":
            yield from _named(token.content)
            yield from (slugger.take(text) for text in _html_headings(token.content))


def _heading_anchor(children: Sequence[Token], slugger: Slugger) -> str:
    words = heading_words(children)
    explicit = EXPLICIT_ID.search(words)
    anchor = slugger.take(words[: explicit.start()] if explicit else words)
    return explicit["id"] if explicit else anchor


def heading_words(children: Sequence[Token]) -> str:
    """Return what GitHub makes a heading's anchor of: its words, code included, pictures and tags left out."""
    parts = []
    for child in children:
        if child.type in {"text", "code_inline", "text_special"}:
            parts.append(child.content)
        elif child.type in {"softbreak", "hardbreak"}:
            parts.append("\n")
    return "".join(parts)


def _named(html: str) -> Iterator[str]:
    if "id" not in html.lower() and "name" not in html.lower():
        return
    for tag in read_tags(html):
        if "id" in tag.attributes:
            yield tag.attributes["id"]
        if tag.name == "a" and "name" in tag.attributes:
            yield tag.attributes["name"]


def _html_headings(html: str) -> Sequence[str]:
    if "<h" not in html.lower():
        return ()
    reader = _HeadingReader()
    reader.feed(html)
    reader.close()
    return reader.found


class _HeadingReader(HtmlReader):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._words: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base class's signature
        if _HEADING_TAG.fullmatch(tag):
            self._words = []

    def handle_endtag(self, tag: str) -> None:
        if self._words is not None and _HEADING_TAG.fullmatch(tag):
            self.found.append("".join(self._words).strip())
            self._words = None

    def handle_data(self, data: str) -> None:
        if self._words is not None:
            self._words.append(data)
