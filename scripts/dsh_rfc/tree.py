"""From a folder to entries: the one module that opens the files that are judged.

Owns walking and reading. Follows no symbolic link, opens nothing but regular files, and turns every failure
of the operating system into a fault on the entry, so that one bad file never hides another. Refuses to judge.

Flow: folder -> scandir, breadth unbounded, no recursion -> `Entry` (Markdown with its bytes) in code-point order.
"""

import os
import stat
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from dsh_rfc.errors import RecordMissing

MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)  # what was a file a moment ago may be a link now
    | getattr(os, "O_NONBLOCK", 0)  # or a pipe that nobody writes to
    | getattr(os, "O_BINARY", 0)
)


class Kind(Enum):
    """What stands at a path."""

    FILE = "a file"
    FOLDER = "a folder"
    LINK = "a symbolic link"
    OTHER = "a pipe, socket or device"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing in the tree.

    Attributes:
        path: Relative to the walked folder, with forward slashes.
        kind: What it is, without following links.
        data: The bytes of a Markdown file; empty for everything else.
        fault: Why it could not be read; empty when it could.
    """

    path: str
    kind: Kind = Kind.FILE
    data: bytes = b""
    fault: str = ""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


def is_markdown(name: str) -> bool:
    """Say whether a file name claims to be Markdown, in any case."""
    return name.casefold().endswith(MARKDOWN_SUFFIXES)


def read_tree(folder: Path, *, max_file_bytes: int) -> tuple[Entry, ...]:
    """Return everything below a folder, sorted by path.

    Raises:
        RecordMissing: The folder does not exist, is no folder, or cannot be listed.
    """
    if not os.path.isdir(folder):  # noqa: PTH112 - pathlib fails where one may not look
        msg = f"{folder} is not a folder"
        raise RecordMissing(msg)
    entries: list[Entry] = []
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            with os.scandir(folder / prefix) as found:
                children = list(found)
        except OSError as error:
            if not prefix:
                msg = f"{folder} cannot be listed: {error.strerror}"
                raise RecordMissing(msg) from error
            fault = f"cannot be listed: {error.strerror}"
            entries = [entry for entry in entries if entry.path != prefix]
            entries.append(Entry(path=prefix, kind=Kind.FOLDER, fault=fault))
            continue
        for child in children:
            path = f"{prefix}/{child.name}" if prefix else child.name
            entry = _read_entry(child, path, max_file_bytes)
            entries.append(entry)
            if entry.kind is Kind.FOLDER:
                pending.append(path)
    return tuple(sorted(entries, key=lambda entry: entry.path))


def _read_entry(child: "os.DirEntry[str]", path: str, max_file_bytes: int) -> Entry:
    try:
        if child.is_symlink():
            return Entry(path=path, kind=Kind.LINK)
        if child.is_dir(follow_symlinks=False):
            return Entry(path=path, kind=Kind.FOLDER)
        if not child.is_file(follow_symlinks=False):
            return Entry(path=path, kind=Kind.OTHER)
        if not is_markdown(child.name):
            return Entry(path=path)
        data = read_file(child.path, max_file_bytes)
    except OSError as error:
        return Entry(path=path, fault=f"cannot be read: {error.strerror or error}")
    if len(data) > max_file_bytes:
        return Entry(path=path, fault=f"is larger than {max_file_bytes} bytes, which is no document")
    return Entry(path=path, data=data)


def read_file(path: str, max_file_bytes: int) -> bytes:
    """Return at most one byte more than the limit.

    Raises:
        OSError: It cannot be read, or is no regular file.
    """
    descriptor = os.open(path, _OPEN_FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "is no regular file")
        return file.read(max_file_bytes + 1)
