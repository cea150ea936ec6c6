"""The folders at the top of the record are the lifecycles, and no others.

The folder is the RFC's state: a reader, the index and every rule take it from there. The set is closed, so
a misspelt folder cannot hold RFCs that no gate looks at. The folder is reported once, however many files it
holds.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus, Located
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rule import Rule, each_entry


def check(subject: Located, _: Corpus) -> Iterator[Finding]:
    """Report the fault that reading the path found, if it is of this kind."""
    place = subject.place
    if place.code == "unknown-lifecycle":
        yield Finding(path=place.path, message=place.message, hint=place.hint)


RULE = Rule(
    code="unknown-lifecycle",
    summary="A folder at the top of the record is a lifecycle.",
    hint="rename the folder or move its files into a lifecycle folder",
    doc=__doc__,
    over=each_entry,
    check=check,
    good={"proposed/feature/2026-01-02-warm-start.md": ""},
    bad={"propsed/feature/2026-01-02-warm-start.md": ""},
    refuses_index=True,
)
