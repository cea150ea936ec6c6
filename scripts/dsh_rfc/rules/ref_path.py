"""A code span that is shaped like a path of the repository names something that is there.

A file that moves leaves its old path behind in every text that named it, and no diff shows those. Judged are
the documents that state present fact. A span counts as a path when it has a slash and begins with something at
the top of the repository, or ends like a file; it is looked up from the document and from the top, and may hold
`*`. What `.gitignore` names is made by some command, and passes. A bare file name, a wire name such as
`turn/end`, a path from the working folder (`./x`) and anything with a placeholder in it are prose.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.marks import ABSENT
from dsh_rfc.references import path_absence, path_in
from dsh_rfc.rule import Rule, each_fact


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each path that is not there and that no mark excuses."""
    meant = {name for mark in corpus.marks_of(subject) if mark.word == ABSENT for name in mark.names}
    for span in corpus.spans_of(subject):
        path = path_in(span.text, subject.path, corpus.worktree)
        if not path or path in meant or span.text in meant:
            continue
        if absence := path_absence(path, subject.path, corpus.worktree):
            line, column = span.place(subject)
            yield Finding(path=subject.path, line=line, column=column, message=absence.message, hint=absence.hint)


RULE = Rule(
    code="ref-path",
    summary="A path in a code span exists.",
    hint="name the path as it is now, or mark what is absent on purpose: `<!-- dsh-rfc: absent PATH — why -->`",
    doc=__doc__,
    over=each_fact,
    check=check,
    good={"README.md": "The parser is `src/parser.py`.\n", "src/parser.py": ""},
    bad={"README.md": "The parser is `src/scanner.py`.\n", "src/parser.py": ""},
)
