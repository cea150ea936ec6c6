"""The sections that the lifecycle requires are there.

Recurring sections have one name each, so that a reader finds them in any RFC and a search finds them in
all. A heading counts where Markdown sees one: not in a code fence, a comment or a quotation, and an
underlined or indented heading as well as any other. The opening section and the alternatives have rules of
their own.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc


def check(subject: Rfc, _: Corpus) -> Iterator[Finding]:
    """Report each section of the lifecycle that does not stand, at a heading that may mean it."""
    for name in subject.lifecycle.required:
        if subject.named(name):
            continue
        near = subject.resembling(name)
        yield Finding(
            path=subject.path,
            line=near.line if near else subject.header.title_line,
            column=near.column if near else 1,
            message=f"{subject.place.lifecycle}/ requires a section `## {name}`",
            hint=f"write this heading as `## {name}`" if near else "",
        )


RULE = Rule(
    code="section-missing",
    summary="The sections that the lifecycle requires are there.",
    hint="add the section, under exactly this name",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={
        "proposed/feature/2026-08-01-warm-start.md": (
            "# RFC: Warm start\n\n## Proposal\n\n## Acceptance criteria\n\n## Risks\n"
        )
    },
    bad={
        "proposed/feature/2026-08-01-warm-start.md": (
            "# RFC: Warm start\n\n## Proposal\n\n## Acceptance criteria\n"
        )
    },
)
