"""The documents that the configuration lists have a counterpart.

The list is where a repository says how far it has got with its second language. It grows, and what is on it cannot
quietly lose its other side. A folder on the list means every document below it.
"""

from collections.abc import Iterator, Sequence

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.pairs import UNTAGGED, Pair, Paths
from dsh_rfc.rule import Rule

_TOML = 'pairs-required = ["docs/start.md"]\n'


def each_required(corpus: Corpus) -> Sequence[Pair]:
    """The documents on the list, whether or not they exist."""
    required = Paths(corpus.contract.pairs_required)
    listed = [pair for pair in corpus.pairs if pair.path in required and not pair.is_excluded]
    known = {pair.path for pair in listed}
    missing = [
        Pair(path=path, sides={})
        for path in corpus.contract.pairs_required
        if path.endswith(".md") and path not in known
    ]
    return (*listed, *missing)


def check(subject: Pair, corpus: Corpus) -> Iterator[Finding]:
    """Report a document on the list that stands alone, or does not stand at all."""
    if subject.is_paired:
        return  # what it lacks then has a rule of its own
    if UNTAGGED not in subject.sides:
        hint = "take it off the list pairs-required, or put the document back"
        yield Finding(path=subject.path, message="a counterpart is required of a file that is not there", hint=hint)
        return
    wanted = " and ".join(subject.side(tag).rpartition("/")[2] for tag in corpus.contract.translations)
    hint = f"write {wanted} beside it, then run `dsh-rfc pairs --confirm {subject.path}`"
    yield Finding(path=subject.path, message=f"there is no {wanted}, which is required", hint=hint)


RULE = Rule(
    code="pair-required",
    summary="The documents that the configuration lists have a counterpart.",
    hint="write the counterpart beside it, then run `dsh-rfc pairs --confirm` with its path",
    doc=__doc__,
    over=each_required,
    check=check,
    good={
        "dsh-rfc.toml": _TOML,
        "docs/start.md": "# Warm start\n\nEnglish | [中文](start.zh.md)\n",
        "docs/start.zh.md": "# 热启动\n\n[English](start.md) | 中文\n",
    },
    bad={"dsh-rfc.toml": _TOML, "docs/start.md": "# Warm start\n"},
)
