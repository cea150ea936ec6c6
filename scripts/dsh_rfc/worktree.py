"""The files around the record: what a link may lead to, and which Markdown files are judged.

Owns asking the disk, once a folder and once a file in a run, and git, once a run. In a git repository only what git
tracks or would track exists, since nothing else reaches another machine; elsewhere what `.gitignore` names is left
out of the walk. Refuses to decode and to judge.

Flow: repository -> folders with the kinds of their entries, Markdown paths -> bytes of a file on demand.
"""

import os
import stat
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from dsh_rfc.tree import Entry, Kind, is_markdown, read_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Names = Mapping[str, Kind]
_NONE: Names = {}
_LIST = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
_GIT_TIMEOUT_S = 60
_MAX_IGNORE_BYTES = 10_000_000
RECORD_SUFFIX = ".i18n.yaml"


@dataclass(frozen=True, kw_only=True)
class Worktree:
    """Everything below the folder that findings count from.

    Attributes:
        documents: The Markdown files that are judged, sorted.
        is_bounded: Whether that folder is the whole of the repository; otherwise nobody knows what lies around it.
        list_folder: Returns what stands in a folder; nothing for one that is not there.
        read: Returns the bytes of a file; raises OSError.
        records: The records of confirmed translations that stand beside documents, sorted.
        ignores: Says of a path that does not exist whether a `.gitignore` names it: some command makes it.
    """

    documents: tuple[str, ...]
    is_bounded: bool
    list_folder: Callable[[str], Names]
    read: Callable[[str], bytes]
    records: tuple[str, ...] = ()
    ignores: Callable[[str], bool] = lambda _: False
    _listed: dict[str, Names] = field(default_factory=dict, repr=False, compare=False)
    _kinds: dict[str, Kind | None] = field(default_factory=dict, repr=False, compare=False)
    _folded: dict[str, dict[str, str]] = field(default_factory=dict, repr=False, compare=False)

    def names(self, folder: str) -> Names:
        """Return what stands in a folder, by name; the empty path is the top."""
        if folder not in self._listed:
            self._listed[folder] = self.list_folder(folder)
        return self._listed[folder]

    def kind(self, path: str) -> Kind | None:
        """Return what stands at a normal path, every letter as written; None when nothing does.

        Below a symbolic link or a submodule the answer is `Kind.LINK`: what is there is not ours to know.
        """
        if path not in self._kinds:
            self._kinds[path] = self._find(path)
        return self._kinds[path]

    def has(self, path: str) -> bool:
        """Say whether anything stands at a path."""
        return self.kind(path) is not None

    def has_file(self, path: str) -> bool:
        """Say whether a regular file stands at a path."""
        return self.kind(path) is Kind.FILE

    def has_folder(self, path: str) -> bool:
        """Say whether a folder of this repository stands at a path."""
        return self.kind(path) is Kind.FOLDER

    def respelled(self, path: str) -> str:
        """Return the path that is there when only the case of letters differs; else nothing."""
        actual = ""
        for part in path.split("/"):
            if actual not in self._folded:
                self._folded[actual] = {name.casefold(): name for name in sorted(self.names(actual))}
            name = part if part in self.names(actual) else self._folded[actual].get(part.casefold(), "")
            if not name:
                return ""
            actual = f"{actual}/{name}" if actual else name
        return actual

    def match(self, pattern: str) -> Iterator[str]:
        """Yield the paths that a pattern names, part by part, sorted; the empty pattern names the top."""
        parts = [part for part in pattern.split("/") if part and part != "."]
        pending = [("", 0)]
        while pending:
            path, depth = pending.pop()
            if depth == len(parts):
                yield path
                continue
            names = self.names(path) if self.has_folder(path) else _NONE
            pending.extend(
                (f"{path}/{name}" if path else name, depth + 1)
                for name in sorted(names, reverse=True)
                if name == parts[depth] or fnmatchcase(name, parts[depth])
            )

    def _find(self, path: str) -> Kind | None:
        if not path:
            return Kind.FOLDER
        folder, _, name = path.rpartition("/")
        around = self.kind(folder)
        return self.names(folder).get(name) if around is Kind.FOLDER else around if around is Kind.LINK else None


