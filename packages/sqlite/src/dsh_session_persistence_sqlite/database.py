"""The connections of one instance: one that writes, and one a reading thread.

Owns their lifetimes, transactions and turns. Refuses rows. After an error of SQLite a connection is not trusted
again: the next write or read opens another. Flow: work -> turn, transaction -> commit, or rollback.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from dsh_session_persistence import ConcurrentWriter
from dsh_session_persistence_sqlite.lock import Locks
from dsh_session_persistence_sqlite.schema import JournalMode, open_reader, open_writer

__all__ = ["Database"]

R = TypeVar("R")


class Database:
    """One database file.

    Args:
        path: Absolute.
        journal_mode: See `SqlitePersistence`.
        locks: Those of the instance.
    """

    def __init__(self, path: str, journal_mode: JournalMode, locks: Locks) -> None:
        self.path = path
        self._journal_mode = journal_mode
        self._locks = locks
        self._writer: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._readers = threading.local()
        self._all_readers: list[_Reader] = []

    def exists(self) -> bool:
        """Return whether there is a database."""
        return os.path.exists(self.path)  # noqa: PTH110 - a string, as SQLite takes it

    def write(self, work: Callable[[sqlite3.Connection], R]) -> R:
        """Run `work` in a transaction: all that it does is committed durably, or nothing of it.

        Only ever used on the one writing thread.

        Raises:
            ConcurrentWriter: The file is another than the one that was opened.
            sqlite3.Error: SQLite failed; nothing is stored.
            OSError: The file or the lock cannot be opened.
        """
        if self._writer is None:
            _make_private_folder(os.path.dirname(self.path))  # noqa: PTH120 - a string, as SQLite takes it
        self._locks.take_turn()
        try:
            connection = self._open_writer()
            try:
                connection.execute("BEGIN IMMEDIATE")
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException as error:
                self._roll_back(connection, error)
                raise
        finally:
            self._locks.end_turn()
        return result

    def _roll_back(self, connection: sqlite3.Connection, error: BaseException) -> None:
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.IntegrityError):
            self._drop_writer()

    def read(self, work: Callable[[sqlite3.Connection], R], default: R) -> R:
        """Run `work` on this thread's reading connection; return `default` if there is no database.

        Raises:
            UnsupportedSchema: The database is of another schema version.
            sqlite3.Error: SQLite failed.
        """
        reader: _Reader | None = getattr(self._readers, "reader", None)
        identity = _identity(self.path)
        if reader is not None and reader.identity != identity:
            self._drop_reader(reader)
            reader = None
        if reader is None:
            connection = open_reader(self.path)
            if connection is None:
                return default
            reader = self._readers.reader = _Reader(connection, identity)
            self._all_readers.append(reader)
        try:
            with reader.lock:
                return work(reader.connection)
        except sqlite3.Error:
            self._drop_reader(reader)
            raise

    def close(self) -> None:
        """Empty the write-ahead log into the database, as far as no other instance needs it, and close."""
        while self._all_readers:
            self._all_readers.pop().close()
        if self._writer is not None:
            self._locks.take_turn()
            try:
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                self._drop_writer()
                self._locks.end_turn()

    def abandon(self) -> None:
        """Close all connections as they are."""
        while self._all_readers:
            self._all_readers.pop().close()
        self._drop_writer()

    def _open_writer(self) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = open_writer(self.path, self._journal_mode)
            self._identity = _identity(self.path)
        elif _identity(self.path) != self._identity:
            self._drop_writer()
            raise ConcurrentWriter(self.path, "the database file was replaced")
        return self._writer

    def _drop_reader(self, reader: _Reader) -> None:
        """Close this thread's reading connection; the next read opens another."""
        self._readers.reader = None
        with suppress(ValueError):  # `close` may have taken it
            self._all_readers.remove(reader)
        with suppress(sqlite3.Error):
            reader.close()

    def _drop_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(sqlite3.Error):
                writer.close()


class _Reader:
    """A connection for reading, and a lock: it is never closed while it is used."""

    def __init__(self, connection: sqlite3.Connection, identity: tuple[int, int] | None) -> None:
        self.connection = connection
        self.identity = identity
        self.lock = threading.Lock()

    def close(self) -> None:
        with self.lock:
            self.connection.close()


def _make_private_folder(path: str) -> None:
    """Create a folder and those above it, as far as they are missing, private whatever the umask."""
    if os.path.isdir(path):  # noqa: PTH112 - a string, as SQLite takes it
        return
    _make_private_folder(os.path.dirname(path))  # noqa: PTH120 - as above
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)  # noqa: PTH102 - as above
        os.chmod(path, 0o700)  # noqa: PTH101 - as above


def _identity(path: str) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)  # noqa: PTH116 - a string, as SQLite takes it
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
