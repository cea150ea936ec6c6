"""A required section stands once.

With two of a name, a link goes to the first and the second is not read. It is mostly what a merge left
behind.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc


def check(subject: Rfc, _: Corpus) -> Iterator[Finding]:
    """Report every further section of a required name."""
    for name in subject.required:
        first, *others = subject.named(name) or (None,)
        for section in others:
            if first is not None and section is not None:
                message = f"a second `## {name}` beside the one on line {first.line}"
                yield Finding(path=subject.path, line=section.line, column=section.column, message=message)


RULE = Rule(
    code="section-repeated",
    summary="A required section stands once.",
    hint="join the two sections",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\n## Problem\n\n## Proposal\n"},
    bad={
        "proposed/feature/2026-08-01-warm-start.md": (
            "# RFC: Warm start\n\n## Problem\n\n## Proposal\n\n## Problem\n"
        )
    },
)
