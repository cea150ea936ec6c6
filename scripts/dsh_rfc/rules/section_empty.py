"""A required section has something under it.

A heading alone satisfies a search and tells the reader nothing: it is missing in all but name. Further
headings and comments do not count as content.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc


def check(subject: Rfc, _: Corpus) -> Iterator[Finding]:
    """Report required sections without content."""
    for name in subject.required:
        if name == subject.contract.alternatives_section and subject.alternatives_comments:
            continue  # both at once is the finding
        for section in subject.named(name):
            if section.is_empty:
                message = f"nothing stands under `## {name}`"
                yield Finding(path=subject.path, line=section.line, column=section.column, message=message)


RULE = Rule(
    code="section-empty",
    summary="A required section has something under it.",
    hint="write the section",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\n## Problem\n\nStarts are cold.\n"},
    bad={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\n## Problem\n\n## Proposal\n"},
)
