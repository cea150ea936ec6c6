"""The status agrees with the lifecycle folder.

The two are written apart so that a half-finished move is seen: a file that was moved and not rewritten, or
rewritten and not moved, says two things about one decision.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc
from dsh_rfc.status import read_status


def check(subject: Rfc, corpus: Corpus) -> Iterator[Finding]:
    """Report a well-formed status of another lifecycle than the folder's."""
    status, lifecycle = subject.header.status, subject.place.lifecycle
    if status is None or not status.is_exact:
        return
    stated = read_status(status.text, corpus.contract)
    if stated is not None and stated != lifecycle:
        column = subject.document.lines[status.line - 1].index(status.text) + len("Status: ") + 1
        message = f"the status says {stated}, the folder says {lifecycle}"
        form = corpus.contract.status_form(lifecycle)
        hint = f"move the file to {stated}/, or write `{form}` and give it the sections of {lifecycle}/"
        yield Finding(path=subject.path, line=status.line, column=column, message=message, hint=hint)


RULE = Rule(
    code="status-folder",
    summary="The status agrees with the lifecycle folder.",
    hint="finish the move: folder, status and sections change together",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\nStatus: proposed\n"},
    bad={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\nStatus: implemented\n"},
)
