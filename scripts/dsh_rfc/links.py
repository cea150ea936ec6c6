"""The links of a document, as a renderer reads them.

Owns finding every link, image, HTML target and reference definition, each with the place where it is written. What
stands in code is text. Refuses to know where a link leads (`targets`) and whether that is right.

Flow: inline tokens and raw HTML -> `Link`s; definitions and marks -> `Definition`s and uses -> `Links`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from markdown_it.common.utils import normalizeReference
from markdown_it.token import Token

from dsh_rfc.document import Document

_HTML_TARGETS = {"href": "link", "src": "image", "poster": "image", "srcset": "image"}
_BARE_ADDRESS = re.compile(r"(?<!\w)https?://[^\s<>`\0]+")
_COMMENT_END = re.compile(r"--!?>")
_BLOT = "\0"
_COMMENT_LABELS = frozenset({"//", "COMMENT", "#"})


@dataclass(frozen=True, kw_only=True)
class Link:
    """One target with its place.

    Attributes:
        target: As written, entities and escapes resolved, percent-encoding kept.
        is_image: Whether a picture is shown there.
        label: Of the reference that it is; empty for every other form.
        line: 1-based.
        column: 1-based.
    """

    target: str
    is_image: bool
    label: str
    line: int
    column: int


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A reference's label with its place; a footnote's starts with a caret."""

    label: str
    line: int
    column: int


@dataclass(frozen=True, kw_only=True)
class Links:
    """Everything in a document that leads somewhere.

    Attributes:
        links: In the order of the text.
        definitions: The ones that count.
        repeated: Definitions of a label that has one.
        missing: Uses of a label without one.
        used: The labels that some text uses.
    """

    links: tuple[Link, ...]
    definitions: tuple[Mark, ...]
    repeated: tuple[Mark, ...]
    missing: tuple[Mark, ...]
    used: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Tag:
    """An opening HTML tag: attributes by lower-case name, and where it stands in the HTML that was read."""

    name: str
    attributes: dict[str, str]
    line_index: int
    column_index: int


def read_links(document: Document) -> Links:
    """Return the links of a document."""
    links: list[Link] = []
    marks: list[tuple[Mark, bool]] = []
    for token in document.blocks:
        if token.type == "inline" and ("[" in token.content or "<" in token.content):
            links.extend(_inline_links(document, token))
            marks.extend(_footnotes_and_missing(document, token))
        if token.type == "inline" and "://" in token.content:
            links.extend(_bare_addresses(document, token))
        if token.type == "html_block":
            links.extend(_html_links(document, token, token.content, 0))
    return _with_references(document, links, marks)


def _inline_links(document: Document, token: Token) -> Iterator[Link]:
    for child in document.inline(token):
        if child.type == "html_inline":
            yield from _html_links(document, token, child.content, child.meta["start"])
        elif child.type in {"link_open", "image"}:
            line, column = document.place(token, child.meta["start"])
            is_image = child.type == "image"
            label = str(child.meta.get("label", ""))
            target = str(child.attrs["src" if is_image else "href"])
            yield Link(target=target, is_image=is_image, label=label, line=line, column=column)


def _bare_addresses(document: Document, token: Token) -> Iterator[Link]:
    for found in _BARE_ADDRESS.finditer(prose(document, token)):
        target = found.group().rstrip(".,;:!?*_~'\"")
        while target.endswith(")") and target.count(")") > target.count("("):
            target = target[:-1]
        line, column = document.place(token, found.start())
        yield Link(target=target, is_image=False, label="", line=line, column=column)


def prose(document: Document, token: Token) -> str:
    """Return the text of an inline token with links, images, code and tags blotted out, at unchanged offsets."""
    text = token.content
    if not any(character in text for character in "[`<"):
        return text
    for child in document.inline(token):
        if "end" in child.meta:
            start, end = child.meta["start"], child.meta["end"]
            text = text[:start] + _BLOT * (end - start) + text[end:]
    return text


def _html_links(document: Document, token: Token, html: str, start: int) -> Iterator[Link]:
    line_starts = [0, *(found.end() for found in re.finditer("\n", html))]
    for tag in read_tags(html):
        for name, kind in _HTML_TARGETS.items():
            if name not in tag.attributes or (name == "href" and tag.name not in {"a", "area"}):
                continue
            offset = start + line_starts[tag.line_index] + tag.column_index
            line, column = document.place(token, offset)
            value = tag.attributes[name]
            for target in _candidates(value) if name == "srcset" else (value,):
                yield Link(target=target.strip(), is_image=kind == "image", label="", line=line, column=column)


