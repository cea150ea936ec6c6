"""The headers of all sessions, from the first bytes of each file.

Owns the walk over the root. Refuses to read logs. What cannot be read is left out and logged.
Flow: folders -> first bytes of each file -> headers, sorted.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter

from dsh_session import InvalidHeader, SessionHeader, UnsupportedVersion
from dsh_session.event import gc_paused
from dsh_session.header import decode_header
from dsh_session_persistence.system import open_folder
from dsh_session_persistence_jsonl.disk import READ_FLAGS
from dsh_session_persistence_jsonl.layout import SUFFIX, Layout, encode_id

__all__ = ["list_headers"]

_HEAD_BYTES = 1024
_MORE_BYTES = 1 << 16
_OPENING, _CLOSING = b"{}"

_log = logging.getLogger("dsh_session_persistence_jsonl")


def list_headers(layout: Layout) -> list[SessionHeader]:
    """Return the headers of all sessions that have at least one event, sorted by `created_at`, then id.

    Raises:
        OSError: The root cannot be searched.
    """
    headers: list[SessionHeader] = []
    with gc_paused():
        for folder in layout.folders():
            with _opened(folder) as folder_fd, os.scandir(folder if folder_fd is None else folder_fd) as entries:
                for entry in entries:
                    if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                        header = _header(entry, folder_fd)
                        if header is not None:
                            headers.append(header)
    headers.sort(key=attrgetter("created_at", "id"))
    return _without_repeated(headers)


def _without_repeated(headers: list[SessionHeader]) -> list[SessionHeader]:
    if len({header.id for header in headers}) == len(headers):
        return headers
    times = Counter(header.id for header in headers)
    _log.warning("left out, being stored more than once: %s", [key for key, n in times.items() if n > 1])
    return [header for header in headers if times[header.id] == 1]


@contextmanager
def _opened(folder: str) -> Iterator[int | None]:
    """Open a folder, where the system can: its files are then found from it, quicker and through no link."""
    fd = open_folder(folder, follow_links=False)
    try:
        yield fd
    finally:
        if fd is not None:
            os.close(fd)


def _header(entry: os.DirEntry[str], folder_fd: int | None) -> SessionHeader | None:
    try:
        line = _first_line(entry.path, folder_fd)
        if line is None:
            return None
        header = decode_header(line)
    except (OSError, InvalidHeader, UnsupportedVersion) as error:
        _log.warning("left out: %s: %s", entry.path, error)
        return None
    name = encode_id(header.id) + SUFFIX
    if entry.name != name and entry.name.upper() != name.upper():
        _log.warning("left out: %s names another session", entry.path)
        return None
    return header


def _first_line(path: str, folder_fd: int | None) -> bytes | None:
    """Return the first line of a file, or None if no whole record follows it."""
    fd = os.open(path, READ_FLAGS, dir_fd=folder_fd)
    try:
        head = os.read(fd, _HEAD_BYTES)
        while True:
            first = head.find(b"\n")
            second = head.find(b"\n", first + 2) if first >= 0 else -1
            if second >= 0:
                whole = head[first + 1] == _OPENING and head[second - 1] == _CLOSING
                return head[:first] if whole else None
            more = os.read(fd, max(_MORE_BYTES, len(head)))
            if not more:
                return None
            head += more
    finally:
        os.close(fd)
