"""Mutants that close an interrupted turn wrongly, or not for good."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from dsh_session import SessionEvent, SessionId
from dsh_session.repair import interrupted_turn_closers
from dsh_session_persistence.coordinated import CoordinatedPersistence
from dsh_session_persistence.coordinator import PersistenceCoordinator
from dsh_session_persistence.errors import SessionNotFound, StorageFailure
from dsh_session_persistence.memory import MemoryBackend
from dsh_session_persistence.slots import Slot
from dsh_session_persistence.stored import StoredPrefix, StoredSession
from dsh_session_persistence.testing.mutants.registry import breaks
from dsh_session_persistence.testing.mutants.round_trip import changed_event
from dsh_session_persistence.testing.samples import Log

__all__: list[str] = []


class Closes(PersistenceCoordinator):
    """Takes over with closers of its own."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        """Return what is appended to an interrupted log."""
        return list(interrupted_turn_closers(events))

    async def _take_over(self, slot: Slot) -> StoredSession:
        stored = await self._medium.take(slot)
        if stored is None:
            raise SessionNotFound(slot.session_id)
        added = renumbered(self.closers(stored.events), len(stored.events))
        await self.repair(slot, stored, added)
        events = (*stored.events, *added)
        slot.track(stored.header, cursor=len(events), materialized=True, loaded=events)
        return StoredSession(header=stored.header, events=events)

    async def repair(self, slot: Slot, stored: StoredPrefix, added: list[SessionEvent]) -> None:
        """Make the repair durable."""
        if stored.torn_marker is not None or added:
            await self._medium.repair(slot, stored.header, stored.torn_marker, added)


def renumbered(events: Sequence[SessionEvent], start: int) -> list[SessionEvent]:
    """Return events with contiguous seqs."""
    return [changed_event(event, seq=seq) for seq, event in enumerate(events, start)]


def with_data(event: SessionEvent, **changes: Any) -> SessionEvent:
    """Return an event with some fields of its data changed."""
    return changed_event(event, data={**event.data, **changes})


@breaks("test_an_interrupted_turn_is_closed")
class LeavesTurnsOpen(Closes):
    """Closes steps and calls only."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        return [event for event in super().closers(events) if event.type != "turn/end"]


@breaks("test_an_open_step_is_closed_before_its_turn")
class LeavesStepsOpen(Closes):
    """Closes turns only."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        return [event for event in super().closers(events) if event.type != "step/end"]


@breaks("test_the_work_of_an_interrupted_turn_is_kept")
class TruncatesToTheLastTurnEnd(MemoryBackend):
    """Takes an interrupted turn for a torn tail."""

    async def load_stored(self, session_id: SessionId) -> StoredPrefix | None:
        stored = await super().load_stored(session_id)
        if stored is None:
            return None
        ends = [event.seq + 1 for event in stored.events if event.type == "turn/end"]
        kept = max(ends, default=0)
        marker = stored.torn_marker if kept == len(stored.events) else kept + 1
        return StoredPrefix(header=stored.header, events=stored.events[:kept], torn_marker=marker)


@breaks("test_an_unanswered_call_gets_an_error_result")
class LeavesCallsUnanswered(Closes):
    """Closes the frame and not what it holds."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        return [event for event in super().closers(events) if event.type != "tool/result"]


@breaks("test_a_call_in_a_closed_step_is_answered_without_closing_a_step")
class AlwaysEndsAStep(Closes):
    """Closes a step whether or not one is open."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        added = super().closers(events)
        if added and all(event.type != "step/end" for event in added):
            added[-1:-1] = Log(step=1).step_end().events
        return added


@breaks("test_several_unanswered_calls_are_answered_in_order")
class AnswersBackwards(Closes):
    """Unwinds a stack."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        added = super().closers(events)
        results = [event for event in added if event.type == "tool/result"]
        return [*reversed(results), *added[len(results) :]]


