"""A paragraph is one line.

A line break inside a paragraph is an editor's business, and no reader sees it. Where paragraphs are wrapped,
changing a word re-wraps the lines below it, and the review shows ten changed lines for one. What breaks on
purpose is no wrapping: a hard break, a footnote, the opening line of a note. A repository that wraps says so
with `wrap = "free"`.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from markdown_it.token import Token

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.rule import Rule, each_page

_HARD = re.compile(r"( {2,}|\\)$")
_OPENS = re.compile(r"\s*(Status:|!!!|\?\?\?\+?|===|\[![A-Z]+\]|<!--.*-->$|\{:.*\}$)")
_BEGINS = re.compile(r"\s*(Status:|\[\^[^\]]+\]:|:\s{1,3}\S|!!!|\?\?\?|===|\{:.*\}$|<!--.*-->$)")


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each paragraph that goes on in another line, at its first break."""
    if corpus.contract.wrap != "paragraph":
        return
    for opening, token in pairwise(subject.blocks):
        if opening.type == "paragraph_open" and "\n" in token.content:
            line = _first_break(token, subject)
            if line:
                message = "the paragraph goes on in this line"
                column = len(subject.lines[line - 1]) - len(subject.lines[line - 1].lstrip(" \t>")) + 1
                yield Finding(path=subject.path, line=line, column=column, message=message)


def _first_break(token: Token, page: Document) -> int:
    """Return the 1-based number of the line that a paragraph goes on in; 0 when it does not."""
    first = token.map[0] if token.map else 0
    lines = token.content.split("\n")
    for index, (above, below) in enumerate(pairwise(lines)):
        is_hard = _HARD.search(page.lines[first + index])
        if not is_hard and not _OPENS.match(above) and not _BEGINS.match(below):
            return first + index + 2
    return 0


RULE = Rule(
    code="wrap",
    summary="A paragraph is one line.",
    hint="join the lines of the paragraph; an editor can wrap them on the screen",
    doc=__doc__,
    over=each_page,
    check=check,
    good={"README.md": "One decision has one file. It has one date.\n"},
    bad={"README.md": "One decision has one file.\nIt has one date.\n"},
)
