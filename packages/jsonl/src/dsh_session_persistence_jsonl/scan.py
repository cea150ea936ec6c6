"""From a file's bytes to a stored log, or to the end of one.

Owns the split on newlines (0x0A and nothing else) and the judgement of what a crash can have left. Refuses to
write. Memory stays near the size of the events: the file is read in pieces, and the interpreter lock is let go
between them. Flow: descriptor -> lines -> events -> StoredPrefix.
Source: the RFC on torn tails against corruption.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from dsh_session import InvalidEvent, InvalidHeader, SessionEvent, SessionHeader, SessionId, UnsupportedVersion
from dsh_session.bulk import decode_block
from dsh_session.collector import gc_paused
from dsh_session.event import decode_line
from dsh_session.header import decode_header
from dsh_session_persistence import CorruptSession, StoredPrefix
from dsh_session_persistence.recovery import Unreadable, check_header, judge_unreadable
from dsh_session_persistence.system import read_at

__all__ = ["End", "is_event", "read_end", "scan"]

_PIECE_BYTES = 1 << 20
_seq = attrgetter("seq")
_TAIL_BYTES = 4096


class End(NamedTuple):
    """What the last whole line of a log says."""

    line: bytes
    """That line, without its newline."""
    next_seq: int
    """The seq of the event that would follow."""


def scan(fd: int, session_id: SessionId) -> StoredPrefix:
    """Read a log from the descriptor's position to its end.

    Raises:
        CorruptSession: It cannot be read without losing work.
        UnsupportedVersion: The header is of another format version.
        OSError: The file cannot be read.
    """
    return _Scan(fd, session_id).run()


class _Scan:
    """One pass over one file."""

    def __init__(self, fd: int, session_id: SessionId) -> None:
        self._session_id = session_id
        self._pieces = _pieces(fd)
        self._offset = 0  # of the first byte behind the lines that were decoded
        self._fragment = b""
        self._events: list[SessionEvent] = []

    def run(self) -> StoredPrefix:
        header: SessionHeader | None = None
        torn_at: int | None = None
        with gc_paused():
            for block, fragment in self._pieces:
                self._fragment = fragment
                if not block:
                    continue
                if header is None:
                    first, _, block = block.partition(b"\n")  # noqa: PLW2901 - what is left of it
                    header = self._header(first)
                unreadable = self._decode(block)
                if unreadable:
                    torn_at = self._judge(unreadable)
                    break
        if header is None:
            raise CorruptSession(self._session_id, "there is no whole header line", offset_bytes=0)
        if torn_at is None and self._fragment:
            torn_at = self._offset
        return StoredPrefix(header=header, events=self._events, torn_marker=torn_at)

    def _header(self, line: bytes) -> SessionHeader:
        try:
            header = decode_header(line)
        except InvalidHeader as error:
            reason = f"the header cannot be read: {error}"
            raise CorruptSession(self._session_id, reason, offset_bytes=0) from error
        check_header(self._session_id, header)
        self._offset = len(line) + 1
        return header

    def _decode(self, block: bytes) -> list[bytes]:
        """Take the events of whole lines; return the lines from the first that is none."""
        events = decode_block(block)
        if events is None:
            return self._decode_singly(block.split(b"\n")[:-1])
        expected = len(self._events)
        if list(map(_seq, events)) != list(range(expected, expected + len(events))):
            self._refuse_sequence(block.split(b"\n")[:-1], events)
        self._events += events
        self._offset += len(block)
        return []

    def _decode_singly(self, lines: list[bytes]) -> list[bytes]:
        for index, line in enumerate(lines):
            try:
                event = decode_line(line)
            except InvalidEvent:
                return lines[index:]
            if event.seq != len(self._events):
                self._refuse_sequence([line], [event])
            self._events.append(event)
            self._offset += len(line) + 1
        return []

    def _refuse_sequence(self, lines: list[bytes], events: list[SessionEvent]) -> None:
        """Raise for the first of these events, which begin behind those that were taken, that is out of order."""
        expected, at = len(self._events), self._offset
        for line, event in zip(lines, events, strict=True):
            if event.seq != expected:
                reason = f"found seq {event.seq} where {expected} was due"
                raise CorruptSession(self._session_id, reason, seq=expected, offset_bytes=at)
            expected += 1
            at += len(line) + 1

    def _judge(self, lines: list[bytes]) -> int:
        """Return where to cut if the first of these lines, which is unreadable, is a torn tail; raise if not."""
        bad, after = lines[0], len(lines) - 1
        for more, fragment in self._pieces:
            after += more.count(b"\n")
            self._fragment = fragment
        after += is_event(self._fragment)
        reason = _why(bad)
        if not after and _is_whole(bad):  # it was fully written: this build does not understand it
            raise CorruptSession(self._session_id, reason, seq=len(self._events), offset_bytes=self._offset)
        judge_unreadable(
            self._session_id,
            Unreadable(reason=reason, offset_bytes=self._offset),
            readable_before=len(self._events),
            records_after=after,
        )
        return self._offset


def read_end(fd: int, size_bytes: int) -> End | None:
    """Return what the last line of a log says; None if the bytes before `size_bytes` are no whole, readable line.

    Reads the tail only.
    """
    line = _last_line(fd, size_bytes)
    if line is None:
        return None
    try:
        return End(line, decode_line(line).seq + 1)
    except InvalidEvent:
        pass
    try:
        decode_header(line)
    except (InvalidHeader, UnsupportedVersion):
        return None
    return End(line, 0)


def is_event(line: bytes) -> bool:
    """Return whether a line can be read as an event."""
    try:
        decode_line(line)
    except InvalidEvent:
        return False
    return True


def _pieces(fd: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield whole lines, and the fragment behind them, a piece of the file at a time."""
    parts: list[bytes] = []
    while piece := os.read(fd, _PIECE_BYTES):
        end = piece.rfind(b"\n") + 1
        if end:
            block = b"".join((*parts, piece[:end]))
            fragment = piece[end:]
            parts = [fragment]
            yield block, fragment
        else:
            parts.append(piece)
    if len(parts) > 1:
        yield b"", b"".join(parts)


def _last_line(fd: int, size_bytes: int) -> bytes | None:
    start = size_bytes
    tail = b""
    step = _TAIL_BYTES
    while start > 0:
        step = min(step, start)
        start -= step
        tail = read_at(fd, step, start) + tail
        if not tail.endswith(b"\n"):
            return None
        newline = tail.rfind(b"\n", 0, -1)
        if newline >= 0 or start == 0:
            return tail[newline + 1 : -1]
        step *= 2
    return None


def _why(line: bytes) -> str:
    try:
        decode_line(line)
    except InvalidEvent as error:
        return str(error)
    return "unreadable"


def _is_whole(line: bytes) -> bool:
    """Return whether a line is a JSON object, which no fragment of one can be."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
