"""Mutants that write too early, too late or never, that hide failures, and that do not end."""

# ruff: noqa: ARG002 - what a mutant ignores is its fault

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from dsh_session import Session, SessionEvent, SessionId, SessionStore
from dsh_session_persistence.coordinator import PersistenceCoordinator
from dsh_session_persistence.errors import StorageFailure
from dsh_session_persistence.memory import MemoryBackend
from dsh_session_persistence.slots import Slot
from dsh_session_persistence.testing.mutants.adoption import Binds
from dsh_session_persistence.testing.mutants.registry import breaks
from dsh_session_persistence.write_behind import WriteBehind

__all__: list[str] = []

R = TypeVar("R")


# ---------------------------------------------------------------- window


@breaks("test_an_event_is_written_in_the_background_after_the_window")
class WaitsForTheFlush(PersistenceCoordinator):
    """Writes when it is asked to."""

    def _write_in_background(self, live: WriteBehind) -> None:
        """Do nothing."""


@breaks("test_nothing_is_written_before_the_window_has_passed")
class HasNoWindow(PersistenceCoordinator):
    """Writes as soon as it can."""

    def __init__(self, backend: MemoryBackend, **options: Any) -> None:
        super().__init__(backend, **{**options, "write_batch_max_delay_ms": 0})


@breaks("test_the_events_of_a_window_are_one_batch")
class WritesEventByEvent(Binds):
    """Has a batch of one."""

    async def _drain(self, slot: Slot, live: WriteBehind) -> None:
        await self.bind(slot, live)
        for event in self.pending(slot, live):
            await self._medium.store(slot, [event])


@breaks("test_the_window_is_fixed_from_the_first_pending_event")
class PutsTheWindowOff(PersistenceCoordinator):
    """Starts the window anew with each event."""

    def event(self, session: Session, event: SessionEvent) -> None:
        self._live[session].settle()
        super().event(session, event)


@breaks("test_a_second_window_follows_the_first")
class HasOneWindow(PersistenceCoordinator):
    """Writes in the background once."""

    def event(self, session: Session, event: SessionEvent) -> None:
        if session not in self.__dict__.get("had", ()):
            super().event(session, event)

    def _write_in_background(self, live: WriteBehind) -> None:
        self.__dict__.setdefault("had", set()).add(live.session)
        super()._write_in_background(live)


@breaks("test_many_pending_bytes_are_written_at_once")
class HoldsAnyAmount(PersistenceCoordinator):
    """Does not count bytes."""

    def __init__(self, backend: MemoryBackend, **options: Any) -> None:
        super().__init__(backend, **{**options, "max_pending_bytes": 1 << 60})


@breaks("test_a_session_without_a_running_loop_is_not_written_early")
class NeedsALoop(PersistenceCoordinator):
    """Cannot hear of a session outside a loop."""

    def created(self, session: Session) -> None:
        asyncio.get_running_loop()
        super().created(session)


@breaks("test_a_flush_waits_for_the_write_of_what_came_before_it")
class FlushesInTheBackground(PersistenceCoordinator):
    """Starts a write and says that it is done."""

    async def flush(self, session: Session) -> None:
        self._write_in_background(self._live[session])
        await asyncio.sleep(0)


@breaks("test_a_flush_covers_events_that_came_during_a_write")
class WaitsForTheWriteUnderWay(PersistenceCoordinator):
    """Takes the write under way for its own."""

    async def flush(self, session: Session) -> None:
        running = set(self._tasks)
        if running:
            await asyncio.wait(running)
        else:
            await super().flush(session)


@breaks("test_a_flush_of_nothing_new_writes_nothing")
class WritesItsLastBatchAgain(Binds):
    """Flushes something whatever happens."""

    async def _drain(self, slot: Slot, live: WriteBehind) -> None:
        await super()._drain(slot, live)
        await self._backend.append_batch(live.session.header, live.session.events[-1:], True)  # noqa: FBT003 - seam

    def _is_stored(self, live: WriteBehind) -> bool:
        return False


