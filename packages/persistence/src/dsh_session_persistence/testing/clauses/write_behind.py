"""Events reach the medium before anybody asks, and a flush is a barrier."""

from __future__ import annotations

import asyncio

from dsh_session import SessionStore
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import Log, sid, turns
from dsh_session_persistence.testing.scenes import played, read_fresh, until
from dsh_session_persistence.testing.storage import Storage

__all__ = ["WindowAndBarrier"]

NEVER_MS = 600_000


async def rounds(count: int = 20) -> None:
    """Let everything run that is ready to run."""
    for _ in range(count):
        await asyncio.sleep(0)


class WindowAndBarrier(Clauses):
    """Few writes, none of them late, and nothing overtaken."""

    @clause("faults")
    async def test_an_event_is_written_in_the_background_after_the_window(self, storage: Storage) -> None:
        """A crash in the middle of a long turn loses at most a window."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=30) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            events = played(store.create(id="sample"), Log().turn_start().user("hi").events)
            assert await until(lambda: bool(faults.written))
            assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause("faults")
    async def test_nothing_is_written_before_the_window_has_passed(self, storage: Storage) -> None:
        """A write for each chunk of a stream would cost a sync for each."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=NEVER_MS) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            for event in turns():
                session.append(event.type, event.data)
                await rounds()
            await asyncio.sleep(0.05)
            assert faults.attempts == []

    @clause("faults")
    async def test_the_events_of_a_window_are_one_batch(self, storage: Storage) -> None:
        """One write and one sync for all that came in meanwhile."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=150) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            events = played(store.create(id="sample"), turns())
            assert await until(lambda: bool(faults.written))
            assert faults.written == [("sample", tuple(range(len(events))))]

    @clause("faults")
    async def test_the_window_is_fixed_from_the_first_pending_event(self, storage: Storage) -> None:
        """A stream that never pauses must not put off its own storage for ever."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=400) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            played(session, Log().turn_start().step_start().events)
            ends_at = asyncio.get_running_loop().time() + 2.5
            while not faults.written and asyncio.get_running_loop().time() < ends_at:
                played(session, Log(step=1).chunk("x").events)
                await asyncio.sleep(0.01)
            assert faults.written

    @clause("faults")
    async def test_a_second_window_follows_the_first(self, storage: Storage) -> None:
        """Writing in the background is no single event."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=30) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            played(session, Log().turn_start().events)
            assert await until(lambda: len(faults.written) == 1)
            played(session, Log().user("hi").events)
            assert await until(lambda: len(faults.written) == 2)

    @clause("faults")
    async def test_many_pending_bytes_are_written_at_once(self, storage: Storage) -> None:
        """A tool that returns megabytes is not held in memory for the length of a window."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=NEVER_MS, max_pending_bytes=2_000) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            played(session, Log().turn_start().user("short").events)
            await rounds()
            assert faults.attempts == []
            played(session, Log().user("long" * 1_000).events)
            assert await until(lambda: bool(faults.written), limit_s=5)

    def test_a_session_without_a_running_loop_is_not_written_early(self, storage: Storage) -> None:
        """A synchronous program may build a session; the first flush stores it all."""
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=0, max_pending_bytes=1)
        persistence.attach(store)
        session = store.create(id="sample")
        events = played(session, turns())

        async def finish() -> None:
            async with persistence:
                await store.flush(session)
                assert list((await read_fresh(storage, sid("sample"))).events) == events

        asyncio.run(finish())

    @clause("faults")
    async def test_a_flush_waits_for_the_write_of_what_came_before_it(self, storage: Storage) -> None:
        """Returning is the acknowledgement."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=NEVER_MS) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            played(session, turns())
            gate = faults.hold_writes(sid("sample"))
            flush = asyncio.ensure_future(store.flush(session))
            await gate.reached.wait()
            await rounds()
            assert not flush.done()
            gate.open()
            await flush
            assert len(faults.written) == 1

    @clause("faults")
    async def test_a_flush_covers_events_that_came_during_a_write(self, storage: Storage) -> None:
        """Everything that was admitted before the flush is drained, not only the batch under way."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=NEVER_MS) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            gate = faults.hold_writes(sid("sample"))
            played(session, Log().turn_start().events)
            early = asyncio.ensure_future(store.flush(session))
            await gate.reached.wait()
            events = played(session, Log().user("during").events)
            late = asyncio.ensure_future(store.flush(session))
            await rounds()
            assert not late.done()
            gate.open()
            await asyncio.gather(early, late)
            assert list((await read_fresh(storage, sid("sample"))).events) == events
        assert faults.written[0] == ("sample", (0,))

    @clause("faults")
    async def test_a_flush_of_nothing_new_writes_nothing(self, storage: Storage) -> None:
        """A turn end without events costs no sync."""
        store = SessionStore()
        async with storage.open() as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            played(session, turns())
            await store.flush(session)
            await store.flush(session)
            await asyncio.gather(store.flush(session), store.flush(session))
            assert len(faults.attempts) == 1

    @clause("faults")
    async def test_flushes_at_once_store_once(self, storage: Storage) -> None:
        """Two callers that wait for one session share its cursor."""
        store = SessionStore()
        async with storage.open() as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            events = played(session, turns())
            gate = faults.hold_writes(sid("sample"))
            flushes = [asyncio.ensure_future(store.flush(session)) for _ in range(5)]
            await gate.reached.wait()
            await rounds()
            assert len(faults.attempts) == 1
            gate.open()
            await asyncio.gather(*flushes)
            assert len(faults.written) == 1
        assert not faults.overlapped
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause("faults")
    async def test_a_slow_session_holds_up_no_other(self, storage: Storage) -> None:
        """A flush waits for its own session alone."""
        store = SessionStore()
        async with storage.open() as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            slow, quick = store.create(id="slow"), store.create(id="quick")
            played(slow, turns())
            events = played(quick, turns())
            gate = faults.hold_writes(sid("slow"))
            waiting = asyncio.ensure_future(store.flush(slow))
            await gate.reached.wait()
            await store.flush(quick)
            assert not waiting.done()
            gate.open()
            await waiting
        assert list((await read_fresh(storage, sid("quick"))).events) == events