@breaks("test_a_call_that_was_answered_out_of_order_is_not_answered_again")
class CountsResults(Closes):
    """Believes that results come in the order of the calls."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        calls = [event.data["callId"] for event in events if event.type == "tool/call"]
        answered = sum(event.type == "tool/result" for event in events)
        added = super().closers(events)
        results = [event for event in added if event.type == "tool/result"]
        renamed = [with_data(event, callId=call) for event, call in zip(results, calls[answered:], strict=False)]
        return [*renamed, *added[len(results) :]]


@breaks("test_a_started_call_is_told_from_one_that_never_started")
class SaysTheSameOfAllCalls(Closes):
    """Does not look whether a call had begun."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        content = [{"type": "text", "text": "interrupted"}]
        return [
            with_data(event, content=content) if event.type == "tool/result" else event
            for event in super().closers(events)
        ]


@breaks("test_closers_carry_the_time_of_the_last_real_event")
class ClosesNow(Closes):
    """Dates the closers when they are written."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        now_ms = int(time.time() * 1000)
        return [changed_event(event, time=now_ms) for event in super().closers(events)]


@breaks("test_closers_are_what_the_session_package_computes")
class ClosesInItsOwnWords(Closes):
    """Has a second opinion about how a turn is closed."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        return [with_data(event, closedBy="this backend") for event in super().closers(events)]


@breaks("test_closers_are_durable")
class ClosesInMemory(Closes):
    """Returns what it has not written."""

    async def repair(self, slot: Slot, stored: StoredPrefix, added: list[SessionEvent]) -> None:
        """Write nothing."""


@breaks("test_a_second_load_adds_nothing")
class ClosesAgain(Closes):
    """Closes what is closed already."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        interrupted = [event for event in events[-1:] if event.data.get("reason") == {"kind": "interrupted"}]
        return interrupted or super().closers(events)


@breaks("test_a_balanced_session_is_left_as_it_is")
class TouchesWhatItOwns(MemoryBackend):
    """Leaves a mark on the medium."""

    async def acquire(self, session_id: SessionId) -> None:
        await super().acquire(session_id)
        if session_id in self._medium.records:
            self._medium.records[session_id][0] += b" "


@breaks("test_a_repaired_session_goes_on")
class ForgetsItsClosers(PersistenceCoordinator):
    """Counts what was there before the repair."""

    async def _take_over(self, slot: Slot) -> StoredSession:
        before = await self._backend.load_stored(slot.session_id)
        taken = await super()._take_over(slot)
        slot.cursor = len(before.events) if before else 0
        return taken


@breaks("test_appending_to_an_unseen_session_repairs_it_first")
class AppendsToOpenTurns(PersistenceCoordinator):
    """Repairs in `load` alone."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        if slot.header is None and (stored := await self._medium.take(slot)):
            slot.track(stored.header, cursor=len(stored.events), materialized=True)
        await super()._append(slot, events)


@breaks("test_an_append_that_follows_the_closers_is_stored")
class WantsALoadFirst(PersistenceCoordinator):
    """Knows only what it has loaded."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        if slot.header is None:
            raise SessionNotFound(slot.session_id)
        await super()._append(slot, events)


@breaks("test_reading_repairs_nothing")
class ReadsByLoading(CoordinatedPersistence):
    """Has one way in."""

    async def read(self, session_id: SessionId) -> StoredSession:
        return await self.load(session_id)


@breaks("test_a_half_written_repair_is_finished_by_the_next_load")
class TakesACloserForAll(Closes):
    """Takes the trace of a repair for a whole one."""

    def closers(self, events: Sequence[SessionEvent]) -> list[SessionEvent]:
        repaired = any(event.data.get("isError") for event in events if event.type == "tool/result")
        return [] if repaired else super().closers(events)


@breaks("test_a_failed_repair_is_repeated")
class IgnoresAFailedRepair(Closes):
    """Returns a balanced log, written or not."""

    async def repair(self, slot: Slot, stored: StoredPrefix, added: list[SessionEvent]) -> None:
        try:
            await super().repair(slot, stored, added)
        except StorageFailure:
            slot.forget()


@breaks("test_a_header_alone_is_an_empty_session")
class TakesEmptyForAbsent(MemoryBackend):
    """Tests for truth where it should test for presence."""

    async def load_stored(self, session_id: SessionId) -> StoredPrefix | None:
        stored = await super().load_stored(session_id)
        return stored if stored and stored.events else None
