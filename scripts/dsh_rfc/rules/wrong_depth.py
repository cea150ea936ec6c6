"""An RFC stands exactly two folders deep: lifecycle, then class.

Markdown directly in the record, in a lifecycle folder or below a class folder has no lifecycle, no class,
or two of them, and the index cannot list it. The curated page and the index stand at the top, notes for
readers of one lifecycle at the root of its folder.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus, Located
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rule import Rule, each_entry


def check(subject: Located, _: Corpus) -> Iterator[Finding]:
    """Report the fault that reading the path found, if it is of this kind."""
    place = subject.place
    if place.code == "wrong-depth":
        yield Finding(path=place.path, message=place.message, hint=place.hint)


RULE = Rule(
    code="wrong-depth",
    summary="An RFC stands at {lifecycle}/{class}/yyyy-mm-dd-topic.md.",
    hint="move it to {lifecycle}/{class}/yyyy-mm-dd-topic.md",
    doc=__doc__,
    over=each_entry,
    check=check,
    good={"proposed/feature/2026-01-02-warm-start.md": ""},
    bad={"proposed/2026-01-02-warm-start.md": ""},
    refuses_index=True,
)
