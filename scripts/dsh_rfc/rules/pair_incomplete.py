"""A document in two languages is three files, and all of them are there.

Both sides and the record of their confirmation stand in one folder and are committed together. A side without its
counterpart, a record without a side, and a record that does not name exactly the sides cannot be judged as a pair,
so nobody would notice when one of them goes stale.
"""

from collections.abc import Iterator, Sequence

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.pairs import Member, Pair, each_member
from dsh_rfc.rule import Rule

_ENGLISH = "# Warm start\n\nEnglish | [中文](start.zh.md)\n"
_CHINESE = "# 热启动\n\n[English](start.md) | 中文\n"
_RECORD = (
    "start.md: 4e670fca1fdf561384721b8bc04e0c9deb937fcc\nstart.zh.md: 3dc314541e053929cf0811cfda8362c974082c6e\n"
)


def each_file(corpus: Corpus) -> Sequence[Member]:
    """The files of every pair, whole or not."""
    return tuple(each_member(corpus.pairs))


def check(subject: Member, corpus: Corpus) -> Iterator[Finding]:
    """Report the file that stands alone, and a record that names other files than the sides."""
    pair = subject.pair
    if subject.tag is None:
        yield from _judge_record(pair, corpus)
    elif subject.tag and pair.path not in pair.sides.values():
        yield Finding(path=subject.path, message=f"there is no {_name(pair.path)} beside it")
    elif subject.tag and not pair.has_record:
        command = f"dsh-rfc pairs --confirm {pair.path}"
        hint = f"read both sides, then run `{command}`"
        message = f"there is no {_name(pair.record)}: nobody has confirmed that both sides say the same"
        yield Finding(path=subject.path, message=message, hint=hint)


def _judge_record(pair: Pair, corpus: Corpus) -> Iterator[Finding]:
    if not pair.is_whole:
        if pair.counterparts:
            return  # the counterpart is blamed
        wanted = [pair.side(tag) for tag in corpus.contract.translations]
        lacking = [_name(path) for path in (pair.path, *wanted) if path not in pair.sides.values()]
        yield Finding(path=pair.record, message=f"the record has no {' and no '.join(lacking)} beside it")
        return
    record = corpus.confirmed(pair)
    hint = f"run `dsh-rfc pairs --confirm {pair.path}` when both sides say the same"
    if record.fault:
        yield Finding(path=pair.record, line=record.line, message=record.fault, hint=hint)
        return
    names = [_name(path) for path in pair.sides.values()]
    for name in names:
        if name not in record.by_name:
            yield Finding(path=pair.record, message=f"the record does not name {name}", hint=hint)
    for item in record.confirmed:
        if item.name not in names:
            message = f"the record names {item.name!r}, which is no side of this pair"
            yield Finding(path=pair.record, line=item.line, message=message, hint=hint)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


RULE = Rule(
    code="pair-incomplete",
    summary="A document in two languages is three files, and all of them are there.",
    hint="add what is missing, or remove what is left over; the three files come and go together",
    doc=__doc__,
    over=each_file,
    check=check,
    good={"start.md": _ENGLISH, "start.zh.md": _CHINESE, "start.i18n.yaml": _RECORD},
    bad={"start.md": _ENGLISH, "start.zh.md": _CHINESE},
)
