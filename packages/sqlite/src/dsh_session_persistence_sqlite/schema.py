"""The tables, and connections that are fit to use them.

Owns the schema, its version and the settings of a connection. Refuses rows. Flow: path -> checked connection.
Source: the RFC on session persistence.
"""

from __future__ import annotations

import logging
import os
import secrets
import sqlite3
from contextlib import suppress
from typing import Literal, get_args
from urllib.parse import quote

from dsh_session import UnsupportedVersion
from dsh_session_persistence.system import make_private
from dsh_session_persistence_sqlite.mounts import network_file_system

__all__ = ["SCHEMA_VERSION", "JournalMode", "UnsupportedSchema", "check_journal_mode", "open_reader", "open_writer"]

JournalMode = Literal["wal", "delete", "truncate", "persist"]

SCHEMA_VERSION = 4

_TABLES = (
    """CREATE TABLE sessions (
  id TEXT PRIMARY KEY NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  cwd TEXT,
  parent_session TEXT,
  seed_length INTEGER
) STRICT""",
    """CREATE TABLE events (
  session_id TEXT NOT NULL REFERENCES sessions (id),
  seq INTEGER NOT NULL,
  type TEXT NOT NULL,
  time INTEGER NOT NULL,
  data TEXT NOT NULL,
  source_event_seqs TEXT,
  surface_op TEXT,
  PRIMARY KEY (session_id, seq)
) STRICT""",
)
_JOURNAL_SIZE_LIMIT_BYTES = 16 * 1024 * 1024
_BUSY_TIMEOUT_S = 10.0
_SYNCHRONOUS = {"FULL": 2, "EXTRA": 3}

_log = logging.getLogger("dsh_session_persistence_sqlite")


class UnsupportedSchema(UnsupportedVersion):
    """A database is of another schema version, or of another program.

    Attributes:
        path: The database.
        found: Its `user_version`.
        supported: The version that this build reads and writes.
    """

    def __init__(self, path: str, found: int) -> None:
        super().__init__(found, SCHEMA_VERSION)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} has schema version {self.found}; this build reads and writes {self.supported}"


def check_journal_mode(mode: str) -> JournalMode:
    """Return a journal mode, or raise `ValueError`; `off` and `memory` would lose what was acknowledged."""
    for known in get_args(JournalMode):
        if mode == known:
            return mode  # type: ignore[return-value] # it is one of them
    message = f"journal_mode {mode!r} is none of {', '.join(get_args(JournalMode))}"
    raise ValueError(message)


def open_writer(path: str, journal_mode: JournalMode) -> sqlite3.Connection:
    """Open a database for writing; create it, private whatever the umask, if it is missing.

    Raises:
        UnsupportedSchema: It is of another schema version.
        sqlite3.Error: SQLite refused.
        OSError: The file cannot be created.
    """
    mode = _suitable(path, journal_mode)
    _create_private(path)
    connection = _connect(path)
    try:
        _check_or_create_schema(connection, path)
        _make_durable(connection, mode)
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(path: str) -> sqlite3.Connection | None:
    """Open a database for reading; None if there is none, or none with our tables yet.

    Texts come back as bytes: what is no UTF-8 is a matter of one row.

    Raises:
        UnsupportedSchema: It is of another schema version.
        sqlite3.Error: SQLite refused.
    """
    if not os.path.exists(path):  # noqa: PTH110 - a string, as SQLite takes it
        return None
    connection = _connect(path)
    try:
        connection.execute("PRAGMA query_only = ON")
        if not _has_schema(connection, path):
            connection.close()
            return None
        connection.text_factory = bytes
    except BaseException:
        connection.close()
        raise
    return connection


def _make_durable(connection: sqlite3.Connection, mode: JournalMode) -> None:
    """Set what makes a commit outlive a power loss, and read it back: SQLite ignores what it does not support."""
    found = connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()[0]
    if found != mode:
        raise sqlite3.OperationalError(f"journal mode {mode} was refused, {found} stays")
    # A deleted journal that comes back after a power loss would undo what was acknowledged.
    level = "EXTRA" if mode == "delete" else "FULL"
    connection.execute(f"PRAGMA synchronous = {level}")
    if connection.execute("PRAGMA synchronous").fetchone()[0] != _SYNCHRONOUS[level]:
        raise sqlite3.OperationalError(f"synchronous = {level} was refused")
    connection.execute(f"PRAGMA journal_size_limit = {_JOURNAL_SIZE_LIMIT_BYTES}")


def _connect(path: str) -> sqlite3.Connection:
    # Reading may have to roll back a hot journal, so a reader's file is opened for writing too.
    return sqlite3.connect(
        f"file:{quote(path)}?mode=rw",
        uri=True,
        timeout=_BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )


def _suitable(path: str, journal_mode: JournalMode) -> JournalMode:
    if journal_mode != "wal":
        return journal_mode
    file_system = network_file_system(path)
    if file_system is None:
        return "wal"
    _log.warning(
        "%s is on %s, where a write-ahead log cannot be shared: a rollback journal is used", path, file_system
    )
    return "delete"


def _has_schema(connection: sqlite3.Connection, path: str) -> bool:
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found == SCHEMA_VERSION:
        return True
    empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if found == 0 and empty:
        return False
    raise UnsupportedSchema(path, found)


def _check_or_create_schema(connection: sqlite3.Connection, path: str) -> None:
    if _has_schema(connection, path):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _has_schema(connection, path):
            for table in _TABLES:
                connection.execute(table)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _create_private(path: str) -> None:
    """Create an empty file if there is none. It is closed before it has its name.

    Closing any descriptor of a database drops the locks that SQLite holds on it in this process.
    """
    if os.path.exists(path):  # noqa: PTH110 - a string, as SQLite takes it
        return
    temporary = f"{path}.{secrets.token_hex(8)}"
    fd = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        make_private(fd)
    finally:
        os.close(fd)
    try:
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)  # noqa: PTH108 - a string, as above
