"""The state of every document as a pair, and confirming that two sides say the same.

Owns what `dsh-rfc pairs` answers and writing records. Refuses to judge (the rules do) and to print.

Flow: corpus -> `State` a document; paths -> pairs -> records -> `Confirmation`s.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dsh_rfc.corpus import Corpus
from dsh_rfc.errors import PathUnknown
from dsh_rfc.generated import Generated, write
from dsh_rfc.pairs import UNTAGGED, Pair, Paths, render_record
from dsh_rfc.record import Record

CONFIRMED, STALE, INCOMPLETE = "confirmed", "stale", "incomplete"
REQUIRED, SINGLE, EXCLUDED = "required", "single", "excluded"
STATES = (CONFIRMED, STALE, INCOMPLETE, REQUIRED, SINGLE, EXCLUDED)


@dataclass(frozen=True, kw_only=True)
class State:
    """A document as a pair.

    Attributes:
        pair: The document.
        word: One of `STATES`.
        detail: What is wrong, in a few words; empty when nothing is.
    """

    pair: Pair
    word: str
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """A pair that was confirmed.

    Attributes:
        pair: Which.
        before: The recorded hashes by file name, as they were.
        after: The same, as they are now.
        is_new: Whether the record changed.
    """

    pair: Pair
    before: Mapping[str, str]
    after: Mapping[str, str]
    is_new: bool


def read_states(corpus: Corpus) -> Iterator[State]:
    """Yield the state of every document, in path order."""
    required = Paths(corpus.contract.pairs_required)
    for pair in corpus.pairs:
        if pair.is_excluded:
            extra = [path for path in pair.members if path != pair.path]
            detail = f"but there is {' and '.join(_names(extra))}" if extra else ""
            yield State(pair=pair, word=EXCLUDED, detail=detail)
        elif not pair.is_paired:
            yield State(pair=pair, word=REQUIRED if pair.path in required else SINGLE)
        else:
            yield _state_of_pair(pair, corpus)


def _state_of_pair(pair: Pair, corpus: Corpus) -> State:
    counterparts = pair.counterparts or [pair.side(tag) for tag in corpus.contract.translations]
    lacking = [path for path in (pair.path, *counterparts, pair.record) if path not in pair.members]
    if lacking:
        return State(pair=pair, word=INCOMPLETE, detail=f"there is no {' and no '.join(_names(lacking))}")
    record = corpus.confirmed(pair)
    if record.fault:
        return State(pair=pair, word=INCOMPLETE, detail=record.fault)
    if set(record.by_name) != set(_names(pair.sides.values())):
        return State(pair=pair, word=INCOMPLETE, detail="the record names other files")
    changed = [
        path
        for path, name in zip(pair.sides.values(), _names(pair.sides.values()), strict=True)
        if record.by_name[name].digest != corpus.hashes.of(path)
    ]
    if changed:
        return State(pair=pair, word=STALE, detail=f"{' and '.join(_names(changed))} changed")
    return State(pair=pair, word=CONFIRMED)


def chosen(record: Record, paths: Sequence[Path]) -> tuple[Pair, ...]:
    """Return the documents that paths on the command line mean: any of their files, or a folder; all for none.

    Raises:
        PathUnknown: A path means no document.
    """
    pairs = record.corpus.pairs
    if not paths:
        return pairs
    found: dict[str, Pair] = {}
    for path in paths:
        name = record.resolve(path)
        meant = [pair for pair in pairs if not name or any(member in Paths((name,)) for member in pair.members)]
        if not meant:
            msg = f"{path} is no document that is judged, and holds none"
            raise PathUnknown(msg)
        found.update((pair.path, pair) for pair in meant)
    return tuple(found[path] for path in sorted(found))


def confirm(record: Record, paths: Sequence[Path]) -> tuple[Confirmation, ...]:
    """Record the hashes of the pairs that paths mean, or of all of them, and return what was recorded.

    Raises:
        PathUnknown: A path means no pair that can be confirmed.
        WriteFailed: The system refuses.
    """
    corpus = record.corpus
    for path in paths:
        if not any(_can_be_confirmed(pair) for pair in chosen(record, [path])):
            msg = f"{path} is no pair: {_obstacle(chosen(record, [path]), corpus)}"
            raise PathUnknown(msg)
    return tuple(_confirm(pair, record) for pair in chosen(record, paths) if _can_be_confirmed(pair))


def _can_be_confirmed(pair: Pair) -> bool:
    return pair.is_whole and not pair.is_excluded


def _obstacle(pairs: Sequence[Pair], corpus: Corpus) -> str:
    if any(pair.is_excluded and pair.is_whole for pair in pairs):
        return "the document may have no counterpart"
    pair = pairs[0]
    if UNTAGGED not in pair.sides:
        return f"there is no {pair.path.rpartition('/')[2]} beside it"
    lacking = _names(pair.side(tag) for tag in corpus.contract.translations)
    return f"there is no {' and no '.join(lacking)} beside it"


def _confirm(pair: Pair, record: Record) -> Confirmation:
    corpus = record.corpus
    before = {}
    if pair.has_record:
        before = {item.name: item.digest for item in corpus.confirmed(pair).confirmed}
    after = _hashes(pair, corpus)
    item = Generated(
        path=record.display(pair.record),
        file=record.base / pair.record,
        render=lambda: render_record(after),
        command=f"dsh-rfc pairs --confirm {pair.path}",
    )
    if before == after:
        return Confirmation(pair=pair, before=before, after=after, is_new=False)
    return Confirmation(pair=pair, before=before, after=after, is_new=write(item))


def _hashes(pair: Pair, corpus: Corpus) -> Mapping[str, str]:
    found = {}
    for path in pair.sides.values():
        digest = corpus.hashes.of(path)
        if digest is None:
            msg = f"{path} cannot be read"
            raise PathUnknown(msg)
        found[path.rpartition("/")[2]] = digest
    return found


def _names(paths: Iterable[str]) -> list[str]:
    return [path.rpartition("/")[2] for path in paths]