# ---------------------------------------------------------------- failures


@breaks("test_a_failed_flush_is_reported")
class SwallowsFailures(PersistenceCoordinator):
    """Logs where it should raise."""

    async def flush(self, session: Session) -> None:
        try:
            await super().flush(session)
        except StorageFailure:
            return


@breaks("test_a_failed_background_write_is_logged")
class FailsInSilence(PersistenceCoordinator):
    """Says nothing of what happens in the background."""

    def _in_background(self, live: WriteBehind, operation: Callable[[Slot], Awaitable[None]]) -> None:
        self._spawn(live.session.id, operation).add_done_callback(lambda task: task.exception())


class RemembersFailures(PersistenceCoordinator):
    """Notes what failed in the background."""

    def _in_background(self, live: WriteBehind, operation: Callable[[Slot], Awaitable[None]]) -> None:
        failures: list[BaseException] = self.__dict__.setdefault("failures", [])

        def note(task: asyncio.Task[None]) -> None:
            if error := task.exception():
                failures.append(error)

        self._spawn(live.session.id, operation).add_done_callback(note)


@breaks("test_a_failed_background_write_that_succeeds_later_is_not_raised")
class NeverForgives(RemembersFailures):
    """Raises what was wrong once, though it is durable now."""

    async def flush(self, session: Session) -> None:
        await super().flush(session)
        for error in self.__dict__.get("failures", ()):
            raise error


@breaks("test_a_background_write_that_keeps_failing_is_raised_by_the_flush")
class LeavesItToTheBackground(RemembersFailures):
    """Does not try where the background has failed."""

    async def flush(self, session: Session) -> None:
        if not self.__dict__.get("failures"):
            await super().flush(session)


@breaks("test_the_failure_of_one_session_is_not_raised_by_another")
class BlamesEverybody(PersistenceCoordinator):
    """Raises the last failure, whosever it was."""

    async def flush(self, session: Session) -> None:
        try:
            await super().flush(session)
        except StorageFailure as error:
            self.__dict__["last"] = error
            raise
        await asyncio.sleep(0.01)
        if "last" in self.__dict__:
            raise self.__dict__["last"]


@breaks("test_a_cancelled_flush_leaves_its_write_alone", "test_a_cancelled_append_leaves_its_write_alone")
class CancelsWrites(PersistenceCoordinator):
    """Lets a waiter take the write along."""

    async def _run(self, session_id: SessionId, operation: Callable[[Slot], Awaitable[R]]) -> R:
        return await self._spawn(session_id, operation)


@breaks("test_a_cancelled_load_leaves_the_session_usable")
class LocksAfterCancellation(PersistenceCoordinator):
    """Takes a cancelled caller for the end of a session."""

    async def _run(self, session_id: SessionId, operation: Callable[[Slot], Awaitable[R]]) -> R:
        if self.__dict__.get("cancelled"):
            raise StorageFailure("waiting", TimeoutError())
        try:
            return await super()._run(session_id, operation)
        except asyncio.CancelledError:
            self.__dict__["cancelled"] = True
            raise


@breaks("test_no_failure_is_left_unobserved")
class LooksAway(PersistenceCoordinator):
    """Never asks a background task how it went."""

    def _in_background(self, live: WriteBehind, operation: Callable[[Slot], Awaitable[None]]) -> None:
        self._spawn(live.session.id, operation)


# ---------------------------------------------------------------- disposal