def of_entries(entries: Iterable[Entry], locate: Callable[[str], str]) -> Worktree:
    """Return the tree that consists of a record alone, and knows nothing of what lies around it."""
    by_path = {locate(entry.path): entry for entry in entries}
    folders = _folders((path, entry.kind) for path, entry in by_path.items())
    return Worktree(
        documents=tuple(path for path, entry in by_path.items() if _is_document(path, entry.kind)),
        records=tuple(path for path, entry in by_path.items() if _is_record(path, entry.kind)),
        is_bounded=False,
        list_folder=lambda folder: folders.get(folder, _NONE),
        read=lambda path: by_path[path].data,
    )


def of_folder(base: Path, *, inside: str, is_bounded: bool, max_file_bytes: int) -> Worktree:
    """Return the tree around a record that somebody named: only the record's own files are judged.

    Args:
        base: The folder that paths count from.
        inside: Where the record stands in it; empty when it is the record.
        is_bounded: Whether `base` is a repository.
        max_file_bytes: A larger file is not read.
    """
    paths = list(_walk(base, inside))
    return Worktree(
        documents=tuple(path for path in paths if is_markdown(path)),
        records=tuple(path for path in paths if path.endswith(RECORD_SUFFIX)),
        is_bounded=is_bounded,
        list_folder=lambda folder: _scan(base / folder),
        read=_reader(base, max_file_bytes),
        ignores=_ignorer(base),
    )


def of_repository(base: Path, *, exclude: Iterable[str], max_file_bytes: int) -> Worktree:
    """Return the tree of a repository, whose Markdown is judged outside of the excluded folders.

    Args:
        base: Its top.
        exclude: Names of folders anywhere, or paths from the top; they are link targets still.
        max_file_bytes: A larger file is not read.
    """
    excluded = _excluder(exclude)
    tracked = _tracked(base)
    folders = _folders(tracked) if tracked else None
    found = (path for path, kind in tracked if _is_judged(path, kind)) if tracked else _walk(base, "")
    paths = sorted(path for path in found if not excluded(path))
    return Worktree(
        documents=tuple(path for path in paths if is_markdown(path)),
        records=tuple(path for path in paths if path.endswith(RECORD_SUFFIX)),
        is_bounded=True,
        list_folder=(lambda folder: folders.get(folder, _NONE)) if folders else lambda folder: _scan(base / folder),
        read=_reader(base, max_file_bytes),
        ignores=_ignorer(base),
    )


def _is_document(path: str, kind: Kind) -> bool:
    return kind is Kind.FILE and is_markdown(path)


def _is_record(path: str, kind: Kind) -> bool:
    return kind is Kind.FILE and path.endswith(RECORD_SUFFIX)


def _is_judged(path: str, kind: Kind) -> bool:
    return _is_document(path, kind) or _is_record(path, kind)


def _reader(base: Path, max_file_bytes: int) -> Callable[[str], bytes]:
    def read(path: str) -> bytes:
        data = read_file(os.path.join(base, path), max_file_bytes)  # noqa: PTH118 - pathlib costs more than the read
        if len(data) > max_file_bytes:
            raise OSError(0, f"is larger than {max_file_bytes} bytes, which is no document")
        return data

    return read


def _excluder(exclude: Iterable[str]) -> Callable[[str], bool]:
    names, tops = set[str](), list[str]()
    for given in exclude:
        trimmed = given.strip("/")
        if "/" in trimmed or given.startswith("/"):
            tops.append(trimmed)
        else:
            names.add(trimmed)

    def excluded(path: str) -> bool:
        return not names.isdisjoint(path.split("/")) or any(
            path == top or path.startswith(f"{top}/") for top in tops
        )

    return excluded


