"""The SQLite persistence as callers construct it.

Owns the construction. Refuses everything else: policy is the coordinator's, storage the backend's.
Flow: path -> SqliteBackend -> coordinator.
"""

from __future__ import annotations

import os
from typing import Any

from dsh_session_persistence import CoordinatedPersistence
from dsh_session_persistence_sqlite.backend import SqliteBackend
from dsh_session_persistence_sqlite.schema import JournalMode

__all__ = ["SqlitePersistence"]


class SqlitePersistence(CoordinatedPersistence):
    """Sessions in one SQLite database. Nothing is created or opened before the first call.

    Args:
        path: The database file; made absolute once, here.
        journal_mode: `wal`, or a rollback journal: `delete`, `truncate`, `persist`. On a network file system
            `wal` becomes `delete`, and the log says so.
        options: Those of `PersistenceCoordinator`.

    Example:
        >>> import tempfile
        >>> persistence = SqlitePersistence(path=tempfile.mkdtemp() + "/sessions.db")
    """

    def __init__(self, path: str | os.PathLike[str], *, journal_mode: JournalMode = "wal", **options: Any) -> None:
        super().__init__(SqliteBackend(path, journal_mode=journal_mode), **options)

    @classmethod
    def from_url(cls, rest: str) -> SqlitePersistence:
        """Open `sqlite:PATH`.

        Raises:
            ValueError: No path follows the colon, or SQLite's name for a database in memory does: two connections
                would not see the same one.
        """
        if not rest or rest == ":memory:":
            message = "sqlite: names a database file, as in sqlite:sessions.db; for memory there is memory:"
            raise ValueError(message)
        return cls(rest)
