"""The shipped contract over files."""

import pytest

from dsh_session_persistence.testing import CoordinatorContract, PersistenceContract


class TestJsonl(PersistenceContract, CoordinatorContract):
    """Every clause, on real files."""

    @pytest.fixture
    def storage(self, jsonl_storage):
        """Give the medium under test."""
        return jsonl_storage
