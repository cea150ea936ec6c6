"""A mark can be read, says why, and excuses something.

A mark takes a check away, so it must not outlive its reason: one that names what exists after all, what the
document does not mention, or a fence that has become right, hides the next fault. `absent` names what a
document mentions although it does not exist; `fails` and `not-run` stand directly above a fence.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.errors import meant
from dsh_rfc.fences import RUNNABLE, fault_in, is_known
from dsh_rfc.marks import ABSENT, FAILS, FORMS, Mark
from dsh_rfc.references import path_absence, path_in, symbol_in
from dsh_rfc.rule import Rule, each_page


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report marks that excuse nothing."""
    for mark in corpus.marks_of(subject):
        for message in _faults(mark, subject, corpus):
            hint = f"write `{FORMS[mark.word]}`" if mark.word in FORMS and not mark.why else ""
            yield Finding(path=subject.path, line=mark.line, column=mark.column, message=message, hint=hint)


def _faults(mark: Mark, page: Document, corpus: Corpus) -> Iterator[str]:
    if mark.word not in FORMS:
        yield f"{mark.word or 'nothing'} is no mark{meant(mark.word, tuple(FORMS))}"
    elif not mark.why:
        yield "the mark does not say why"
    elif mark.word == ABSENT:
        if not mark.names:
            yield "the mark names nothing"
        for name in mark.names:
            if message := _needless(name, page, corpus):
                yield message
    else:
        yield from _faults_above_fence(mark, page, corpus)


def _needless(name: str, page: Document, corpus: Corpus) -> str:
    if page not in corpus.facts:
        return "nothing is judged in this document that the mark could excuse"
    judged = False
    for span in corpus.spans_of(page):
        path = path_in(span.text, page.path, corpus.worktree)
        symbol = symbol_in(span.text, corpus.symbols)
        if name not in {span.text, path, symbol}:
            continue
        if path and path_absence(path, page.path, corpus.worktree):
            return ""
        if symbol and corpus.symbols.absence(symbol):
            return ""
        judged = judged or bool(path or symbol)
    return f"{name} exists" if judged else f"no code span of the document names {name}"


def _faults_above_fence(mark: Mark, page: Document, corpus: Corpus) -> Iterator[str]:
    if mark.names:
        yield f"{mark.word} takes no names"
    fence = next((fence for fence in corpus.fences_of(page) if fence.mark == mark), None)
    if fence is None:
        yield "no fence stands directly below the mark"
    elif not is_known(fence.language):
        yield "the fence below is not judged, so there is nothing to excuse"
    elif mark.word == FAILS and fence.language not in RUNNABLE and fault_in(fence.language, fence.text) is None:
        yield "the fence below does not fail"


RULE = Rule(
    code="mark-invalid",
    summary="A mark says why, and excuses something.",
    hint="mend the mark, or take it away",
    doc=__doc__,
    over=each_page,
    check=check,
    good={
        "README.md": "<!-- dsh-rfc: absent src/scanner.py — it was merged into the parser -->\n\n"
        "The parser took the place of `src/scanner.py`.\n",
        "src/parser.py": "",
    },
    bad={
        "README.md": "<!-- dsh-rfc: absent src/parser.py — it was merged into the scanner -->\n\n"
        "The parser is `src/parser.py`.\n",
        "src/parser.py": "",
    },
)
