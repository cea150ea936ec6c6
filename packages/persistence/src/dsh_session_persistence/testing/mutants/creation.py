"""Mutants that store too early, list wrongly, or let an id be used twice."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import Any

from dsh_session import SessionEvent, SessionHeader, SessionId
from dsh_session_persistence.coordinated import CoordinatedPersistence
from dsh_session_persistence.coordinator import PersistenceCoordinator
from dsh_session_persistence.errors import SessionExists, SessionNotFound
from dsh_session_persistence.memory import MemoryBackend
from dsh_session_persistence.slots import Slot
from dsh_session_persistence.stored import StoredSession
from dsh_session_persistence.testing.faults import backend_of
from dsh_session_persistence.testing.mutants.registry import breaks
from dsh_session_persistence.testing.mutants.round_trip import changed_header
from dsh_session_persistence.testing.samples import header as sample_header

__all__: list[str] = []


@breaks("test_a_created_session_is_not_stored_before_its_first_event")
class StoresTheHeaderAtOnce(CoordinatedPersistence):
    """Materializes in `create`."""

    async def create(self, header: SessionHeader) -> None:
        await super().create(header)
        backend: Any = backend_of(self)
        backend._medium.records[header.id] = [header.line]


@breaks("test_a_created_session_is_not_listed_before_its_first_event")
class ListsWhatWasAnnounced(CoordinatedPersistence):
    """Lists from what it knows instead of from the medium."""

    async def create(self, header: SessionHeader) -> None:
        await super().create(header)
        self.announced = header

    async def list(self) -> builtins.list[SessionHeader]:
        return [self.announced]


@breaks("test_a_session_is_listed_from_its_first_event_on")
class ListsFinishedTurns(MemoryBackend):
    """Thinks that a session begins with its first answer."""

    async def list(self) -> builtins.list[SessionHeader]:
        return [head for head in await super().list() if len(self._medium.records[head.id]) > 3]


@breaks("test_the_list_carries_every_header_field")
class ListsIdsOnly(MemoryBackend):
    """Lists a part of the header."""

    async def list(self) -> builtins.list[SessionHeader]:
        return [changed_header(head, cwd=None) for head in await super().list()]


@breaks("test_the_list_is_sorted_by_creation_then_id")
class ListsInTheOrderOfIds(MemoryBackend):
    """Lists as a folder would."""

    async def list(self) -> builtins.list[SessionHeader]:
        return sorted(await super().list(), key=lambda head: head.id)


@breaks("test_an_id_is_created_once_in_an_instance")
class ForgetsWhatItCreated(PersistenceCoordinator):
    """Looks for an id on the medium only."""

    async def _create(self, slot: Slot, header: SessionHeader) -> None:
        slot.forget()
        await super()._create(slot, header)


@breaks("test_a_stored_id_is_not_created_again")
class DoesNotLookForStoredIds(PersistenceCoordinator):
    """Looks for an id in memory only."""

    async def _create(self, slot: Slot, header: SessionHeader) -> None:
        if slot.header is not None:
            raise SessionExists(header.id)
        slot.track(header, cursor=0, materialized=False)


@breaks("test_of_two_instances_that_create_an_id_one_stores_it")
class ReplacesOnCreation(MemoryBackend):
    """Opens with a truncating mode."""

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        if not materialized:
            self._medium.records.pop(header.id, None)
        await super().append_batch(header, events, materialized)

    async def acquire(self, session_id: SessionId) -> None:
        """Take nothing."""


@breaks("test_appending_to_a_missing_session_is_refused")
class MakesUpAHeader(CoordinatedPersistence):
    """Creates what is missing."""

    async def append(self, session_id: SessionId, events: Iterable[SessionEvent]) -> None:
        try:
            await super().append(session_id, events)
        except SessionNotFound:
            await self.create(sample_header(session_id))
            await super().append(session_id, events)


@breaks("test_loading_a_missing_session_is_refused")
class LoadsNothingAsEmpty(CoordinatedPersistence):
    """Takes an absent session for an empty one."""

    async def load(self, session_id: SessionId) -> StoredSession:
        try:
            return await super().load(session_id)
        except SessionNotFound:
            return StoredSession(header=sample_header(session_id), events=())


@breaks("test_reading_a_missing_session_is_refused")
class ReadsNothingAsEmpty(CoordinatedPersistence):
    """Takes an absent session for an empty one."""

    async def read(self, session_id: SessionId) -> StoredSession:
        try:
            return await super().read(session_id)
        except SessionNotFound:
            return StoredSession(header=sample_header(session_id), events=())


@breaks("test_an_append_of_nothing_is_no_operation")
class LooksUpForNothing(PersistenceCoordinator):
    """Does everything that an append does, with no events."""

    async def append(self, session_id: SessionId, events: Iterable[SessionEvent]) -> None:
        batch = tuple(events)
        await self._run(session_id, lambda slot: self._append(slot, batch))
