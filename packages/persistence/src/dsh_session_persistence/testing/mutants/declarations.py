"""Mutants that declare what is not true, and one that runs nothing."""

from __future__ import annotations

from typing import ClassVar

import pytest

from dsh_session_persistence.testing.memory_storage import MemoryStorage
from dsh_session_persistence.testing.mutants.registry import breaks, enlist
from dsh_session_persistence.testing.storage import ABILITIES, Storage

__all__: list[str] = []


@breaks("test_only_known_abilities_are_declared_unsupported")
class Misspells(MemoryStorage):
    """Declares something that does not exist."""

    unsupported: ClassVar[frozenset[str]] = frozenset({"teer"})


@breaks("test_some_ability_is_supported")
class DeclaresEverything(MemoryStorage):
    """Declares all that it has."""

    unsupported: ClassVar[frozenset[str]] = ABILITIES


@breaks("test_what_is_declared_unsupported_does_not_work")
class DeclaresWhatWorks(MemoryStorage):
    """Hides an ability that it has."""

    unsupported: ClassVar[frozenset[str]] = frozenset({"tear"})


def skips() -> Storage:
    """Skip instead of giving a storage."""
    pytest.skip("no server")


enlist(skips, "test_the_contract_is_not_skipped_as_a_whole")
