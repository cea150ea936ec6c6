"""The reference keeps the contract."""

import pytest

from dsh_session_persistence.testing import CoordinatorContract, MemoryStorage, PersistenceContract


class TestMemory(PersistenceContract, CoordinatorContract):
    """Every clause, on sessions in memory."""

    @pytest.fixture
    def storage(self):
        """Give a fresh medium."""
        return MemoryStorage()
