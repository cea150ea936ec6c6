"""Every RFC says what else was considered, and why it lost.

A decision without its alternatives is argued again by the next reader. A file from before the format may
carry the comment of the contract instead, where nobody can tell any more.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc


def check(subject: Rfc, corpus: Corpus) -> Iterator[Finding]:
    """Report a file with neither the section nor the comment."""
    name = corpus.contract.alternatives_section
    if subject.named(name) or subject.alternatives_comments:
        return
    near = subject.resembling(name)
    yield Finding(
        path=subject.path,
        line=near.line if near else subject.header.title_line,
        column=near.column if near else 1,
        message=f"there is no section `## {name}`",
        hint=f"write this heading as `## {name}`" if near else "",
    )


RULE = Rule(
    code="alternatives-missing",
    summary="Every RFC has a section `## Alternatives considered`.",
    hint="add it: each genuine alternative, and why it lost",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={
        "proposed/feature/2026-08-01-warm-start.md": (
            "# RFC: Warm start\n\n## Alternatives considered\n\nA cold start is simple, and slow.\n"
        )
    },
    bad={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\n## Problem\n"},
)
