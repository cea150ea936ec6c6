"""Neither side of a pair has changed since somebody confirmed that both say the same.

The record holds the git blob hash of each side. A comma is enough to make a pair stale, because only a person can
tell whether the other side has to follow. What was confirmed is not lost: git prints it for the hash of the record.
"""

import re
from collections.abc import Iterator, Sequence

from dsh_rfc.blob import HEX_DIGITS
from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.pairs import Member, each_member
from dsh_rfc.rule import Rule

_HEX = re.compile(r"[0-9a-f]+")
_ENGLISH = "# Warm start\n\nEnglish | [中文](start.zh.md)\n"
_CHINESE = "# 热启动\n\n[English](start.md) | 中文\n"
_RECORD = (
    "start.md: 4e670fca1fdf561384721b8bc04e0c9deb937fcc\nstart.zh.md: 3dc314541e053929cf0811cfda8362c974082c6e\n"
)


def each_side(corpus: Corpus) -> Sequence[Member]:
    """The sides of every pair that has both and a record."""
    return tuple(
        member
        for member in each_member(corpus.pairs)
        if member.tag is not None and member.pair.is_whole and member.pair.has_record
    )


def check(subject: Member, corpus: Corpus) -> Iterator[Finding]:
    """Report a side whose hash is not the recorded one, and a hash that cannot be one."""
    pair = subject.pair
    recorded = corpus.confirmed(pair).by_name.get(subject.path.rpartition("/")[2])
    current = corpus.hashes.of(subject.path)
    if recorded is None or current is None or recorded.digest == current:
        return
    if not _HEX.fullmatch(recorded.digest) or len(recorded.digest) != HEX_DIGITS[corpus.hashes.algorithm]:
        message = f"{recorded.digest!r} is no hash of this repository ({corpus.hashes.algorithm})"
        hint = f"run `dsh-rfc pairs --confirm {pair.path}` when both sides say the same"
        yield Finding(path=pair.record, line=recorded.line, message=message, hint=hint)
        return
    others = ", ".join(path for path in pair.sides.values() if path != subject.path)
    yield Finding(
        path=subject.path,
        message=f"this side has changed since it was confirmed together with {others}",
        hint=(
            f"compare with what `git cat-file -p {recorded.digest}` prints, bring {others} along, and run "
            f"`dsh-rfc pairs --confirm {pair.path}`"
        ),
    )


RULE = Rule(
    code="pair-stale",
    summary="Neither side of a pair has changed since both were confirmed to say the same.",
    hint="bring the other side along, then run `dsh-rfc pairs --confirm` with the path of either side",
    doc=__doc__,
    over=each_side,
    check=check,
    good={"start.md": _ENGLISH, "start.zh.md": _CHINESE, "start.i18n.yaml": _RECORD},
    bad={"start.md": _ENGLISH, "start.zh.md": f"{_CHINESE}\n一个进程常驻。\n", "start.i18n.yaml": _RECORD},
)
