"""An implemented RFC has no sections that speak of a proposal.

It says what is, and is kept true to what ships. A plan, a migration plan or acceptance criteria speak of
what will be; under `implemented/` a reader cannot tell which of it came true. The name is compared in any
case and also counts with words after it, as in `## Plan (three steps)`.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc


def check(subject: Rfc, _: Corpus) -> Iterator[Finding]:
    """Report sections whose name starts with a banned one."""
    for section in subject.sections:
        words = " ".join(section.name.casefold().split())
        for banned in sorted(subject.lifecycle.banned, key=len, reverse=True):
            start = banned.casefold()
            if words.startswith(start) and not words[len(start) : len(start) + 1].isalnum():
                message = f"`## {section.name}` does not belong in {subject.place.lifecycle}/"
                yield Finding(path=subject.path, line=section.line, column=section.column, message=message)
                break


RULE = Rule(
    code="section-banned",
    summary="An implemented RFC has no sections that speak of a proposal.",
    hint="say what is, under `## Decision` and `## Consequences`, and drop what was only planned",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={
        "implemented/feature/2026-08-01-warm-start.md": ("# RFC: Warm start\n\n## Decision\n\n## Planning model\n")
    },
    bad={"implemented/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\n## Decision\n\n## Plan\n"},
)
