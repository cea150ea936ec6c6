"""Under the title, each side of a pair leads to the other.

A reader who arrives in the wrong language finds the other one in the first lines, in the same place on every page.
In an RFC the line stands under the header block, whose four lines are read by tools.
"""

from collections.abc import Iterator, Sequence

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document, column_of_text
from dsh_rfc.pairs import Member, each_member
from dsh_rfc.rule import Rule
from dsh_rfc.switcher import find_switchers, is_rfc, line_above, switcher_text

_CHINESE = "# 热启动\n\n[English](start.md) | 中文\n"


def each_side(corpus: Corpus) -> Sequence[Member]:
    """The sides of every pair that has both."""
    return tuple(member for member in each_member(corpus.pairs) if member.tag is not None and member.pair.is_whole)


def check(subject: Member, corpus: Corpus) -> Iterator[Finding]:
    """Report a side whose first line below the title or header is not the switcher."""
    document = corpus.page_at(subject.path)
    if document is None or subject.tag is None:
        return
    expected = switcher_text(subject.pair, subject.tag, corpus.contract)
    above = line_above(document, corpus.contract)
    found = dict(find_switchers(document, corpus.contract))
    if expected in {found.get(_first_line_below(document, place)) for place in _places(subject, above, corpus)}:
        return
    place = "header block" if is_rfc(document, corpus.contract) else "title" if above else "top"
    hint = f"write `{expected}` under the {place}, as a paragraph of its own"
    if not found:
        yield Finding(path=subject.path, line=max(above, 1), message="nothing leads to the other side", hint=hint)
        return
    line, text = next(iter(found.items()))
    column = column_of_text(text)
    if text.strip() == expected:
        message = f"the line that leads to the other side stands apart from the {place}"
    else:
        message = f"the line that leads to the other side is {text.strip()!r}"
    yield Finding(path=subject.path, line=line, column=column, message=message, hint=hint)


def _places(subject: Member, above: int, corpus: Corpus) -> set[int]:
    """Return what the line may stand under: a header that is wrong here is blamed elsewhere, not twice."""
    sides = (corpus.page_at(path) for path in subject.pair.sides.values())
    return {above, *(line_above(side, corpus.contract) for side in sides if side is not None)}


def _first_line_below(document: Document, above: int) -> int:
    return next((at for at, text in enumerate(document.lines[above:], start=above + 1) if text.strip()), 0)


RULE = Rule(
    code="pair-switcher",
    summary="Under the title, each side of a pair leads to the other.",
    hint="write the line that leads to the other side under the title, in an RFC under the header block",
    doc=__doc__,
    over=each_side,
    check=check,
    good={"start.md": "# Warm start\n\nEnglish | [中文](start.zh.md)\n", "start.zh.md": _CHINESE},
    bad={"start.md": "# Warm start\n", "start.zh.md": _CHINESE},
)
