"""What a storage declares about itself is true, and the contract as a whole is really run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from dsh_session_persistence.testing.clause import Clauses
from dsh_session_persistence.testing.samples import sid, turns
from dsh_session_persistence.testing.scenes import store_log
from dsh_session_persistence.testing.storage import ABILITIES, Storage, UnsupportedAbility

__all__ = ["Declarations"]

PROBES: dict[str, Callable[[Storage], Any]] = {
    "tear": lambda storage: storage.tear(sid("sample")),
    "damage": lambda storage: storage.damage(sid("sample"), 1),
    "pad_with_nul": lambda storage: storage.pad_with_nul(sid("sample")),
    "drop": lambda storage: storage.drop(sid("sample"), 1),
    "repeat": lambda storage: storage.repeat(sid("sample"), 1),
    "garble": lambda storage: storage.garble(sid("sample"), 1),
    "set_header": lambda storage: storage.set_header(sid("sample"), version=7),
    "add_header_key": lambda storage: storage.add_header_key(sid("sample"), "flavour", "new"),
    "add_event_key": lambda storage: storage.add_event_key(sid("sample"), 1, "flavour", "new"),
    "strip_events": lambda storage: storage.strip_events(sid("sample")),
    "image": lambda storage: storage.image(sid("sample")),
    "fail_in_the_middle": lambda storage: storage.fail_in_the_middle(storage.open()),
    "disable_lock": lambda storage: storage.disable_lock(storage.open()),
    "faults": lambda storage: storage.faults(storage.open()),
}


class Declarations(Clauses):
    """A declaration narrows the contract, so it is checked as a claim is."""

    def test_the_contract_is_not_skipped_as_a_whole(self, request: pytest.FixtureRequest) -> None:
        """A run in which nothing ran proves nothing."""
        try:
            storage = request.getfixturevalue("storage")
        except pytest.skip.Exception:
            storage = None
        assert storage is not None, "the fixture `storage` skips every clause"
        assert isinstance(storage, Storage)

    def test_only_known_abilities_are_declared_unsupported(self, storage: Storage) -> None:
        """A misspelled name would declare nothing."""
        assert storage.unsupported <= ABILITIES

    def test_some_ability_is_supported(self, storage: Storage) -> None:
        """A medium that can be neither torn nor damaged nor observed shows nothing of how it recovers."""
        assert ABILITIES - storage.unsupported

    def test_what_is_declared_unsupported_does_not_work(self, storage: Storage) -> None:
        """An ability that a medium has is tested; a declaration is no way around it."""
        asyncio.run(_store(storage))
        for ability in sorted(storage.unsupported & ABILITIES):
            with pytest.raises(UnsupportedAbility):
                PROBES[ability](storage)


async def _store(storage: Storage) -> None:
    await store_log(storage, turns())
