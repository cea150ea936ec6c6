"""The header block of an RFC: title, blank line, status line, blank line.

Owns finding the four lines even where some of them are wrong, so that each rule of the header can judge its
own line and a misplaced title does not make the status wrong too. Refuses to judge.

Flow: `Document` -> title heading, status lines -> `Header`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dsh_rfc.document import Document, Heading

STATUS = "Status:"
_NEAR_STATUS = re.compile(r"[\s>*_#+`-]*status[\s*_`]*[:\uff1a]", re.IGNORECASE)
_HEADER_LINES = 10


@dataclass(frozen=True, kw_only=True)
class StatusLine:
    """A line that gives a status, or means to.

    Attributes:
        line: 1-based.
        text: Without outer spaces.
        is_exact: Whether it is a `Status:` line; otherwise it only resembles one.
    """

    line: int
    text: str
    is_exact: bool = True


@dataclass(frozen=True, kw_only=True)
class Header:
    """What was found of the header block.

    Attributes:
        title: The first heading of level 1, wherever it stands.
        status: The line that counts as the status line.
        repeated: Further `Status:` lines.
        title_line: The last line of the title, or 1: the line from which the others are counted.
        first_section_line: Where the first section starts, or one past the last line.
    """

    title: Heading | None
    status: StatusLine | None
    repeated: tuple[StatusLine, ...]
    title_line: int
    first_section_line: int

    @property
    def status_line_expected(self) -> int:
        """Where the status line belongs."""
        return self.title_line + 2


def read_header(document: Document) -> Header:
    """Return what can be found of the header."""
    title = next((heading for heading in document.headings if heading.level == 1), None)
    title_line = title.last_line if title else 1
    first_section_line = next(
        (
            heading.line
            for heading in document.headings
            if heading.level == 2 and heading.line > title_line and not is_underlined_status(heading)
        ),
        len(document.lines) + 1,
    )
    status: StatusLine | None
    exact = tuple(_status_lines(document))
    if exact and exact[0].line < first_section_line:
        status, repeated = exact[0], exact[1:]
    else:
        near = _near_status(document, title_line, first_section_line)
        status, repeated = (near, exact) if near else (next(iter(exact), None), exact[1:])
    return Header(
        title=title,
        status=status,
        repeated=repeated,
        title_line=title_line,
        first_section_line=first_section_line,
    )


def is_underlined_status(heading: Heading) -> bool:
    """Say whether a status line became a heading by a rule drawn under it."""
    return heading.markup in {"=", "-"} and heading.name.startswith(STATUS)


def _status_lines(document: Document) -> Iterator[StatusLine]:
    for token in document.blocks:
        if token.type != "inline" or token.level != 1 or token.map is None or STATUS not in token.content:
            continue  # level 1 is a paragraph or heading of the document itself
        for number, text in enumerate(document.lines[token.map[0] : token.map[1]], start=token.map[0] + 1):
            if text.strip().startswith(STATUS):
                yield StatusLine(line=number, text=text.strip())


def _near_status(document: Document, title_line: int, first_section_line: int) -> StatusLine | None:
    code = {
        number
        for token in document.blocks
        if token.type in {"fence", "code_block"} and token.map is not None
        for number in range(token.map[0] + 1, token.map[1] + 1)
    }
    last = min(first_section_line - 1, title_line + _HEADER_LINES)
    for number in range(title_line + 1, last + 1):
        text = document.lines[number - 1] if number <= len(document.lines) else ""
        if number not in code and _NEAR_STATUS.match(text):
            return StatusLine(line=number, text=text.strip(), is_exact=False)
    return None
