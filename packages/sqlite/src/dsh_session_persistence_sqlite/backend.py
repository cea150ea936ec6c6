"""The storage primitives over rows.

Owns the statements' order inside a transaction and the translation of the driver's errors. Refuses policy.
Flow: coordinator -> the writer thread or a reader thread -> transaction or snapshot.
"""

from __future__ import annotations

import builtins
import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dsh_session import (
    InvalidEvent,
    InvalidHeader,
    InvalidSessionId,
    SessionEvent,
    SessionHeader,
    SessionId,
    UnsupportedVersion,
)
from dsh_session.bulk import column_rows
from dsh_session_persistence import ConcurrentWriter, SequenceMismatch, SessionExists, StoredPrefix
from dsh_session_persistence.threads import Job, Workers
from dsh_session_persistence_sqlite.database import Database
from dsh_session_persistence_sqlite.driver_errors import translate
from dsh_session_persistence_sqlite.lock import Locks
from dsh_session_persistence_sqlite.rows import (
    DELETE_EVENTS,
    INSERT_EVENT,
    INSERT_HEADER,
    SELECT_EVENTS,
    SELECT_LISTED,
    SELECT_ORPHAN,
    SELECT_TAIL,
    event_from_row,
    header_from_row,
    header_row,
    read_prefix,
)
from dsh_session_persistence_sqlite.schema import JournalMode, check_journal_mode

__all__ = ["SqliteBackend"]

_ROWS_A_STEP = 1000

_log = logging.getLogger("dsh_session_persistence_sqlite")


