"""From the driver's errors to the seam's."""

import sqlite3

import pytest

from dsh_session_persistence import ConcurrentWriter, SessionExists, StorageFailure
from dsh_session_persistence_sqlite.driver_errors import translate


def _integrity(name, text):
    error = sqlite3.IntegrityError(text)
    error.sqlite_errorname = name
    return error


@pytest.mark.parametrize(
    ("error", "session_id", "expected"),
    [
        (
            _integrity("SQLITE_CONSTRAINT_PRIMARYKEY", "UNIQUE constraint failed: sessions.id"),
            "sample",
            SessionExists,
        ),
        (
            _integrity("SQLITE_CONSTRAINT_UNIQUE", "UNIQUE constraint failed: sessions.id"),
            "sample",
            SessionExists,
        ),
        (
            _integrity("SQLITE_CONSTRAINT_PRIMARYKEY", "UNIQUE constraint failed: events.session_id, events.seq"),
            "sample",
            ConcurrentWriter,
        ),
        (_integrity("SQLITE_CONSTRAINT_PRIMARYKEY", "UNIQUE constraint failed: sessions.id"), None, StorageFailure),
        (_integrity("SQLITE_CONSTRAINT_DATATYPE", "cannot store TEXT value"), "sample", StorageFailure),
        (_integrity("SQLITE_CONSTRAINT_TRIGGER", "refused"), "sample", StorageFailure),
        (sqlite3.OperationalError("database is locked"), "sample", StorageFailure),
        (sqlite3.OperationalError("database or disk is full"), "sample", StorageFailure),
        (sqlite3.OperationalError("disk I/O error"), None, StorageFailure),
        (sqlite3.DatabaseError("file is not a database"), None, StorageFailure),
        (sqlite3.ProgrammingError("Cannot operate on a closed database."), "sample", StorageFailure),
        (PermissionError(13, "Permission denied"), "sample", StorageFailure),
        (TimeoutError("another writer keeps its turn"), "sample", StorageFailure),
    ],
)
def test_each_error_of_the_driver_has_its_meaning(error, session_id, expected):
    """A caller catches the seam's errors and never needs the driver's."""
    translated = translate(error, "storing", session_id)
    assert type(translated) is expected
    if isinstance(translated, StorageFailure):
        assert translated.cause is error
    else:
        assert translated.session_id == session_id
