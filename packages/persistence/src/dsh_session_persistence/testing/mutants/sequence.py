"""Mutants that let holes, repetitions, halves and disorder into a log."""

# ruff: noqa: ARG002 - what a mutant ignores is its fault

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

from dsh_session import SessionEvent, SessionHeader, SessionId
from dsh_session_persistence.coordinated import CoordinatedPersistence
from dsh_session_persistence.coordinator import PersistenceCoordinator
from dsh_session_persistence.errors import ConcurrentWriter, SequenceMismatch, SessionExists, StorageFailure
from dsh_session_persistence.medium import Medium
from dsh_session_persistence.memory import MemoryBackend, MemoryMedium
from dsh_session_persistence.slots import Slot
from dsh_session_persistence.stored import StoredSession
from dsh_session_persistence.testing.mutants.registry import breaks

__all__ = ["BlindBackend", "MovesTheCursorAnyway"]

R = TypeVar("R")


class BlindBackend(MemoryBackend):
    """Compares no tail: what comes is appended."""

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        records = self._medium.records.get(header.id, [header.line])
        self._medium.records[header.id] = [*records, *(event.line for event in events)]
        self._medium.owners[header.id] = self


@breaks("test_a_batch_that_skips_a_seq_is_refused", backend=BlindBackend)
class ChecksNothing(PersistenceCoordinator):
    """Stores what comes."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        if slot.header is None:
            await self._take_over(slot)
        await self._medium.store(slot, events)


@breaks("test_a_gap_within_a_batch_is_refused")
class ChecksTheFirstEventOnly(ChecksNothing):
    """Trusts a batch whose beginning is right."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        if slot.header is not None and events[0].seq != slot.cursor:
            raise SequenceMismatch(slot.cursor, events[0].seq)
        await super()._append(slot, events)


@breaks("test_a_repeated_batch_is_refused")
class TakesRepetitionsForRetries(PersistenceCoordinator):
    """Says yes to what is stored already."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        if slot.header is None or events[-1].seq >= slot.cursor:
            await super()._append(slot, events)


@breaks("test_an_event_repeated_within_a_batch_is_refused")
class DropsRepetitions(PersistenceCoordinator):
    """Mends a batch in silence."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        await super()._append(slot, list({event.seq: event for event in events}.values()))


@breaks("test_the_first_event_of_a_session_has_seq_zero", backend=BlindBackend)
class BeginsAnywhere(ChecksNothing):
    """Takes the first batch as it is."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        if slot.materialized:
            await PersistenceCoordinator._append(self, slot, events)
        else:
            await super()._append(slot, events)


@breaks("test_a_refused_batch_does_not_poison_the_next", "test_a_failed_append_does_not_poison_the_next_operation")
class Poisons(PersistenceCoordinator):
    """Repeats the first error for ever."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        poison: dict[SessionId, Exception] = self.__dict__.setdefault("poison", {})
        if slot.session_id in poison:
            raise poison[slot.session_id]
        try:
            await super()._append(slot, events)
        except Exception as error:
            poison[slot.session_id] = error
            raise


@breaks("test_a_fresh_instance_knows_where_the_log_ends")
class StartsCountingAtZero(PersistenceCoordinator):
    """Counts what it has written itself."""

    async def _take_over(self, slot: Slot) -> StoredSession:
        stored = await super()._take_over(slot)
        slot.cursor = 0
        return stored


@breaks("test_a_write_that_fails_in_the_middle_leaves_nothing")
class WritesOneByOne(MemoryBackend):
    """Has no transaction."""

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        records = self._medium.records.setdefault(header.id, [header.line])
        if events[0].seq != len(records) - 1:
            raise SequenceMismatch(len(records) - 1, events[0].seq)
        self._medium.owners[header.id] = self
        for event in events:
            records.append(event.line)


