"""The shipped contract over a database, with a write-ahead log and with a rollback journal."""

import pytest

from dsh_session_persistence.testing import CoordinatorContract, PersistenceContract


class TestSqlite(PersistenceContract, CoordinatorContract):
    """Every clause, on a real database."""

    @pytest.fixture
    def storage(self, sqlite_storage):
        """Give the medium under test."""
        return sqlite_storage


class TestSqliteWithRollbackJournal(PersistenceContract):
    """Every clause of storage: the journal is where a crash differs."""

    @pytest.fixture
    def storage(self, sqlite_storage):
        """Give the medium under test."""
        sqlite_storage.journal_mode = "delete"
        return sqlite_storage
