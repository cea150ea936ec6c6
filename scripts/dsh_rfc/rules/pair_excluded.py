"""A document that is generated, or bilingual by itself, has no counterpart.

The program that writes a page writes one language. A translation of its output by hand is stale as soon as the
program runs again, and confirming it anew each time teaches people to confirm without reading.
"""

from collections.abc import Iterator, Sequence

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.pairs import Member
from dsh_rfc.rule import Rule


def each_extra(corpus: Corpus) -> Sequence[Member]:
    """The counterparts and records of documents that may have none."""
    return tuple(
        Member(path=path, tag=None, pair=pair)
        for pair in corpus.pairs
        if pair.is_excluded
        for path in pair.members
        if path != pair.path
    )


def check(subject: Member, _: Corpus) -> Iterator[Finding]:
    """Report each of them."""
    name = subject.pair.path.rpartition("/")[2]
    yield Finding(path=subject.path, message=f"{name} may have no counterpart and no record of one")


RULE = Rule(
    code="pair-excluded",
    summary="A document that is generated, or bilingual by itself, has no counterpart.",
    hint="delete this file, or take the document off the list pairs-excluded",
    doc=__doc__,
    over=each_extra,
    check=check,
    good={"INDEX.md": "# RFC index\n"},
    bad={"INDEX.md": "# RFC index\n", "INDEX.zh.md": "# RFC 索引\n"},
)
