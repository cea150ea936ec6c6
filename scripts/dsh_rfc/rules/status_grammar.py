"""Line 3 of an RFC is its status, in one of the forms of the contract.

`Status: proposed`, `Status: implemented`, or `Status: rejected`, an em dash and the reason in one line: the
verdict is what readers of a rejected RFC come for. Nothing else stands there, because the file name has the
date and git has the rest.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc
from dsh_rfc.status import read_status


def check(subject: Rfc, corpus: Corpus) -> Iterator[Finding]:
    """Report a status line that is missing, elsewhere, or in no form of the contract."""
    header, path, contract = subject.header, subject.path, corpus.contract
    expected = header.status_line_expected
    form = f"`{contract.status_form(subject.place.lifecycle)}`"
    hint = f"write {form}"
    status = header.status
    if status is None:
        line = min(expected, len(subject.document.lines))
        yield Finding(
            path=path, line=line, message="the header has no status line", hint=f"put {form} on line {expected}"
        )
        return
    column = subject.document.lines[status.line - 1].index(status.text) + 1
    if not status.is_exact:
        message = f"the status line is not plain: {status.text[:60]!r}"
        yield Finding(path=path, line=status.line, column=column, message=message, hint=hint)
    elif status.line > expected and any(
        line.strip() for line in subject.document.lines[header.title_line : status.line - 1]
    ):
        message = f"the status stands on line {status.line}, not on line {expected}"
        yield Finding(
            path=path, line=status.line, column=column, message=message, hint=f"move it to line {expected}"
        )
    elif status.line < header.title_line:
        return  # the title stands too low, and its own rule says so
    elif read_status(status.text, contract) is None:
        message = f"{status.text[:60]!r} is in no form of the contract"
        yield Finding(path=path, line=status.line, column=column, message=message, hint=hint)


RULE = Rule(
    code="status-grammar",
    summary="Line 3 of an RFC is its status, in a form of the contract.",
    hint="write the status in a form of the contract",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\nStatus: proposed\n"},
    bad={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\nStatus: proposed (2026-08-01)\n"},
)