class MovesTheCursor(Medium):
    """Counts events before they are stored."""

    async def store(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        try:
            await super().store(slot, events)
        except StorageFailure:
            slot.cursor += len(events)
            raise


@breaks(
    "test_a_failed_batch_can_be_appended_again",
    "test_a_failed_flush_loses_nothing",
    "test_a_failed_background_write_keeps_its_batch_in_order",
)
class MovesTheCursorAnyway(PersistenceCoordinator):
    """Takes a failed batch for a stored one."""

    def __init__(self, backend: MemoryBackend, **options: Any) -> None:
        super().__init__(backend, **options)
        self._medium = MovesTheCursor(backend, self._slots)


@breaks("test_a_first_write_that_fails_creates_no_session")
class WritesTheHeaderFirst(MemoryBackend):
    """Creates in one step and appends in another."""

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        if not materialized:
            if header.id in self._medium.records:
                raise SessionExists(header.id)
            self._medium.records[header.id] = [header.line]
        await super().append_batch(header, events, materialized=True)


@breaks("test_appends_run_in_the_order_of_the_calls")
class LetsOddOnesWait(CoordinatedPersistence):
    """Orders calls by luck."""

    async def append(self, session_id: SessionId, events: Iterable[SessionEvent]) -> None:
        batch = list(events)
        if batch[0].seq % 2:
            await asyncio.sleep(0)
        await super().append(session_id, batch)


@breaks("test_writes_of_one_session_never_overlap", "test_flushes_at_once_store_once")
class HasNoOrder(PersistenceCoordinator):
    """Lets operations on one id run side by side."""

    async def _serialized(self, slot: Slot, operation: Callable[[Slot], Awaitable[R]]) -> R:
        return await operation(slot)


@breaks("test_sessions_do_not_wait_for_each_other", "test_a_slow_session_holds_up_no_other")
class HasOneQueue(PersistenceCoordinator):
    """Lets all sessions wait for each other."""

    async def _serialized(self, slot: Slot, operation: Callable[[Slot], Awaitable[R]]) -> R:
        queue: asyncio.Lock = self.__dict__.setdefault("queue", asyncio.Lock())
        async with queue:
            return await operation(slot)


@breaks("test_a_stale_writer_without_a_lock_is_stopped_at_the_write")
@breaks("test_a_live_session_that_comes_back_to_a_changed_log_is_stopped")
class ComparesNoTail(BlindBackend):
    """Relies on locks alone."""


@breaks("test_a_writer_that_comes_back_to_a_changed_session_is_stopped", backend=BlindBackend)
class RemembersTooLong(PersistenceCoordinator):
    """Believes, after it gave a session up, what it knew before."""

    async def _give_up_idle(self, slot: Slot) -> None:
        if slot.users == 1:
            await self._medium.give_up(slot)


@breaks("test_a_session_that_was_given_up_is_taken_again")
class NeverComesBack(PersistenceCoordinator):
    """Cannot take again what it gave up."""

    async def _give_up_idle(self, slot: Slot) -> None:
        self.__dict__.setdefault("gone", set()).add(slot.session_id)
        await super()._give_up_idle(slot)

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        if slot.session_id in self.__dict__.get("gone", ()):
            raise ConcurrentWriter(slot.session_id)
        await super()._append(slot, events)


@breaks("test_a_session_that_was_continued_elsewhere_can_be_taken_back")
class DistrustsWhatItLoads(MemoryBackend):
    """Compares a session that it takes back with what it remembers, though it has been read anew."""

    def __init__(self, medium: MemoryMedium) -> None:
        super().__init__(medium)
        self._remembered: dict[SessionId, int] = {}

    async def release(self, session_id: SessionId) -> None:
        self._remembered[session_id] = len(self._medium.records.get(session_id, ()))
        await super().release(session_id)

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        remembered = self._remembered.pop(header.id, None)
        if remembered is not None and remembered != len(self._medium.records[header.id]):
            raise ConcurrentWriter(header.id)
        await super().append_batch(header, events, materialized)
