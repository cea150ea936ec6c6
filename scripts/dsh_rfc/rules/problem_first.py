"""The body opens with the problem.

A reader who does not share the problem need not read the solution, and an author who cannot state it
without the solution has not found it yet.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc


def check(subject: Rfc, corpus: Corpus) -> Iterator[Finding]:
    """Report a first section of another name, or a body without sections."""
    name = corpus.contract.first_section
    first = next(iter(subject.sections), None)
    if first is None:
        yield Finding(
            path=subject.path,
            line=subject.header.title_line,
            message=f"the body has no sections; the first must be `## {name}`",
        )
    elif first.name != name:
        later = next(iter(subject.named(name)), None)
        where = f"; `## {name}` stands on line {later.line}" if later else ""
        message = f"the first section is `## {first.name}`, not `## {name}`{where}"
        yield Finding(path=subject.path, line=first.line, column=first.column, message=message)


RULE = Rule(
    code="problem-first",
    summary="The first section of every RFC is `## Problem`.",
    hint="open the body with `## Problem`: the motivation, readable without the solution",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\nStatus: proposed\n\n## Problem\n"},
    bad={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\nStatus: proposed\n\n## Proposal\n"},
)
