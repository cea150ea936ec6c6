"""The SQLite medium as a storage of the contract, and the fixtures of its own tests."""

# ruff: noqa: D102, D103 - each method is documented where the contract declares it

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from dsh_session import SessionId
from dsh_session_persistence import SessionPersistence
from dsh_session_persistence.testing import Storage
from dsh_session_persistence.testing.faults import abandon, backend_of
from dsh_session_persistence_sqlite import JournalMode, SqlitePersistence

COLUMNS = {"createdAt": "created_at", "parentSession": "parent_session", "seedLength": "seed_length"}


class SqliteStorage(Storage):
    """A database, and instances over it."""

    # A transaction leaves no bytes between rows, a table has the columns it has, and its primary key is unique.
    unsupported: ClassVar[frozenset[str]] = frozenset({"pad_with_nul", "add_header_key", "add_event_key", "repeat"})

    def __init__(self, path: Path, journal_mode: JournalMode = "wal") -> None:
        self.path = path
        self.journal_mode = journal_mode

    def open(self, **options: Any) -> SqlitePersistence:
        return SqlitePersistence(self.path, journal_mode=self.journal_mode, **options)

    def crash(self, instance: SessionPersistence) -> None:
        abandon(instance)
        backend_of(instance).abandon()

    def tear(self, session_id: SessionId) -> None:
        with self.changing() as connection:
            (count,) = connection.execute(
                "SELECT count(*) FROM events WHERE session_id = ?", (session_id,)
            ).fetchone()
            row = (session_id, count, "assistant/chunk", 0, '{"turn":')
            connection.execute("INSERT INTO events (session_id, seq, type, time, data) VALUES (?, ?, ?, ?, ?)", row)

    def damage(self, session_id: SessionId, seq: int) -> None:
        self._set_data(session_id, seq, b"\x00 no record")

    def drop(self, session_id: SessionId, seq: int) -> None:
        with self.changing() as connection:
            connection.execute("DELETE FROM events WHERE session_id = ? AND seq = ?", (session_id, seq))

    def garble(self, session_id: SessionId, seq: int) -> None:
        with self.changing() as connection:
            (data,) = connection.execute(
                "SELECT CAST(data AS BLOB) FROM events WHERE session_id = ? AND seq = ?", (session_id, seq)
            ).fetchone()
        head, quote, tail = data.rpartition(b'"}')
        self._set_data(session_id, seq, head + b"\xff\xfe" + quote + tail)

    def set_header(self, session_id: SessionId, **changes: Any) -> None:
        with self.changing() as connection:
            for key, value in changes.items():
                column = COLUMNS.get(key, key)
                connection.execute(f"UPDATE sessions SET {column} = ? WHERE id = ?", (value, session_id))  # noqa: S608 - a column of ours

    def strip_events(self, session_id: SessionId) -> None:
        with self.changing() as connection:
            connection.execute("DELETE FROM events WHERE session_id = ?", (session_id,))

    def image(self, session_id: SessionId) -> object:
        with self.changing() as connection:
            connection.text_factory = bytes
            return (
                connection.execute("SELECT * FROM sessions WHERE id = ?", (session_id,)).fetchall(),
                connection.execute(
                    "SELECT * FROM events WHERE session_id = ? ORDER BY seq", (session_id,)
                ).fetchall(),
            )

    def fail_in_the_middle(self, instance: SessionPersistence) -> None:
        """Let SQLite itself run out of room while the second row is inserted: the quota of a full disk."""
        database = backend_of(instance)._database
        open_writer = database._open_writer

        def with_a_collision() -> sqlite3.Connection:
            database._open_writer = open_writer
            connection = open_writer()
            rows = 0

            def strike() -> int:
                nonlocal rows
                rows += 1
                if rows == 2:
                    raise OSError
                return 1

            connection.create_function("strike", 0, strike)
            connection.execute("CREATE TEMP TRIGGER strike BEFORE INSERT ON main.events BEGIN SELECT strike(); END")
            return connection

        database._open_writer = with_a_collision

    def disable_lock(self, instance: SessionPersistence) -> None:
        locks = backend_of(instance)._locks
        locks.own = lambda _: None

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            yield connection

    def _set_data(self, session_id: SessionId, seq: int, data: bytes) -> None:
        with self.changing() as connection:
            connection.execute(
                "UPDATE events SET data = CAST(? AS TEXT) WHERE session_id = ? AND seq = ?",
                (data, session_id, seq),
            )


@pytest.fixture
def sqlite_storage(tmp_path):
    return SqliteStorage(tmp_path / "sessions.db")


@pytest.fixture
def run():
    return asyncio.run
