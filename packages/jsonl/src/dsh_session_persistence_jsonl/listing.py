"""The headers of all sessions, from the first bytes of each file.

Owns the walk over the root. Refuses to read logs. What cannot be read is left out and logged.
Flow: folders -> first 4 KiB of each file -> headers, sorted.
"""

from __future__ import annotations

import logging
import os
from collections import Counter

from dsh_session import InvalidHeader, SessionHeader, UnsupportedVersion
from dsh_session.header import decode_header
from dsh_session_persistence_jsonl.disk import READ_FLAGS
from dsh_session_persistence_jsonl.layout import SUFFIX, Layout, encode_id
from dsh_session_persistence_jsonl.scan import is_event

__all__ = ["list_headers"]

_HEAD_BYTES = 4096
_MORE_BYTES = 1 << 16

_log = logging.getLogger("dsh_session_persistence_jsonl")


def list_headers(layout: Layout) -> list[SessionHeader]:
    """Return the headers of all sessions that have at least one event, sorted by `created_at`, then id.

    Raises:
        OSError: The root cannot be searched.
    """
    headers: list[SessionHeader] = []
    for folder in layout.folders():
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                    header = _header(entry)
                    if header is not None:
                        headers.append(header)
    headers.sort(key=lambda header: (header.created_at, header.id))
    times = Counter(header.id for header in headers)
    if len(times) < len(headers):
        _log.warning("left out, being stored more than once: %s", [key for key, n in times.items() if n > 1])
        headers = [header for header in headers if times[header.id] == 1]
    return headers


def _header(entry: os.DirEntry[str]) -> SessionHeader | None:
    try:
        lines = _first_lines(entry.path)
        if lines is None:
            return None
        header = decode_header(lines[0])
    except (OSError, InvalidHeader, UnsupportedVersion) as error:
        _log.warning("left out: %s: %s", entry.path, error)
        return None
    name = encode_id(header.id) + SUFFIX
    if entry.name != name and entry.name.upper() != name.upper():
        _log.warning("left out: %s names another session", entry.path)
        return None
    return header if is_event(lines[1]) else None


def _first_lines(path: str) -> tuple[bytes, bytes] | None:
    """Return the first two lines of a file, or None if it has not two whole ones."""
    fd = os.open(path, READ_FLAGS)
    try:
        head = os.read(fd, _HEAD_BYTES)
        while True:
            first = head.find(b"\n")
            second = head.find(b"\n", first + 1) if first >= 0 else -1
            if second >= 0:
                return head[:first], head[first + 1 : second]
            more = os.read(fd, max(_MORE_BYTES, len(head)))
            if not more:
                return None
            head += more
    finally:
        os.close(fd)
