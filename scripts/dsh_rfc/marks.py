"""Marks: comments by which an author says that something in a document is meant.

Owns reading `<!-- dsh-rfc: <word> <names> — <why> -->`. Refuses to judge what a mark excuses.

Flow: raw HTML of a document -> comments with our prefix -> `Mark`s in the order of the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it.token import Token

from dsh_rfc.document import Document

ABSENT = "absent"
"""What the names name does not exist, and the text knows it."""
FAILS = "fails"
"""The fence below does not parse, or raises."""
NOT_RUN = "not-run"
"""The fence below cannot run where examples are run."""

FORMS = {
    ABSENT: "<!-- dsh-rfc: absent NAME — why -->",
    FAILS: "<!-- dsh-rfc: fails — why -->",
    NOT_RUN: "<!-- dsh-rfc: not-run — why -->",
}
_COMMENT = re.compile(r"<!--\s*dsh-rfc:(?P<said>.*?)-->", re.DOTALL)
_BEFORE_WHY = re.compile(r"\s+—\s+")


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One comment.

    Attributes:
        word: `absent`, `fails`, `not-run`, or what somebody took for one of them.
        names: What follows the word.
        why: The words after the dash; empty when there are none.
        line: 1-based.
        column: 1-based.
    """

    word: str
    names: tuple[str, ...]
    why: str
    line: int
    column: int


def read_marks(document: Document) -> tuple[Mark, ...]:
    """Return the marks of a document."""
    if "dsh-rfc:" not in document.text:
        return ()
    found: list[Mark] = []
    for token in document.blocks:
        if token.type == "html_block":
            found.extend(_marks_in(document, token, token.content, 0))
        elif token.type == "inline" and "<!--" in token.content:
            for child in document.inline(token):
                if child.type == "html_inline":
                    found.extend(_marks_in(document, token, child.content, child.meta["start"]))
    return tuple(found)


def mark_above(document: Document, index: int) -> Mark | None:
    """Return the mark that stands directly above the block token at an index; None when there is none."""
    above = document.blocks[index - 1] if index else None
    if above is None or above.type != "html_block":
        return None
    marks = list(_marks_in(document, above, above.content, 0))
    return marks[-1] if marks else None


def _marks_in(document: Document, token: Token, html: str, start: int) -> Iterator[Mark]:
    for match in _COMMENT.finditer(html):
        line, column = document.place(token, start + match.start())
        said, *why = _BEFORE_WHY.split(f"{match['said']} ", maxsplit=1)
        word, *names = said.split() or [""]
        reason = why[0].strip() if why else ""
        yield Mark(word=word, names=tuple(names), why=reason, line=line, column=column)
