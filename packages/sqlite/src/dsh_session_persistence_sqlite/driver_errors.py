"""What an error of the driver means to the seam.

Owns the table. Refuses to recover. Flow: sqlite3.Error or OSError -> the seam's error.
"""

from __future__ import annotations

import sqlite3

from dsh_session import SessionId
from dsh_session_persistence import ConcurrentWriter, SessionExists, StorageFailure

__all__ = ["translate"]

_TAKEN = frozenset({"SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_UNIQUE"})


def translate(error: Exception, doing: str, session_id: SessionId | None = None) -> Exception:
    """Return the seam's error for an error of SQLite or of the operating system.

    Args:
        error: What was caught.
        doing: What was being done, for a message.
        session_id: The session that was written, if one was.
    """
    if session_id is not None and isinstance(error, sqlite3.IntegrityError):
        name = getattr(error, "sqlite_errorname", "")
        if name in _TAKEN and "sessions.id" in str(error):
            return SessionExists(session_id)
        if name in _TAKEN:
            return ConcurrentWriter(session_id, "somebody else has stored events of it")
    return StorageFailure(doing, error)
