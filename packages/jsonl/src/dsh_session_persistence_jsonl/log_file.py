"""The open file of one owned session: the check of its tail, whole appends, cuts.

Owns the descriptor (it carries the lock) and what is known of the file's end. Refuses to know which session is
whose. A batch is one write and one sync; a batch that failed leaves nothing. Flow: events -> check -> write ->
sync -> new tail.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Sequence
from contextlib import suppress
from operator import attrgetter
from typing import NamedTuple, Self

from dsh_session import SessionEvent, SessionId
from dsh_session_persistence import ConcurrentWriter, SequenceMismatch
from dsh_session_persistence.forks import let_go_in_children
from dsh_session_persistence.system import lock_owner, read_at
from dsh_session_persistence_jsonl.disk import APPEND_FLAGS, Disk
from dsh_session_persistence_jsonl.scan import End, is_event, read_end

__all__ = ["LogFile", "Tail"]

_line = attrgetter("line")


class Tail(NamedTuple):
    """The end of a log as it was when it was last written or checked."""

    device: int
    inode: int
    size_bytes: int
    end: End


class LogFile:
    """A session's file, open for appending and locked.

    Args:
        session_id: The session.
        path: The file.
        fd: Its descriptor, locked already.
        disk: What writes.
        tail: What is known of its end from an earlier time, or None.
        leftover: A failed batch that could not be cut away behind that end.
    """

    def __init__(
        self, session_id: SessionId, path: str, fd: int, disk: Disk, tail: Tail | None, *, leftover: bytes = b""
    ) -> None:
        self.path = path
        self.tail = tail
        self._session_id = session_id
        self._disk = disk
        self._fd = -1
        self._hold(fd)
        self.leftover = leftover
        self._busy = threading.RLock()  # a write whose event loop has ended is not cut short by what comes after it
        let_go_in_children(self)

    @classmethod
    def open(
        cls, session_id: SessionId, path: str, disk: Disk, tail: Tail | None = None, *, leftover: bytes = b""
    ) -> Self:
        """Open and lock the file of a stored session.

        Raises:
            ConcurrentWriter: Somebody else holds the lock, or the file vanished.
            OSError: The file cannot be opened or locked.
        """
        return cls(session_id, path, _open_locked(session_id, path, disk), disk, tail, leftover=leftover)

    def close(self) -> None:
        """Give up the descriptor, and the lock with it."""
        with self._busy:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1

    def was_read(self) -> None:
        """Drop what is known from before the lock was taken again: its owner has just read the file anew."""
        if not self._checked and not self.leftover:
            self.tail = None

    def let_go(self) -> None:
        """Close the descriptor in a forked child; the lock stays the parent's."""
        if self._fd >= 0:
            with suppress(OSError):
                os.close(self._fd)
            self._fd = -1

    def append(self, events: Sequence[SessionEvent]) -> None:
        """Store events durably behind the tail, all or none.

        Raises:
            SequenceMismatch: The first does not follow the tail.
            ConcurrentWriter: The file is not the one that this instance knows.
            OSError: The disk failed; nothing of the batch is stored.
        """
        with self._busy:
            stat_now, end, changed = self._end(self._stat())
            if events[0].seq != end.next_seq:
                raise SequenceMismatch(end.next_seq, events[0].seq)
            if changed:
                raise ConcurrentWriter(self._session_id, "somebody else has written to its file")
            self._write(stat_now, end, events)

    def repair(self, cut_at: int | None, closers: Sequence[SessionEvent]) -> None:
        """Cut a torn tail and append closers, durably, in this order.

        Raises:
            SequenceMismatch: The first closer does not follow what is kept.
            ConcurrentWriter: What would be cut is no torn tail (any more).
            OSError: The disk failed.
        """
        with self._busy:
            self._repair(cut_at, closers)

    def _repair(self, cut_at: int | None, closers: Sequence[SessionEvent]) -> None:
        stat_now = self._stat()
        if cut_at is not None:
            self._check_torn(cut_at, stat_now.st_size)
        end = read_end(self._fd, stat_now.st_size if cut_at is None else cut_at)
        if end is None:
            raise ConcurrentWriter(self._session_id, "its file ends otherwise than it did")
        if closers and closers[0].seq != end.next_seq:
            raise SequenceMismatch(end.next_seq, closers[0].seq)
        if cut_at is not None:
            self._disk.truncate(self._fd, cut_at)
            self._disk.sync(self._fd)
            stat_now = self._stat()
        if closers:
            self._write(stat_now, end, closers)
        else:
            self._know(stat_now, stat_now.st_size, end)

    # ------------------------------------------------------------ what the file is now

    def _hold(self, fd: int) -> None:
        self._fd = fd
        opened = os.fstat(fd)
        self._identity = opened.st_ino, opened.st_dev  # stays as it is for as long as the descriptor is open
        self._checked = False  # whether the tail was compared with the file since it was opened

    def _stat(self) -> os.stat_result:
        """Return the file's state, having made sure that its name still leads to it."""
        if self._fd < 0:
            self._hold(_open_locked(self._session_id, self.path, self._disk))
        try:
            named = os.lstat(self.path)
        except FileNotFoundError as error:
            raise ConcurrentWriter(self._session_id, "its file is gone") from error
        if (named.st_ino, named.st_dev) != self._identity:
            raise ConcurrentWriter(self._session_id, "its file was replaced")
        return named

    def _end(self, now: os.stat_result) -> tuple[os.stat_result, End, bool]:
        """Return the file's state and end, and whether they are others than those that are known."""
        known = self.tail
        if known is not None and self._checked and now.st_size == known.size_bytes:
            return now, known.end, False
        if known is not None and self.leftover and now.st_size > known.size_bytes:
            now = self._drop_leftover(known, now)
        found = read_end(self._fd, now.st_size)
        if found is None:
            raise ConcurrentWriter(self._session_id, "its file ends in what this instance did not write")
        same = known is None or known == Tail(now.st_dev, now.st_ino, now.st_size, found)
        return now, found, not same

    def _drop_leftover(self, known: Tail, now: os.stat_result) -> os.stat_result:
        """Cut away what a failed batch of this instance left, if that is what is there."""
        extra = read_at(self._fd, len(self.leftover) + 1, known.size_bytes)
        if not self.leftover.startswith(extra):
            return now
        self._disk.truncate(self._fd, known.size_bytes)
        self._disk.sync(self._fd)
        self.leftover = b""
        return os.fstat(self._fd)

    def _check_torn(self, cut_at: int, size_bytes: int) -> None:
        torn = read_at(self._fd, size_bytes - cut_at, cut_at) if size_bytes > cut_at else b""
        if size_bytes < cut_at or any(is_event(line) for line in torn.split(b"\n")[:-1]):
            raise ConcurrentWriter(self._session_id, "its file ends otherwise than it did")

    # ------------------------------------------------------------ writing

    def _write(self, before: os.stat_result, end: End, events: Sequence[SessionEvent]) -> None:
        data = b"\n".join([*map(_line, events), b""])
        size_bytes = before.st_size
        if not (self._checked and self.tail is not None and self.tail.size_bytes == size_bytes):
            self._know(before, size_bytes, end)
        synced = False
        try:
            self._disk.write(self._fd, data)
            synced = True
            self._disk.sync(self._fd)
        except BaseException:
            self._undo(size_bytes, data, trusted=not synced)
            raise
        self.leftover = b""
        last = events[-1]
        self._know(before, size_bytes + len(data), End(last.line, last.seq + 1))

    def _know(self, now: os.stat_result, size_bytes: int, end: End) -> None:
        self.tail = Tail(now.st_dev, now.st_ino, size_bytes, end)
        self._checked = True

    def _undo(self, size_bytes: int, data: bytes, *, trusted: bool) -> None:
        """Cut the file back after a failed batch. After a failed sync the descriptor is not trusted again."""
        self.leftover = data
        with suppress(OSError):
            self._disk.truncate(self._fd, size_bytes)
            self.leftover = b""
            self._disk.sync(self._fd)
            if trusted:
                return
        self.close()
        with suppress(OSError, ConcurrentWriter):  # the next write tries again
            self._stat()


def _open_locked(session_id: SessionId, path: str, disk: Disk) -> int:
    try:
        fd = os.open(path, APPEND_FLAGS)
    except FileNotFoundError as error:
        raise ConcurrentWriter(session_id, "its file is gone") from error
    try:
        _lock_regular(session_id, path, fd, disk)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _lock_regular(session_id: SessionId, path: str, fd: int, disk: Disk) -> None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise OSError(f"{path} is no regular file")
    if not disk.lock(fd):
        raise ConcurrentWriter(session_id, lock_owner(fd))
