"""What stands in a fence can be read in the language that the fence names.

Examples are copied. One with a comma too many costs each of its readers the search that its author saved.
Judged are JSON, JSON Lines, TOML, YAML and Python, in every document; a fence of another language, or of none,
is text. A fence that shows a fault on purpose says so in a comment above it.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.fences import fault_in
from dsh_rfc.marks import FAILS
from dsh_rfc.rule import Rule, each_page


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each fence that cannot be read, at the place of its first fault."""
    for fence in corpus.fences_of(subject):
        if fence.is_marked(FAILS):
            continue
        if fault := fault_in(fence.language, fence.text):
            line = fence.line + fault.line
            message = f"this is no {fence.language}: {fault.message}"
            yield Finding(path=subject.path, line=line, column=fence.column + fault.column - 1, message=message)


RULE = Rule(
    code="fence-syntax",
    summary="A fence can be read in the language that it names.",
    hint="mend the example, name another language, or mark the fence: `<!-- dsh-rfc: fails — why -->`",
    doc=__doc__,
    over=each_page,
    check=check,
    good={"README.md": '```json\n{"seq": 0}\n```\n'},
    bad={"README.md": '```json\n{"seq": 0,}\n```\n'},
)
