"""Documents and their counterparts in other languages.

Owns which files belong together, and reading and writing the record of their last confirmation. Pure. Refuses to
judge (the rules do) and to compare the sides (`structure` does).

Flow: paths of a work tree -> `Pair`s with their members; text of a record -> recorded hashes.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from dsh_rfc.contract import Contract
from dsh_rfc.worktree import RECORD_SUFFIX, Worktree

UNTAGGED = ""
_BANNER = (
    "# The git blob hash of each side when somebody last confirmed that both say the same.\n"
    "# Written by `dsh-rfc pairs --confirm`; do not edit.\n"
)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The files that stand for one document.

    Attributes:
        path: The side without a language tag, whether or not it exists.
        sides: The sides that exist, by language tag, the untagged one first.
        has_record: Whether the record of their confirmation exists.
        is_excluded: Whether the document may have no counterpart.
    """

    path: str
    sides: Mapping[str, str]
    has_record: bool = False
    is_excluded: bool = False

    @property
    def stem(self) -> str:
        """The path without its suffix."""
        return self.path.removesuffix(".md")

    @property
    def record(self) -> str:
        """Where the record stands or belongs."""
        return f"{self.stem}{RECORD_SUFFIX}"

    def side(self, tag: str) -> str:
        """Return where the side of a language stands or belongs."""
        return f"{self.stem}.{tag}.md" if tag else self.path

    @property
    def counterparts(self) -> tuple[str, ...]:
        """The sides with a language tag that exist."""
        return tuple(path for tag, path in self.sides.items() if tag)

    @property
    def is_paired(self) -> bool:
        """Whether there is more than a document on its own."""
        return self.has_record or bool(self.counterparts)

    @property
    def is_whole(self) -> bool:
        """Whether there are two sides, with or without a record."""
        return UNTAGGED in self.sides and bool(self.counterparts)

    @property
    def members(self) -> tuple[str, ...]:
        """The paths of the files that exist."""
        return (*self.sides.values(), *((self.record,) if self.has_record else ()))


@dataclass(frozen=True, kw_only=True)
class Member:
    """One file of a pair: what a rule is asked about, so that a finding stands at the file that it is about.

    Attributes:
        path: Where it stands.
        tag: The language of a side, empty for the untagged one; None for the record.
        pair: What it belongs to.
    """

    path: str
    tag: str | None
    pair: Pair


def find_pairs(worktree: Worktree, contract: Contract, *, never: Iterable[str] = ()) -> tuple[Pair, ...]:
    """Return every document of the work tree with its counterparts, in path order.

    Args:
        worktree: Where they stand.
        contract: The languages, and which documents may have no counterpart.
        never: Further paths that may have none.
    """
    found: dict[str, dict[str, str]] = {}
    for path in worktree.documents:
        if path.endswith(".md"):
            untagged, tag = split_tag(path, contract)
            found.setdefault(untagged, {})[tag] = path
    records = {f"{path.removesuffix(RECORD_SUFFIX)}.md" for path in worktree.records}
    order = {tag: position for position, tag in enumerate((UNTAGGED, *contract.translations))}
    excluded = Paths((*contract.pairs_excluded, *never))
    return tuple(
        Pair(
            path=path,
            sides=dict(sorted(found.get(path, {}).items(), key=lambda item: order[item[0]])),
            has_record=path in records,
            is_excluded=path in excluded,
        )
        for path in sorted({*found, *records})
    )


def each_member(pairs: Iterable[Pair]) -> Iterator[Member]:
    """Yield the files of documents that are more than one file and may be."""
    for pair in pairs:
        if pair.is_paired and not pair.is_excluded:
            yield from (Member(path=path, tag=tag, pair=pair) for tag, path in pair.sides.items())
            if pair.has_record:
                yield Member(path=pair.record, tag=None, pair=pair)


def split_tag(path: str, contract: Contract) -> tuple[str, str]:
    """Return the untagged side of a path, and the path's language tag.

    Example:
        >>> split_tag("docs/index.zh.md", Contract()), split_tag("docs/index.md", Contract())
        (('docs/index.md', 'zh'), ('docs/index.md', ''))
    """
    name = path.rpartition("/")[2]
    for tag in contract.translations:
        if name.endswith(f".{tag}.md") and name != f".{tag}.md":
            return f"{path.removesuffix(f'.{tag}.md')}.md", tag
    return path, UNTAGGED


@dataclass(frozen=True, kw_only=False)
class Paths:
    """Paths from the top, each a file, or a folder with everything below it."""

    given: tuple[str, ...]
    _names: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_names", frozenset(path.strip("/") for path in self.given))

    def __contains__(self, path: str) -> bool:
        if not self._names:
            return False
        parts = path.split("/")
        return any("/".join(parts[:depth]) in self._names for depth in range(1, len(parts) + 1))


@dataclass(frozen=True, kw_only=True)
class Confirmed:
    """A side as a record has it.

    Attributes:
        name: The file name.
        digest: The hash, as written.
        line: 1-based, of the record.
    """

    name: str
    digest: str
    line: int


@dataclass(frozen=True, kw_only=True)
class PairRecord:
    """What a record says.

    Attributes:
        confirmed: In order.
        fault: Why it cannot be read; empty when it can.
        line: Where the fault is, 1-based.
    """

    confirmed: tuple[Confirmed, ...] = ()
    fault: str = ""
    line: int = 1

    @cached_property
    def by_name(self) -> Mapping[str, Confirmed]:
        """The sides by file name."""
        return {item.name: item for item in self.confirmed}


def read_record(data: bytes) -> PairRecord:
    """Return what the bytes of a record say: a YAML mapping from file names to hashes, all of it text."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # five times as quick, where libyaml is there
    try:
        node = yaml.compose(data.decode("utf-8"), Loader=loader)
    except UnicodeDecodeError:
        return PairRecord(fault="the record is not UTF-8")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return PairRecord(fault="the record is no YAML", line=mark.line + 1 if mark else 1)
    if not isinstance(node, yaml.MappingNode):
        return PairRecord(fault="the record is no mapping of file names to hashes")
    confirmed: dict[str, Confirmed] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or not isinstance(value, yaml.ScalarNode):
            return PairRecord(fault="an entry is not a file name and a hash", line=line)
        if key.value in confirmed:
            return PairRecord(fault=f"the record names {key.value} twice", line=line)
        confirmed[key.value] = Confirmed(name=key.value, digest=value.value, line=line)
    return PairRecord(confirmed=tuple(confirmed.values()))


def render_record(hashes: Mapping[str, str]) -> str:
    """Return the text of a record.

    Args:
        hashes: By file name, in order.
    """
    import yaml

    return _BANNER + yaml.safe_dump(dict(hashes), sort_keys=False, allow_unicode=True, width=1_000_000)
