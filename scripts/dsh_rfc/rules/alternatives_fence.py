"""Only a file from before the format may leave its alternatives unrecorded.

Whoever writes today knows what was considered. The date is the one in the file name; from the contract's
date on the comment is refused.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc


def check(subject: Rfc, corpus: Corpus) -> Iterator[Finding]:
    """Report the comment in a file that is too new for it."""
    since, first_proposed = corpus.contract.alternatives_since, subject.place.first_proposed
    if first_proposed is None or first_proposed < since or not subject.alternatives_comments:
        return
    if subject.named(corpus.contract.alternatives_section):
        return
    line = subject.alternatives_comments[0]
    column = subject.document.lines[line - 1].index("<") + 1
    message = f"the comment is for files dated before {since}, this one is dated {first_proposed}"
    yield Finding(path=subject.path, line=line, column=column, message=message)


RULE = Rule(
    code="alternatives-fence",
    summary="Only a file from before the format may leave its alternatives unrecorded.",
    hint="replace the comment with `## Alternatives considered`",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={
        "proposed/feature/2026-07-04-warm-start.md": (
            "# RFC: Warm start\n\n<!-- rfc-format: alternatives-not-recorded (pre-format RFC) -->\n"
        )
    },
    bad={
        "proposed/feature/2026-07-05-warm-start.md": (
            "# RFC: Warm start\n\n<!-- rfc-format: alternatives-not-recorded (pre-format RFC) -->\n"
        )
    },
)