def _folders(entries: Iterable[tuple[str, Kind]]) -> Mapping[str, Names]:
    folders: dict[str, dict[str, Kind]] = {"": {}}

    def children(folder: str) -> dict[str, Kind]:
        if folder not in folders:
            folders[folder] = {}
            parent, _, name = folder.rpartition("/")
            children(parent)[name] = Kind.FOLDER
        return folders[folder]

    for path, kind in entries:
        folder, _, name = path.rpartition("/")
        children(folder)[name] = kind
    return folders


def _tracked(base: Path) -> list[tuple[str, Kind]]:
    """Return what git tracks or would track and the disk has; nothing where git does not answer."""
    try:
        done = subprocess.run(
            ["git", "-C", str(base), *_LIST],  # noqa: S607 - the caller's git is the one that tracks
            capture_output=True,
            check=False,
            timeout=_GIT_TIMEOUT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    if done.returncode != 0:
        return []
    found: dict[str, Kind] = {}
    for raw in done.stdout.split(b"\0"):
        path = os.fsdecode(raw).rstrip("/")
        if path and path not in found:
            try:
                mode = os.lstat(os.path.join(base, path)).st_mode  # noqa: PTH118 - five times as quick
            except OSError:
                continue  # deleted, and not committed yet
            found[path] = _kind_of(mode)
    return list(found.items())


def _kind_of(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return Kind.FILE
    if stat.S_ISLNK(mode) or stat.S_ISDIR(mode):
        return Kind.LINK  # git lists a folder only when it is another repository
    return Kind.OTHER


def _scan(folder: Path) -> Names:
    try:
        with os.scandir(folder) as found:
            return {child.name: _kind_of_child(child) for child in found}
    except OSError:
        return _NONE


def _kind_of_child(child: "os.DirEntry[str]") -> Kind:
    if child.is_symlink():
        return Kind.LINK
    if child.is_dir(follow_symlinks=False):
        return Kind.FOLDER
    return Kind.FILE if child.is_file(follow_symlinks=False) else Kind.OTHER


def _walk(base: Path, start: str) -> Iterator[str]:
    """Yield the Markdown files and records below a folder that no `.gitignore` on the way names."""
    pending: list[tuple[str, tuple[tuple[str, GitIgnoreSpec], ...]]] = [(start, ())]
    while pending:
        folder, specs = pending.pop()
        names = _scan(base / folder)
        prefix = f"{folder}/" if folder else ""
        if names.get(".gitignore") is Kind.FILE:
            specs = (*specs, (prefix, _ignore_spec(base / folder / ".gitignore")))
        for name, kind in sorted(names.items()):
            path = prefix + name
            if kind is Kind.FOLDER and name != ".git" and not _is_ignored(f"{path}/", specs):
                pending.append((path, specs))
            elif _is_judged(path, kind) and not _is_ignored(path, specs):
                yield path


def _ignorer(base: Path) -> Callable[[str], bool]:
    specs: dict[str, GitIgnoreSpec] = {}

    def spec_of(prefix: str) -> "GitIgnoreSpec":
        if prefix not in specs:
            specs[prefix] = _ignore_spec(base / prefix / ".gitignore")
        return specs[prefix]

    def ignores(path: str) -> bool:
        parts = path.split("/")
        prefixes = ["".join(f"{part}/" for part in parts[:depth]) for depth in range(len(parts))]
        around = tuple((prefix, spec_of(prefix)) for prefix in prefixes)
        return _is_ignored(path, around) or _is_ignored(f"{path}/", around)

    return ignores


def _ignore_spec(file: Path) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    try:
        lines = read_file(str(file), _MAX_IGNORE_BYTES).decode("utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    return GitIgnoreSpec.from_lines(lines)


def _is_ignored(path: str, specs: "tuple[tuple[str, GitIgnoreSpec], ...]") -> bool:
    return any(spec.match_file(path.removeprefix(prefix)) for prefix, spec in specs)
