"""The folders in a lifecycle are the classes, and no others.

The class says what kind of decision a file records, and the folder is the label. The set is closed: a new
kind is an amendment of the contract, not one more folder. The folder is reported once, however many files
it holds.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus, Located
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rule import Rule, each_entry


def check(subject: Located, _: Corpus) -> Iterator[Finding]:
    """Report the fault that reading the path found, if it is of this kind."""
    place = subject.place
    if place.code == "unknown-class":
        yield Finding(path=place.path, message=place.message, hint=place.hint)


RULE = Rule(
    code="unknown-class",
    summary="A folder in a lifecycle is a class.",
    hint="rename the folder or move its files into a class folder",
    doc=__doc__,
    over=each_entry,
    check=check,
    good={"proposed/feature/2026-01-02-warm-start.md": ""},
    bad={"proposed/features/2026-01-02-warm-start.md": ""},
    refuses_index=True,
)
