"""The comment that stands for absent alternatives does not stand beside them.

It says that nobody can tell what was considered; the section says what was. One of the two is not true.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc


def check(subject: Rfc, corpus: Corpus) -> Iterator[Finding]:
    """Report the comment in a file that has the section."""
    sections = subject.named(corpus.contract.alternatives_section)
    if sections and subject.alternatives_comments:
        line = subject.alternatives_comments[0]
        column = subject.document.lines[line - 1].index("<") + 1
        message = f"the comment says that no alternatives are recorded; they stand on line {sections[0].line}"
        yield Finding(path=subject.path, line=line, column=column, message=message)


RULE = Rule(
    code="alternatives-both",
    summary="The comment for absent alternatives does not stand beside the section.",
    hint="delete the comment, or the empty section",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={
        "proposed/feature/2026-08-01-warm-start.md": (
            "# RFC: Warm start\n\n## Alternatives considered\n\nA cold start.\n"
        )
    },
    bad={
        "proposed/feature/2026-08-01-warm-start.md": (
            "# RFC: Warm start\n\n"
            "## Alternatives considered\n\n"
            "A cold start.\n\n"
            "<!-- rfc-format: alternatives-not-recorded (pre-format RFC) -->\n"
        )
    },
)
