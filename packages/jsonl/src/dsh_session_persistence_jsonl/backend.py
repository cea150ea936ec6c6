"""The storage primitives over files.

Owns which files are open, what is known of those that were given up, and the translation of the operating
system's errors. Refuses policy. Flow: coordinator -> writer or reader thread -> log file, scan, listing.
"""

from __future__ import annotations

import builtins
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from dsh_session import SessionEvent, SessionHeader, SessionId
from dsh_session_persistence import ConcurrentWriter, CorruptSession, StorageFailure, StoredPrefix
from dsh_session_persistence.threads import Job, Workers
from dsh_session_persistence_jsonl.creation import create_log, sweep
from dsh_session_persistence_jsonl.disk import READ_FLAGS, Disk
from dsh_session_persistence_jsonl.layout import Layout
from dsh_session_persistence_jsonl.listing import list_headers
from dsh_session_persistence_jsonl.log_file import LogFile, Tail
from dsh_session_persistence_jsonl.scan import scan

__all__ = ["JsonlBackend"]

_TAILS_KEPT = 4096
_READS_OF_A_CHANGING_FILE = 3


class JsonlBackend:
    """Sessions as files under one folder; see `PersistenceBackend`.

    Args:
        root: The folder; made absolute once, here.
        disk: What writes, syncs and locks.
    """

    def __init__(self, root: str | os.PathLike[str], *, disk: Disk | None = None) -> None:
        absolute = os.path.abspath(os.fspath(root))  # noqa: PTH100 - no link is resolved
        if b"\0" in os.fsencode(absolute):
            raise ValueError(f"{root!r} names no folder: it holds a NUL")
        self._layout = Layout(absolute)
        self._disk = disk or Disk()
        self._workers = Workers("dsh-jsonl")
        self._logs: dict[SessionId, LogFile] = {}
        self._tails: OrderedDict[SessionId, tuple[Tail, bytes]] = OrderedDict()  # and what a failed batch left
        self._swept: set[str] = set()

    @property
    def root(self) -> str:
        """The folder, absolute."""
        return self._layout.root

    async def load_stored(self, session_id: SessionId) -> StoredPrefix | None:
        """See `PersistenceBackend.load_stored`; the torn marker is the byte offset to cut to."""
        return await self._workers.read(self._load, session_id)

    def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> Job[None]:
        """See `PersistenceBackend.append_batch`."""
        return self._workers.write(self._append, header, events, materialized)

    async def commit_repair(
        self, header: SessionHeader, torn_marker: int | None, closers: Sequence[SessionEvent]
    ) -> None:
        """See `PersistenceBackend.commit_repair`."""
        await self._workers.write(self._repair, header, torn_marker, closers)

    async def list(self) -> builtins.list[SessionHeader]:
        """See `PersistenceBackend.list`."""
        return await self._workers.read(self._list)

    async def acquire(self, session_id: SessionId) -> None:
        """See `PersistenceBackend.acquire`."""
        await self._workers.write(self._acquire, session_id)

    async def release(self, session_id: SessionId) -> None:
        """See `PersistenceBackend.release`."""
        await self._workers.write(self._release, session_id)

    async def close(self) -> None:
        """See `PersistenceBackend.close`."""
        try:
            await self._workers.write(self.abandon)
        finally:
            self._workers.shutdown()

    def abandon(self) -> None:
        """Give up every descriptor, and with them every lock, at once; what `close` does, without a loop."""
        while self._logs:
            self._logs.popitem()[1].close()

    # ------------------------------------------------------------ on a worker thread

    def _load(self, session_id: SessionId) -> StoredPrefix | None:
        with _storage(f"reading session {session_id!r}"):
            for attempt in range(_READS_OF_A_CHANGING_FILE):
                path = self._layout.locate(session_id)
                if path is None:
                    return None
                fd = os.open(path, READ_FLAGS)
                try:
                    before = os.fstat(fd)
                    try:
                        stored = scan(fd, session_id)
                    except CorruptSession:
                        # Beside a writer whose batch failed, a reader can see what was cut away.
                        after = os.fstat(fd)
                        same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
                        if same or attempt == _READS_OF_A_CHANGING_FILE - 1:
                            raise
                    else:
                        if (log := self._logs.get(session_id)) is not None:
                            log.was_read()
                        return stored
                finally:
                    os.close(fd)
        return None

    def _append(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        try:  # not `_storage`: a generator is a good part of what is not the disk's time
            if materialized:
                self._owned(header.id).append(events)
            else:
                self._create(header, events)
        except OSError as error:
            raise StorageFailure(f"storing events of session {header.id!r}", error) from error

    def _create(self, header: SessionHeader, events: Sequence[SessionEvent]) -> None:
        folder = self._layout.folder(header.cwd)
        if folder not in self._swept and os.path.isdir(folder):  # noqa: PTH112 - strings, as in the layout
            sweep(folder, self._disk)
        self._swept.add(folder)
        self._logs[header.id] = create_log(self._layout, header, events, self._disk)

    def _repair(self, header: SessionHeader, torn_marker: int | None, closers: Sequence[SessionEvent]) -> None:
        with _storage(f"repairing session {header.id!r}"):
            self._owned(header.id).repair(torn_marker, closers)

    def _list(self) -> builtins.list[SessionHeader]:
        with _storage(f"listing {self._layout.root}"):
            return list_headers(self._layout)

    def _acquire(self, session_id: SessionId) -> None:
        with _storage(f"opening session {session_id!r}"):
            if session_id in self._logs:
                return
            path = self._layout.locate(session_id)
            if path is not None:
                tail, leftover = self._tails.pop(session_id, (None, b""))
                self._logs[session_id] = LogFile.open(session_id, path, self._disk, tail, leftover=leftover)

    def _release(self, session_id: SessionId) -> None:
        log = self._logs.pop(session_id, None)
        if log is None:
            return
        with _storage(f"closing session {session_id!r}"):
            log.close()
        if log.tail is not None:
            self._tails[session_id] = log.tail, log.leftover
            while len(self._tails) > _TAILS_KEPT:
                self._tails.popitem(last=False)

    def _owned(self, session_id: SessionId) -> LogFile:
        log = self._logs.get(session_id)
        if log is None:
            self._acquire(session_id)
            log = self._logs.get(session_id)
        if log is None:
            raise ConcurrentWriter(session_id, "its file is gone")
        return log


@contextmanager
def _storage(doing: str) -> Iterator[None]:
    """Translate the operating system's errors."""
    try:
        yield
    except OSError as error:
        raise StorageFailure(doing, error) from error
