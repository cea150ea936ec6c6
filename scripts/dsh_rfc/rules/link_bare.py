"""One RFC refers to another by a link.

A title, a file name or a date in plain prose cannot be followed, and nothing notices when what it names is moved or
reworded. A number cannot be followed either: RFCs of this record have none. Code spans are left alone. A title
of one or two words counts only in quotation marks or after the word RFC, since it may be meant as mere words; so
does a number only where it cannot belong to a standard of the internet (`RFC 3339`).
"""

import re
from collections.abc import Iterator

from dsh_rfc.corpus import FIRST_WORD, Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.links import prose
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc
from dsh_rfc.targets import way

_NAME = re.compile(r"(?<![\w-])(?:[\w.-]*/)*(?P<name>\d{4}-\d{2}-\d{2}-[a-z0-9]+(?:-[a-z0-9]+)*)(?:\.md)?(?![\w-])")
_DATE = re.compile(r"\bRFC[ -](?P<date>\d{4}-\d{2}-\d{2})(?![\w-])")
_NUMBER = re.compile(r"\b(?:RFC[ -]?#\d+|RFC[ -]?0\d*|ADR[ -]?#?\d+)(?![\w-])")
_QUOTED = re.compile(r"(?:[\"“«'‘]|\bRFC:? )$")  # noqa: RUF001 - the quotation marks that people type
_MANY_WORDS = 3


def check(subject: Rfc, corpus: Corpus) -> Iterator[Finding]:
    """Report each mention of another RFC outside of links and code."""
    document = subject.document
    for index, token in enumerate(document.blocks):
        if token.type != "inline" or document.blocks[index - 1].type == "heading_open":
            continue
        if not any(_mentions(token.content, subject, corpus)):
            continue  # nearly always, and links and code need not be looked for
        for offset, written, other in _mentions(prose(document, token), subject, corpus):
            line, column = document.place(token, offset)
            what = "another RFC" if other else "an RFC by number"
            hint = f"write [{other.title}]({way(subject.path, other.path)})" if other else ""
            yield Finding(
                path=subject.path,
                line=line,
                column=column,
                message=f"{written!r} names {what} and does not link to it",
                hint=hint,
            )


def _mentions(text: str, subject: Rfc, corpus: Corpus) -> Iterator[tuple[int, str, Rfc | None]]:
    for found in _NAME.finditer(text):
        other = corpus.rfcs_by_name.get(found["name"])
        if other and other.path != subject.path:
            yield found.start(), found.group(), other
    for found in _DATE.finditer(text):
        of_that_day = corpus.rfcs_by_day.get(found["date"], ())
        if len(of_that_day) == 1 and of_that_day[0].path != subject.path:
            yield found.start(), found.group(), of_that_day[0]
    for found in _NUMBER.finditer(text):
        yield found.start(), found.group(), None
    yield from _titles(text, subject, corpus)


def _titles(text: str, subject: Rfc, corpus: Corpus) -> Iterator[tuple[int, str, Rfc]]:
    words = set(FIRST_WORD.findall(text))
    if words.isdisjoint(corpus.title_lengths):
        return
    for word in FIRST_WORD.finditer(text):
        start = word.start()
        for length in corpus.title_lengths.get(word.group(), ()):
            title = text[start : start + length]
            other = corpus.rfcs_by_title.get(title)
            if other and title != subject.title and _is_meant(text, start, title):
                yield start, title, other


def _is_meant(text: str, start: int, title: str) -> bool:
    if text[start + len(title) :][:1].isalnum():
        return False
    return len(title.split()) >= _MANY_WORDS or _QUOTED.search(text, max(0, start - 5), start) is not None


RULE = Rule(
    code="link-bare",
    summary="One RFC refers to another by a link.",
    hint="link to the file; RFCs have no numbers",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={
        "proposed/feature/2026-08-01-warm-start.md": "# RFC: Keep one process warm\n",
        "proposed/feature/2026-08-02-cold-start.md": (
            "# RFC: Start from cold\n\nInstead of [a warm process](2026-08-01-warm-start.md).\n"
        ),
    },
    bad={
        "proposed/feature/2026-08-01-warm-start.md": "# RFC: Keep one process warm\n",
        "proposed/feature/2026-08-02-cold-start.md": (
            "# RFC: Start from cold\n\nInstead of what “Keep one process warm” proposes.\n"
        ),
    },
)
