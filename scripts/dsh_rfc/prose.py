"""The parts of the curated page that state facts of the contract.

Owns finding them in the page: the skeleton of a file of each lifecycle, the table of classes, the list of status
forms, the headings that a lifecycle refuses. Refuses to compare them (`rules.contract_prose` does).

Flow: tokens -> fences, tables and lists under headings -> `Prose`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from dsh_rfc.contract import Contract
from dsh_rfc.document import Document, Heading
from dsh_rfc.header import STATUS


@dataclass(frozen=True, kw_only=True)
class Stated:
    """A value that the page states.

    Attributes:
        text: As a reader sees it.
        line: 1-based.
    """

    text: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Values in the order of the page, in a table or a list that starts on a line."""

    values: tuple[Stated, ...]
    line: int


@dataclass(frozen=True, kw_only=True)
class Skeleton:
    """An RFC without text, in a fence.

    Attributes:
        line: Where the fence starts.
        title: Its title, if it has one.
        status: Its status line, if it has one.
        sections: Its headings of level 2.
    """

    line: int
    title: Stated | None
    status: Stated | None
    sections: tuple[Stated, ...]


@dataclass(frozen=True, kw_only=True)
class Prose:
    """What was found; a part that was not is None, or absent from its mapping.

    Attributes:
        headings: The line of the heading of each lifecycle that has one.
        skeletons: By lifecycle.
        banned: By lifecycle, each value with its `## `.
        classes: The names of the classes.
        statuses: The forms of the status line.
    """

    headings: Mapping[str, int]
    skeletons: Mapping[str, Skeleton]
    banned: Mapping[str, Listing]
    classes: Listing | None
    statuses: Listing | None


def read_prose(document: Document, contract: Contract) -> Prose:
    """Return the parts of the page that can be compared with the contract."""
    headings = {
        name: heading
        for heading in reversed(document.headings)
        if (name := heading.name.strip("`/ ")) in contract.lifecycles
    }
    spans = [(listing, start) for start in range(len(document.blocks)) if (listing := _code_list(document, start))]
    skeletons = {name: _skeleton(document, heading) for name, heading in headings.items()}
    return Prose(
        headings={name: heading.line for name, heading in headings.items()},
        skeletons={name: skeleton for name, skeleton in skeletons.items() if skeleton},
        banned={
            name: listing
            for name, heading in headings.items()
            for listing, start in spans
            if start in _scope(document, heading) and all(value.text.startswith("## ") for value in listing.values)
        },
        classes=_class_table(document, contract),
        statuses=next(
            (item for item, _ in spans if any(value.text.startswith(STATUS) for value in item.values)), None
        ),
    )


def _scope(document: Document, heading: Heading) -> range:
    """Return where the tokens below a heading stand, up to the next one."""
    later = (other.token_index for other in document.headings if other.token_index > heading.token_index)
    return range(heading.token_index, next(later, len(document.blocks)))


def _skeleton(document: Document, heading: Heading) -> Skeleton | None:
    for index in _scope(document, heading):
        token = document.blocks[index]
        if token.type == "fence" and token.map is not None and "# " in token.content:
            inner = Document(path=document.path, text=token.content)
            above = token.map[0] + 1
            stated = [
                (item.level, Stated(text=item.name, line=above + item.line))
                for item in inner.headings
                if not item.name.startswith(STATUS)
            ]
            statuses = (
                Stated(text=text.strip(), line=above + number)
                for number, text in enumerate(inner.lines, start=1)
                if text.strip().startswith(STATUS)
            )
            return Skeleton(
                line=above,
                title=next((item for level, item in stated if level == 1), None),
                status=next(statuses, None),
                sections=tuple(item for level, item in stated if level == 2),
            )
    return None


def _code_list(document: Document, start: int) -> Listing | None:
    """Return the values of a bullet list whose items are one code span each."""
    opened = document.blocks[start]
    if opened.type != "bullet_list_open" or opened.map is None:
        return None
    values: list[Stated] = []
    for token in document.blocks[start + 1 :]:
        if token.type == "bullet_list_close" and token.level == opened.level:
            break
        if token.type == "inline":
            text = _one_code_span(document, token)
            if text is None or token.map is None:
                return None
            values.append(Stated(text=text, line=token.map[0] + 1))
        elif token.type in {"fence", "code_block", "html_block", "heading_open", "bullet_list_open"}:
            return None
    return Listing(values=tuple(values), line=opened.map[0] + 1) if values else None


def _one_code_span(document: Document, token: Token) -> str | None:
    if not token.content.startswith("`"):
        return None  # most lists are prose, and stay unparsed
    children = document.inline(token)
    return children[0].content if len(children) == 1 and children[0].type == "code_inline" else None


def _class_table(document: Document, contract: Contract) -> Listing | None:
    for start, token in enumerate(document.blocks):
        if token.type == "table_open" and token.map is not None:
            cells = list(_first_column(document, document.blocks[start:]))
            known = sum(cell.text in contract.classes for cell in cells[1:])
            if cells and (cells[0].text.casefold() == "class" or known * 2 > len(cells) - 1):
                return Listing(values=tuple(cells[1:]), line=token.map[0] + 1)
    return None


def _first_column(document: Document, blocks: Sequence[Token]) -> Iterator[Stated]:
    is_first = False
    for token in blocks:
        if token.type == "tr_open":
            is_first = True
        elif token.type == "inline" and is_first:
            text = "".join(child.content for child in document.inline(token)).strip()
            yield Stated(text=text, line=token.map[0] + 1 if token.map else 1)
            is_first = False
        elif token.type == "table_close":
            return