class Ends(PersistenceCoordinator):
    """Closes in steps, each of which can be broken."""

    async def drains(self) -> list[Exception]:
        """Store what is pending and return what failed."""
        return [error for live in list(self._live.values()) if (error := await self._last_drain(live))]

    async def waits(self) -> None:
        """Wait for everything that runs."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def closes(self) -> list[Exception]:
        """Close the backend and return what failed."""
        try:
            await self._backend.close()
        except Exception as error:  # noqa: BLE001 - as the coordinator that this one imitates
            return [error]
        return []

    async def _close(self) -> None:
        failures = await self.drains()
        await self.waits()
        failures += await self.closes()
        self.ends(failures)

    def ends(self, failures: list[Exception]) -> None:
        """Report."""
        self._live.clear()
        if failures:
            raise ExceptionGroup("not everything could be stored and closed", failures)


@breaks("test_closing_stores_what_is_pending")
class DropsWhatIsPending(Ends):
    """Closes without a drain."""

    async def drains(self) -> list[Exception]:
        for live in self._live.values():
            live.settle()
        return []


@breaks("test_closing_reports_a_failed_drain")
class DrainsInSilence(Ends):
    """Does what it can and says nothing."""

    async def drains(self) -> list[Exception]:
        await super().drains()
        return []


@breaks("test_closing_reports_all_failures_together")
class StopsAtTheFirstFailure(Ends):
    """Drains until something fails."""

    async def drains(self) -> list[Exception]:
        for live in list(self._live.values()):
            if error := await self._last_drain(live):
                return [error]
        return []


@breaks("test_a_failed_drain_does_not_keep_the_medium_open")
class LeavesTheMediumOpen(Ends):
    """Closes only after everything went well."""

    async def drains(self) -> list[Exception]:
        failures = await super().drains()
        if failures:
            raise ExceptionGroup("not everything could be stored", failures)
        return []


@breaks("test_a_failing_close_does_not_hide_a_failed_drain")
class ReportsTheLastFailure(Ends):
    """Has room for one failure."""

    def ends(self, failures: list[Exception]) -> None:
        super().ends(failures[-1:])


@breaks("test_a_failing_close_is_reported")
class ClosesInSilence(Ends):
    """Thinks that nobody cares how a close went."""

    async def closes(self) -> list[Exception]:
        await super().closes()
        return []


@breaks("test_an_instance_is_closed_after_a_failing_close")
class StaysHalfOpen(PersistenceCoordinator):
    """Takes a failed close for none."""

    async def aclose(self) -> None:
        try:
            await super().aclose()
        except ExceptionGroup:
            self._closing = None
            raise


@breaks("test_closing_waits_for_an_adoption_under_way")
class SkipsWhatIsNotBound(Ends):
    """Drains the sessions that it has bound, and waits for nothing."""

    async def drains(self) -> list[Exception]:
        return []

    async def waits(self) -> None:
        """Wait for nothing."""


@breaks("test_closing_waits_for_a_write_under_way")
class ClosesUnderAWrite(Ends):
    """Waits for nothing."""

    async def waits(self) -> None:
        """Wait for nothing."""


@breaks("test_closing_leaves_no_task_behind")
class LeavesATask(PersistenceCoordinator):
    """Has a watcher that nobody ends."""

    def attach(self, store: SessionStore) -> None:
        super().attach(store)
        self.__dict__["watcher"] = asyncio.get_running_loop().create_task(asyncio.sleep(3_600))


@breaks("test_nothing_is_written_after_closing")
class WritesAfterTheEnd(Ends):
    """Keeps listening."""

    def attach(self, store: SessionStore) -> None:
        super().attach(store)
        self._stores[store] = lambda: None

    def ends(self, failures: list[Exception]) -> None:
        """Keep the sessions."""


@breaks("test_a_cancelled_close_goes_on")
class ClosesInItsCaller(PersistenceCoordinator):
    """Ends where its caller ends."""

    async def aclose(self) -> None:
        if not self.__dict__.get("ended"):
            self.__dict__["ended"] = True
            await self._close()


@breaks("test_an_empty_session_whose_id_was_taken_over_leaves_in_peace")
class ReportsWhatHasNothingToStore(PersistenceCoordinator):
    """Looks at who has the id before it looks at whether anything is pending."""

    def _is_stored(self, live: WriteBehind) -> bool:
        live.displaced = False
        return super()._is_stored(live)
