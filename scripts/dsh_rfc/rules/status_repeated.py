"""A file has one status line.

A second one, further down, is a leftover that contradicts the header as soon as one of them changes. A line
in a code fence, a comment, a list or a quotation is no status.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, each_rfc


def check(subject: Rfc, _: Corpus) -> Iterator[Finding]:
    """Report every status line after the first."""
    first = subject.header.status
    for repeated in subject.header.repeated:
        where = f" beside the one on line {first.line}" if first else ""
        column = subject.document.lines[repeated.line - 1].index(repeated.text) + 1
        message = f"a second status line{where}"
        yield Finding(path=subject.path, line=repeated.line, column=column, message=message)


RULE = Rule(
    code="status-repeated",
    summary="A file has one status line.",
    hint="delete it, or quote it in a code fence",
    doc=__doc__,
    over=each_rfc,
    check=check,
    good={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n\nStatus: proposed\n"},
    bad={
        "proposed/feature/2026-08-01-warm-start.md": (
            "# RFC: Warm start\n\nStatus: proposed\n\n## Problem\n\nStatus: accepted\n"
        )
    },
)
