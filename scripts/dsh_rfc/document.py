"""One Markdown file as tokens.

Owns decoding, line ends and the one parse of a file. Block structure is parsed on first use; what stands
inside a paragraph is parsed on demand, token by token, because most rules never look there and it is the
slower half. Refuses to know what an RFC is.

Flow: bytes -> text with LF -> block tokens -> headings; `inline(token)` -> children.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from markdown_it.token import Token

from dsh_rfc.dialect import UNRESOLVED, Unresolved, make_parser

_BOM = "\ufeff"
_LINE_END = re.compile(r"\r\n?")
_PARSER = make_parser()


@dataclass(frozen=True, kw_only=True)
class Flaw:
    """Why the bytes are no text, and where."""

    line: int
    column: int
    message: str


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A heading of the document itself, not one quoted, listed or in a fence.

    Attributes:
        level: 1 to 6.
        name: The text as written, without markers and outer spaces.
        line: 1-based, of its first line.
        last_line: 1-based; another line than the first when it is underlined.
        column: 1-based, of the first character that is no space.
        markup: `#` to `######`, or `=` or `-` for an underlined heading.
        token_index: Where its opening token stands in `Document.blocks`.
    """

    level: int
    name: str
    line: int
    last_line: int
    column: int
    markup: str
    token_index: int


@dataclass(frozen=True, kw_only=True)
class Document:
    """A decoded Markdown file, parsed at most once."""

    path: str
    text: str
    has_bom: bool = False
    _children: dict[int, Sequence[Token]] = field(default_factory=dict, repr=False, compare=False)
    _unresolved: dict[int, Sequence[Unresolved]] = field(default_factory=dict, repr=False, compare=False)
    _line_places: dict[tuple[int, int], tuple[int, int, bool | None]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends."""
        return tuple(self.text.split("\n"))

    @cached_property
    def _parsed(self) -> tuple[tuple[Token, ...], dict[str, Any]]:
        environment: dict[str, Any] = {}
        return tuple(_PARSER.parse(self.text, environment)), environment

    @property
    def blocks(self) -> tuple[Token, ...]:
        """The block tokens, in order; `inline` tokens have no children yet."""
        return self._parsed[0]

    @property
    def references(self) -> Mapping[str, Any]:
        """The link reference definitions, by normalized label."""
        references: Mapping[str, Any] = self._parsed[1].get("references", {})
        return references

    @property
    def repeated_references(self) -> Sequence[Mapping[str, Any]]:
        """The definitions of labels that were defined before, which count for nothing."""
        repeated: Sequence[Mapping[str, Any]] = self._parsed[1].get("duplicate_refs", ())
        return repeated

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """The headings of the document itself, in order."""
        found = []
        for index, token in enumerate(self.blocks):
            if token.type != "heading_open" or token.level != 0 or token.map is None:
                continue
            first = self.lines[token.map[0]]
            found.append(
                Heading(
                    level=int(token.tag[1:]),
                    name=self.blocks[index + 1].content.strip(),
                    line=token.map[0] + 1,
                    last_line=token.map[1],
                    column=column_of_text(first),
                    markup=token.markup,
                    token_index=index,
                )
            )
        return tuple(found)

    def inline(self, token: Token) -> Sequence[Token]:
        """Return what stands inside an `inline` token, parsed on first use."""
        key = id(token)
        if key not in self._children:
            children: list[Token] = []
            unresolved: list[Unresolved] = []
            environment = self._parsed[1]
            environment[UNRESOLVED] = unresolved
            _PARSER.inline.parse(token.content, _PARSER, environment, children)
            self._children[key] = children
            self._unresolved[key] = unresolved
        return self._children[key]

    def unresolved(self, token: Token) -> Sequence[Unresolved]:
        """Return the references in an `inline` token that have no definition."""
        self.inline(token)
        return self._unresolved[id(token)]

    def place(self, token: Token, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of a character of a token's content."""
        line_start = token.content.rfind("\n", 0, offset) + 1
        key = id(token), line_start
        if key not in self._line_places:
            self._line_places[key] = self._place_line(token, line_start)
        line, column, is_escaped = self._line_places[key]
        if is_escaped is None:
            return line, column
        pipes = token.content.count("|", line_start, offset) if is_escaped else 0
        return line, column + offset - line_start + pipes

    def _place_line(self, token: Token, line_start: int) -> tuple[int, int, bool | None]:
        """Return where a line of a token's content starts and whether its pipes are escaped there.

        None stands for a line that is written in another way, so that no place in it is known.
        """
        first, last = token.map or (0, 1)
        written = token.content[line_start:].partition("\n")[0]
        first += token.content.count("\n", 0, line_start)
        start = self._cell_starts.get(id(token), 0)
        # Beyond the first try: a cell, whose pipes were escaped; a paragraph that opens with no-break spaces alone.
        for number in range(first, max(last, first + 1)):
            for shown in (written, written.replace("|", "\\|")):
                at = self.lines[number].find(shown, start)
                if at >= 0:
                    return number + 1, at + 1, shown != written
        return first + 1, column_of_text(self.lines[first]), None

    @cached_property
    def _cell_starts(self) -> Mapping[int, int]:
        """Where the text of a cell is looked for in its line, by the token's identity: behind the cells before."""
        starts: dict[int, int] = {}
        start, in_cell = 0, False
        for token in self.blocks:
            if token.type == "tr_open":
                start = 0
            elif token.type == "inline" and in_cell and token.map is not None:
                starts[id(token)] = start
                line = self.lines[token.map[0]]
                found = [
                    at + len(shown)
                    for shown in {token.content, token.content.replace("|", "\\|")}
                    if (at := line.find(shown, start)) >= 0
                ]
                start = line.find("|", min(found)) + 1 if token.content and found else line.find("|", start + 1)
                start = max(start, 0)
            in_cell = token.type in {"th_open", "td_open"}
        return starts

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing but space."""
        return not self.text.strip()


def column_of_text(line: str) -> int:
    """Return the 1-based column of the first character that is no space."""
    return len(line) - len(line.lstrip()) + 1


def decode(path: str, data: bytes) -> Document | Flaw:
    """Return the document, or where and why the bytes are no text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = _place(before)
        return Flaw(line=line, column=column, message=f"byte 0x{data[error.start]:02x} is not UTF-8")
    if "\0" in text:
        line, column = _place(text[: text.index("\0")])
        return Flaw(line=line, column=column, message="holds a NUL byte, so it is no text")
    has_bom = text.startswith(_BOM)
    return Document(path=path, text=_LINE_END.sub("\n", text.removeprefix(_BOM)), has_bom=has_bom)


def _place(before: str) -> tuple[int, int]:
    normal = _LINE_END.sub("\n", before)
    return normal.count("\n") + 1, len(normal) - (normal.rfind("\n") + 1) + 1
