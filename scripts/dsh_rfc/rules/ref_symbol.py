"""A code span that is a dotted name of one of the repository's packages names something that could be imported.

Names change more often than the texts that use them. Judged are the documents that state present fact, and the
source is read, never run: modules, classes, functions, attributes, and what a module imports from another,
since a user may import it from there. What a base class or a wildcard from outside of the repository adds
cannot be seen, and passes.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.marks import ABSENT
from dsh_rfc.references import symbol_in
from dsh_rfc.rule import Rule, each_fact


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each name that is not there and that no mark excuses."""
    meant = {name for mark in corpus.marks_of(subject) if mark.word == ABSENT for name in mark.names}
    for span in corpus.spans_of(subject):
        name = symbol_in(span.text, corpus.symbols)
        if not name or name in meant or span.text in meant:
            continue
        if absence := corpus.symbols.absence(name):
            line, column = span.place(subject)
            message = f"{name} does not exist: {absence.message}"
            yield Finding(path=subject.path, line=line, column=column, message=message, hint=absence.hint)


RULE = Rule(
    code="ref-symbol",
    summary="A dotted name of one of the repository's packages exists.",
    hint="name it as it is now, or mark what is absent on purpose: `<!-- dsh-rfc: absent NAME — why -->`",
    doc=__doc__,
    over=each_fact,
    check=check,
    good={"README.md": "It begins in `engine.start`.\n", "src/engine/__init__.py": "def start() -> None: ...\n"},
    bad={"README.md": "It begins in `engine.begin`.\n", "src/engine/__init__.py": "def start() -> None: ...\n"},
)
