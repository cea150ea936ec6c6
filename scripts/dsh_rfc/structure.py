"""What two sides of a pair have in common whatever their language.

Owns the outline of a document and finding the first place where two outlines part. Refuses to know pairs, and
what a link's target is called in another language (the caller says).

Flow: tokens -> landmarks in order, with the links before each -> first difference.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from markdown_it.token import Token

from dsh_rfc.document import Document

_LISTS = {"bullet_list_open": "a bullet list", "ordered_list_open": "a numbered list"}


@dataclass(frozen=True, kw_only=True)
class Landmark:
    """Something that stands on both sides at the same point of the order.

    Attributes:
        meaning: What has to be equal.
        shown: In words.
        line: 1-based.
        lines: The lines of a code block's content, for pointing into it.
    """

    meaning: Hashable
    shown: str
    line: int
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Connection:
    """A link or an image.

    Attributes:
        meaning: Its target, the same for the same page in another language.
        shown: Its target as written.
        line: 1-based.
    """

    meaning: Hashable
    shown: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Outline:
    """The landmarks of a document; `links[i]` stand before landmark `i`, the last ones after all of them."""

    landmarks: tuple[Landmark, ...]
    links: tuple[tuple[Connection, ...], ...]
    last_line: int


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Where two documents part.

    Attributes:
        line: 1-based, in the document that is blamed.
        shown: What stands there.
        other_line: 1-based, in the other.
        other_shown: What stands there.
    """

    line: int
    shown: str
    other_line: int
    other_shown: str


def read_outline(document: Document, links: Iterable[Connection]) -> Outline:
    """Return the outline of a document.

    Args:
        document: Its blocks are read.
        links: Those that count.
    """
    landmarks = tuple(_landmarks(document))
    pending = sorted(links, key=lambda item: item.line)
    groups: list[tuple[Connection, ...]] = []
    at = 0
    for landmark in landmarks:
        start = at
        while at < len(pending) and pending[at].line < landmark.line:
            at += 1
        groups.append(tuple(pending[start:at]))
    return Outline(landmarks=landmarks, links=(*groups, tuple(pending[at:])), last_line=len(document.lines))


def first_difference(ours: Outline, theirs: Outline) -> Difference | None:
    """Return the first place where two outlines part, or nothing.

    Links are compared between landmarks and in any order, because a sentence has another order in another language.
    """
    for index, (mine, other) in enumerate(zip_longest(ours.landmarks, theirs.landmarks)):
        if mine is None or other is None or mine.meaning != other.meaning:
            earlier = _link_difference(ours, theirs, range(index))
            return earlier or _landmark_difference(mine, other, ours, theirs)
    return _link_difference(ours, theirs, range(len(ours.links)))


def _landmark_difference(
    mine: Landmark | None, other: Landmark | None, ours: Outline, theirs: Outline
) -> Difference:
    offset = _first_unequal(mine.lines, other.lines) if mine and other and mine.lines and other.lines else 0
    return Difference(
        line=mine.line + offset if mine else ours.last_line,
        shown=mine.shown if mine else "the end",
        other_line=other.line + offset if other else theirs.last_line,
        other_shown=other.shown if other else "the end",
    )


def _first_unequal(mine: Sequence[str], other: Sequence[str]) -> int:
    for offset, (left, right) in enumerate(zip(mine, other, strict=False)):
        if left != right:
            return offset
    return min(len(mine), len(other))


def _link_difference(ours: Outline, theirs: Outline, groups: Iterable[int]) -> Difference | None:
    for group in groups:
        mine, other = ours.links[group], theirs.links[group]
        lacking = Counter(item.meaning for item in other)
        lacking.subtract(item.meaning for item in mine)
        surplus = next((item for item in reversed(mine) if lacking[item.meaning] < 0), None)
        missing = next((item for item in other if lacking[item.meaning] > 0), None)
        if surplus or missing:
            return Difference(
                line=surplus.line if surplus else _end_of(ours, group),
                shown=f"a link to {surplus.shown}" if surplus else "no such link",
                other_line=missing.line if missing else _end_of(theirs, group),
                other_shown=f"a link to {missing.shown}" if missing else "no such link",
            )
    return None


def _end_of(outline: Outline, group: int) -> int:
    """Return the line of the landmark that opens the stretch in which a link is missed."""
    return outline.landmarks[group - 1].line if group else 1


def _landmarks(document: Document) -> Iterator[Landmark]:
    for index, token in enumerate(document.blocks):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "heading_open":
            yield Landmark(meaning=("heading", token.tag), shown=f"a heading of level {token.tag[1:]}", line=line)
        elif token.type in _LISTS:
            yield Landmark(meaning=token.type, shown=_LISTS[token.type], line=line)
        elif token.type == "table_open":
            columns = _columns(document.blocks, index)
            shown = f"a table of {columns} column{'' if columns == 1 else 's'}"
            yield Landmark(meaning=("table", columns), shown=shown, line=line)
        elif token.type in {"fence", "code_block"}:
            info = " ".join(token.info.split())
            yield Landmark(
                meaning=("code", info, token.content),
                shown=f"a code block ({info})" if info else "a code block",
                line=line,
                lines=(token.info, *token.content.split("\n")) if token.type == "fence" else (),
            )


def _columns(blocks: Sequence[Token], start: int) -> int:
    count = 0
    for token in blocks[start:]:
        if token.type == "th_open":
            count += 1
        elif token.type == "thead_close":
            break
    return count
