"""Closing reaches quiescence, and tells everything that went wrong on the way."""

from __future__ import annotations

import asyncio

import pytest

from dsh_session import SessionStore
from dsh_session_persistence.errors import PersistenceUnavailable, StorageFailure
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import header, sid, turns
from dsh_session_persistence.testing.scenes import flat, played, read_fresh, store_log
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Disposal"]

NEVER_MS = 600_000


class Disposal(Clauses):
    """After `aclose` nothing is pending, nothing runs, and nothing was kept quiet."""

    @clause()
    async def test_closing_stores_what_is_pending(self, storage: Storage) -> None:
        """An orderly end loses nothing, whether or not a turn has ended."""
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=NEVER_MS)
        persistence.attach(store)
        logs = {name: played(store.create(id=name), turns()) for name in ("one", "two")}
        await persistence.aclose()
        for name, events in logs.items():
            assert list((await read_fresh(storage, sid(name))).events) == events

    @clause("faults")
    async def test_closing_reports_a_failed_drain(self, storage: Storage) -> None:
        """The last chance to tell that events were lost."""
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=NEVER_MS)
        faults = storage.faults(persistence)
        persistence.attach(store)
        played(store.create(id="sample"), turns())
        faults.fail_writes(1_000)
        with pytest.raises(ExceptionGroup) as caught:
            await persistence.aclose()
        assert [type(error) for error in flat(caught.value)] == [StorageFailure]

    @clause("faults")
    async def test_closing_reports_all_failures_together(self, storage: Storage) -> None:
        """One session's failure hides neither another's nor another's success."""
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=NEVER_MS)
        faults = storage.faults(persistence)
        persistence.attach(store)
        for name in ("bad", "good", "worse"):
            played(store.create(id=name), turns())
        faults.fail_writes(1_000, session_id=sid("bad"))
        faults.fail_writes(1_000, session_id=sid("worse"))
        with pytest.raises(ExceptionGroup) as caught:
            await persistence.aclose()
        assert [type(error) for error in flat(caught.value)] == [StorageFailure, StorageFailure]
        assert len((await read_fresh(storage, sid("good"))).events) == len(turns())

    @clause("faults")
    async def test_a_failed_drain_does_not_keep_the_medium_open(self, storage: Storage) -> None:
        """Locks are given up and files are closed, whatever happened before."""
        session_id = await store_log(storage, turns())
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=NEVER_MS)
        faults = storage.faults(persistence)
        persistence.attach(store)
        session = store.create(id=session_id, seed=turns())
        played(session, turns(1, first_turn=2))
        faults.fail_writes(1_000)
        with pytest.raises(ExceptionGroup):
            await persistence.aclose()
        assert faults.closed
        async with storage.open() as other:
            assert len((await other.load(session_id)).events) == len(turns())

    @clause("faults")
    async def test_a_failing_close_does_not_hide_a_failed_drain(self, storage: Storage) -> None:
        """Both are reported, the drain first."""
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=NEVER_MS)
        faults = storage.faults(persistence)
        persistence.attach(store)
        played(store.create(id="sample"), turns())
        faults.fail_writes(1_000)
        faults.fail_close(StorageFailure("closing", OSError("injected")))
        with pytest.raises(ExceptionGroup) as caught:
            await persistence.aclose()
        assert [type(error) for error in flat(caught.value)] == [StorageFailure, StorageFailure]

    @clause("faults")
    async def test_a_failing_close_is_reported(self, storage: Storage) -> None:
        """Also when it is the only thing that failed."""
        persistence = storage.open()
        faults = storage.faults(persistence)
        faults.fail_close(StorageFailure("closing", OSError("injected")))
        with pytest.raises(ExceptionGroup) as caught:
            await persistence.aclose()
        assert [type(error) for error in flat(caught.value)] == [StorageFailure]

    @clause("faults")
    async def test_an_instance_is_closed_after_a_failing_close(self, storage: Storage) -> None:
        """A failure to store is no reason to stay half open."""
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=NEVER_MS)
        faults = storage.faults(persistence)
        persistence.attach(store)
        played(store.create(id="sample"), turns())
        faults.fail_writes(1_000)
        with pytest.raises(ExceptionGroup):
            await persistence.aclose()
        with pytest.raises(PersistenceUnavailable):
            await persistence.append(sid("sample"), turns())
        with pytest.raises(PersistenceUnavailable):
            await persistence.create(header("other"))

    @clause("faults")
    async def test_closing_waits_for_an_adoption_under_way(self, storage: Storage) -> None:
        """What was announced just before is stored like everything else."""
        session_id = await store_log(storage, turns())
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=NEVER_MS)
        gate = storage.faults(persistence).hold_loads(session_id)
        persistence.attach(store)
        session = store.create(id=session_id, seed=turns())
        events = played(session, turns(1, first_turn=2))
        closing = asyncio.ensure_future(persistence.aclose())
        await gate.reached.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        assert not closing.done()
        gate.open()
        await closing
        assert list((await read_fresh(storage, session_id)).events) == events

    @clause("faults")
    async def test_closing_waits_for_a_write_under_way(self, storage: Storage) -> None:
        """The backend is not closed under a write, whoever has stopped waiting for it."""
        persistence = storage.open()
        faults = storage.faults(persistence)
        await persistence.create(header())
        gate = faults.hold_writes(sid("sample"))
        append = asyncio.ensure_future(persistence.append(sid("sample"), turns()))
        await gate.reached.wait()
        append.cancel()
        await asyncio.gather(append, return_exceptions=True)
        closing = asyncio.ensure_future(persistence.aclose())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not faults.closed
        gate.open()
        await closing
        assert list((await read_fresh(storage, sid("sample"))).events) == turns()

    @clause("faults")
    async def test_closing_leaves_no_task_behind(self, storage: Storage) -> None:
        """A task that outlives its service writes into whatever comes next."""
        before = asyncio.all_tasks()
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=5)
        persistence.attach(store)
        session = store.create(id="sample")
        played(session, turns())
        await store.flush(session)
        played(session, turns(1, first_turn=2))
        await persistence.aclose()
        for _ in range(3):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() <= before

    @clause("faults")
    async def test_nothing_is_written_after_closing(self, storage: Storage) -> None:
        """A live session that goes on is no longer this instance's; no timer of it fires either."""
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=10)
        faults = storage.faults(persistence)
        persistence.attach(store)
        session = store.create(id="sample")
        played(session, turns())
        await persistence.aclose()
        written = list(faults.attempts)
        played(session, turns(1, first_turn=2))
        await asyncio.sleep(0.05)
        assert faults.attempts == written

    @clause("faults")
    async def test_a_cancelled_close_goes_on(self, storage: Storage) -> None:
        """A program that is in a hurry to end must not end in the middle of a write."""
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=NEVER_MS)
        faults = storage.faults(persistence)
        persistence.attach(store)
        events = played(store.create(id="sample"), turns())
        gate = faults.hold_writes(sid("sample"))
        closing = asyncio.ensure_future(persistence.aclose())
        await gate.reached.wait()
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        gate.open()
        await persistence.aclose()
        assert faults.closed
        assert list((await read_fresh(storage, sid("sample"))).events) == events
