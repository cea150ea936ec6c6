"""What stands in the record is a regular file of UTF-8 text.

A symbolic link, a pipe, a folder with a file's name, a file without permission, bytes that are not UTF-8
and a NUL byte cannot be judged, so they cannot pass. Links are not followed: what they point at may be
anywhere, and may not be there tomorrow. Notes at the root of a lifecycle may be links.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus, Located
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rule import Rule, each_entry


def check(subject: Located, _: Corpus) -> Iterator[Finding]:
    """Report what is no regular file, what the system would not read, and what is no text."""
    place, flaw = subject.place, subject.flaw
    if place.code == "unreadable":
        yield Finding(path=place.path, message=place.message)
    elif flaw is not None:
        yield Finding(path=place.path, line=flaw.line, column=flaw.column, message=flaw.message)


RULE = Rule(
    code="unreadable",
    summary="What is judged is a regular, readable file of UTF-8 text.",
    hint="replace it with a regular file of UTF-8 text that you may read",
    doc=__doc__,
    over=each_entry,
    check=check,
    good={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n"},
    bad={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm\x00start\n"},
    refuses_index=True,
)
