"""An RFC's file name is a date and a topic.

The name is `yyyy-mm-dd-topic.md`: the day on which the topic was first proposed, one that the calendar has,
and lower-case ASCII words joined by hyphens. The index sorts by it, links are written from it, and a name
that differs only in case is one file on some machines and two on others. A name that starts with a dot or
ends in `.MD` is judged as well, because a file that no tool sees is a decision that nobody reads.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus, Located
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rule import Rule, each_entry


def check(subject: Located, _: Corpus) -> Iterator[Finding]:
    """Report the fault that reading the path found, if it is of this kind."""
    place = subject.place
    if place.code == "file-name":
        yield Finding(path=place.path, message=place.message, hint=place.hint)


RULE = Rule(
    code="file-name",
    summary="An RFC is named yyyy-mm-dd-topic.md.",
    hint="rename it to yyyy-mm-dd-topic.md: the day it was first proposed, then lower-case words joined by hyphens",
    doc=__doc__,
    over=each_entry,
    check=check,
    good={"proposed/feature/2026-02-28-warm-start.md": ""},
    bad={"proposed/feature/2026-02-30-warm-start.md": ""},
    refuses_index=True,
)