def _candidates(srcset: str) -> Iterator[str]:
    for part in srcset.split(","):
        if words := part.split():
            yield words[0]


def read_tags(html: str) -> tuple[Tag, ...]:
    """Return the opening tags of raw HTML; comments and scripts hold none."""
    reader = _TagReader()
    reader.feed(html)
    reader.close()
    return tuple(reader.tags)


class HtmlReader(HTMLParser):
    """Reads raw HTML as it comes, however broken; it must be fed at once.

    What is opened and never closed reaches to the end, as in browsers. The base class takes its first character for
    text and looks for tags behind it, again and again to the end.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def parse_marked_section(self, i: int, report: int = 1) -> int:  # noqa: ARG002 - the base class's signature
        """Take `<![` for a comment, as browsers do; the base class fails on it."""
        return self.parse_bogus_comment(i)

    def parse_starttag(self, i: int) -> int:
        """Take a tag that is not closed to the end."""
        return self._closed(super().parse_starttag(i))

    def parse_endtag(self, i: int) -> int:
        """Take a closing tag that is not closed to the end."""
        return self._closed(super().parse_endtag(i))

    def parse_pi(self, i: int) -> int:
        """Take an instruction that is not closed to the end."""
        return self._closed(super().parse_pi(i))

    def parse_html_declaration(self, i: int) -> int:
        """Take a declaration that is not closed to the end."""
        return self._closed(super().parse_html_declaration(i))

    def _closed(self, end: int) -> int:
        return end if end >= 0 else len(self.rawdata)

    def parse_comment(self, i: int, report: bool = True) -> int:
        """Take a comment that is not closed to the end, as browsers do; the base class reads tags in it."""
        closed = _COMMENT_END.search(self.rawdata, i + 2)
        if report:
            self.handle_comment(self.rawdata[i + 4 : closed.start() if closed else None])
        return closed.end() if closed else len(self.rawdata)


class _TagReader(HtmlReader):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[Tag] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        line, column = self.getpos()
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append(Tag(name=tag, attributes=attributes, line_index=line - 1, column_index=column))


def _footnotes_and_missing(document: Document, token: Token) -> Iterator[tuple[Mark, bool]]:
    for item in document.unresolved(token):
        line, column = document.place(token, item.start)
        yield Mark(label=item.label, line=line, column=column), item.is_definition


def _with_references(document: Document, links: Sequence[Link], marks: Sequence[tuple[Mark, bool]]) -> Links:
    definitions, repeated = _definitions(document)
    for mark, is_definition in marks:
        if is_definition:
            known = any(mark.label == other.label for other in definitions)
            (repeated if known else definitions).append(mark)
    labels = {mark.label for mark in definitions}
    uses = [mark for mark, is_definition in marks if not is_definition]
    used = {link.label for link in links} | {mark.label for mark in uses} | _labels_in_descriptions(document)
    return Links(
        links=tuple(link for link in links if not link.label.startswith("^")),
        definitions=tuple(sorted(definitions, key=_place_of)),
        repeated=tuple(sorted(repeated, key=_place_of)),
        missing=tuple(mark for mark in uses if mark.label not in labels),
        used=frozenset(used),
    )


def _place_of(mark: Mark) -> tuple[int, int]:
    return mark.line, mark.column


def _definitions(document: Document) -> tuple[list[Mark], list[Mark]]:
    definitions = [_mark(document, label, item["map"][0]) for label, item in document.references.items()]
    repeated = [_mark(document, item["label"], item["map"][0]) for item in document.repeated_references]
    return (
        [mark for mark in definitions if mark.label not in _COMMENT_LABELS],
        [mark for mark in repeated if mark.label not in _COMMENT_LABELS],
    )


def _mark(document: Document, label: str, line_index: int) -> Mark:
    column = document.lines[line_index].find("[") + 1
    return Mark(label=normalizeReference(label), line=line_index + 1, column=column)


def _labels_in_descriptions(document: Document) -> set[str]:
    """Return the labels that only the description of an image uses: no link comes of it, and no fault either."""
    found: set[str] = set()
    for token in document.blocks:
        if token.type == "inline" and "![" in token.content:
            for child in document.inline(token):
                pending = list(child.children or ())
                while pending:
                    inner = pending.pop()
                    found.add(str(inner.meta.get("label", "")))
                    pending += inner.children or ()
    return found