class SqliteBackend:
    """Sessions in one database; see `PersistenceBackend`.

    Args:
        path: The database file; made absolute once, here.
        journal_mode: See `SqlitePersistence`.
    """

    def __init__(self, path: str | os.PathLike[str], *, journal_mode: JournalMode = "wal") -> None:
        absolute = os.path.abspath(os.fspath(path))  # noqa: PTH100 - no link is resolved
        if b"\0" in os.fsencode(absolute):
            raise ValueError(f"{path!r} names no file: it holds a NUL")
        self._locks = Locks(absolute)
        self._database = Database(absolute, check_journal_mode(journal_mode), self._locks)
        self._workers = Workers("dsh-sqlite", writers=1)
        self._unsure: dict[SessionId, Sequence[SessionEvent]] = {}  # batches that SQLite failed to commit

    @property
    def path(self) -> str:
        """The database file, absolute."""
        return self._database.path

    async def load_stored(self, session_id: SessionId) -> StoredPrefix | None:
        """See `PersistenceBackend.load_stored`; the torn marker is the seq to delete from."""
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
        await self._workers.write(self._locks.disown, session_id)

    async def close(self) -> None:
        """See `PersistenceBackend.close`."""
        try:
            await self._workers.write(self._close)
        finally:
            self._workers.shutdown()

    def abandon(self) -> None:
        """Give up every connection and every lock at once, without a checkpoint and without a loop."""
        self._database.abandon()
        self._locks.close()

    # ------------------------------------------------------------ on a worker thread

    def _load(self, session_id: SessionId) -> StoredPrefix | None:
        _check_id(session_id)
        with _storage(f"reading session {session_id!r}"):
            return self._database.read(lambda connection: read_prefix(connection, session_id), None)

    def _append(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        _check_id(header.id)
        try:  # not `_storage`: a generator is a good part of what is not SQLite's time
            if materialized:
                self._extend(header.id, events)
            else:
                self._create(header, events)
        except (sqlite3.Error, OSError) as error:
            if isinstance(error, sqlite3.DatabaseError):
                self._unsure[header.id] = events
            raise translate(error, f"storing events of session {header.id!r}", header.id) from error
        self._unsure.pop(header.id, None)

    def _extend(self, session_id: SessionId, events: Sequence[SessionEvent]) -> None:
        def extend(connection: sqlite3.Connection) -> None:
            self._drop_leftover(connection, session_id)
            _check_follows(connection, session_id, events[0])
            _insert(connection, session_id, events)

        self._locks.own(session_id)
        self._database.write(extend)

    def _create(self, header: SessionHeader, events: Sequence[SessionEvent]) -> None:
        taken = False

        def create(connection: sqlite3.Connection) -> None:
            nonlocal taken
            self._drop_leftover(connection, header.id)
            _check_free(connection, header.id)
            self._locks.own(header.id)
            taken = True
            connection.execute(INSERT_HEADER, header_row(header))
            _insert(connection, header.id, events)

        try:
            self._database.write(create)
        except BaseException:
            if taken:
                self._locks.disown(header.id)
            raise

    def _drop_leftover(self, connection: sqlite3.Connection, session_id: SessionId) -> None:
        """Delete a batch whose commit failed and that recovery made whole afterwards, as a log can."""
        batch = self._unsure.get(session_id)
        if batch is None:
            return
        with _texts_as_bytes(connection):
            rows = connection.execute(SELECT_EVENTS, (session_id, batch[0].seq)).fetchall()
        if [row[0] for row in rows] != [event.seq for event in batch]:
            return
        if all(_is_readable(row) and event_from_row(row) == event for row, event in zip(rows, batch, strict=True)):
            connection.execute(DELETE_EVENTS, (session_id, batch[0].seq))
            if batch[0].seq == 0:
                connection.execute("DELETE FROM sessions WHERE id = ?", (session_id,))

    def _repair(self, header: SessionHeader, torn_marker: int | None, closers: Sequence[SessionEvent]) -> None:
        def repair(connection: sqlite3.Connection) -> None:
            if torn_marker is not None:
                _cut(connection, header.id, torn_marker)
            if closers:
                _check_follows(connection, header.id, closers[0])
                _insert(connection, header.id, closers)

        with _storage(f"repairing session {header.id!r}", header.id):
            self._locks.own(header.id)
            self._database.write(repair)

    def _list(self) -> builtins.list[SessionHeader]:
        with _storage(f"listing {self.path}"):
            return self._database.read(_listed, [])

    def _acquire(self, session_id: SessionId) -> None:
        def acquire(connection: sqlite3.Connection) -> None:
            if _is_stored(connection, session_id):
                self._locks.own(session_id)

        _check_id(session_id)
        with _storage(f"opening session {session_id!r}", session_id):
            if self._database.exists():
                self._database.write(acquire)

    def _close(self) -> None:
        with _storage(f"closing {self.path}"):
            try:
                self._database.close()
            finally:
                self._locks.close()


def _check_id(session_id: SessionId) -> None:
    try:
        session_id.encode()
    except UnicodeEncodeError as error:
        raise InvalidSessionId(session_id, "UTF-8 cannot carry it") from error


def _is_stored(connection: sqlite3.Connection, session_id: SessionId) -> bool:
    found = connection.execute("SELECT 1 FROM sessions WHERE id = ?", (session_id,)).fetchone()
    return found is not None


def _check_free(connection: sqlite3.Connection, session_id: SessionId) -> None:
    if _is_stored(connection, session_id) or connection.execute(SELECT_ORPHAN, (session_id,)).fetchone():
        raise SessionExists(session_id)


def _check_follows(connection: sqlite3.Connection, session_id: SessionId, event: SessionEvent) -> None:
    """Raise unless an event follows the stored tail; inside the transaction that stores it."""
    last, is_stored = connection.execute(SELECT_TAIL, (session_id,)).fetchone()
    expected = 0 if last is None else last + 1
    if event.seq != expected:
        raise SequenceMismatch(expected, event.seq)
    if not is_stored:
        raise ConcurrentWriter(session_id, "what was stored is gone")


def _insert(connection: sqlite3.Connection, session_id: SessionId, events: Sequence[SessionEvent]) -> None:
    for start in range(0, len(events), _ROWS_A_STEP):
        rows = column_rows(session_id, events[start : start + _ROWS_A_STEP])
        connection.executemany(INSERT_EVENT, rows)


def _cut(connection: sqlite3.Connection, session_id: SessionId, from_seq: int) -> None:
    """Delete a torn tail; raise if what would be deleted can be read."""
    with _texts_as_bytes(connection):
        if any(_is_readable(row) for row in connection.execute(SELECT_EVENTS, (session_id, from_seq))):
            raise ConcurrentWriter(session_id, "somebody else has stored events of it")
    connection.execute(DELETE_EVENTS, (session_id, from_seq))


@contextmanager
def _texts_as_bytes(connection: sqlite3.Connection) -> Iterator[None]:
    connection.text_factory = bytes
    try:
        yield
    finally:
        connection.text_factory = str


def _is_readable(row: tuple[Any, ...]) -> bool:
    try:
        event_from_row(row)
    except InvalidEvent:
        return False
    return True


def _listed(connection: sqlite3.Connection) -> list[SessionHeader]:
    headers: list[SessionHeader] = []
    for row in connection.execute(SELECT_LISTED):
        try:
            header = header_from_row(row[:6])
        except (InvalidHeader, UnsupportedVersion) as error:
            _log.warning("left out: session %r: %s", row[0], error)
            continue
        if _is_readable(row[6:]):
            headers.append(header)
    return headers


@contextmanager
def _storage(doing: str, session_id: SessionId | None = None) -> Iterator[None]:
    """Translate the driver's errors."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise translate(error, doing, session_id) from error
