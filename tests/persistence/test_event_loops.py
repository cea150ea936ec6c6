"""One persistence in several event loops, one after another: what `asyncio.run` twice makes of it."""

import asyncio

from dsh_session import SessionStore
from dsh_session_persistence import CoordinatedPersistence, MemoryMedium
from dsh_session_persistence.memory import MemoryBackend
from dsh_session_persistence.testing.samples import header, sid, turns
from dsh_session_persistence.testing.scenes import played


class Yielding(MemoryBackend):
    """Lets others run while it stores, as a medium with threads does."""

    async def append_batch(self, header, events, materialized):
        """Store, after a turn of the loop."""
        await asyncio.sleep(0)
        await super().append_batch(header, events, materialized)


def test_operations_wait_for_each_other_in_every_loop():
    """A lock that was waited for in one loop refuses to be waited for in the next."""
    persistence = CoordinatedPersistence(Yielding(MemoryMedium()))
    events = turns(2)

    async def store(batches):
        await asyncio.gather(*(persistence.append(sid("sample"), batch) for batch in batches))

    async def stored():
        return list((await persistence.read(sid("sample"))).events)

    asyncio.run(persistence.create(header()))
    asyncio.run(store([events[:2], events[2:4]]))
    asyncio.run(store([events[4:6], events[6:]]))
    assert asyncio.run(stored()) == events
    asyncio.run(persistence.aclose())


def test_a_window_that_its_loop_did_not_live_to_see_does_not_keep_later_events_waiting():
    """Otherwise nothing of the session is written early again until somebody flushes."""
    medium = MemoryMedium()
    persistence = CoordinatedPersistence(MemoryBackend(medium), write_batch_max_delay_ms=1)
    store = SessionStore()
    persistence.attach(store)
    session = store.create(id="sample")

    async def append(events):
        played(session, events)

    async def append_and_wait(events):
        played(session, events)
        for _ in range(1000):
            if len(medium.records.get("sample", ())) == len(session.events) + 1:
                return
            await asyncio.sleep(0.01)

    events = turns()
    asyncio.run(append(events[:2]))
    asyncio.run(append_and_wait(events[2:]))
    assert len(medium.records["sample"]) == len(events) + 1
    asyncio.run(persistence.aclose())


def test_a_close_that_the_end_of_its_loop_cut_off_can_be_made_up_for():
    """It stored nothing, so the next one must not say that all is well."""
    medium = MemoryMedium()
    persistence = CoordinatedPersistence(Yielding(medium))
    store = SessionStore()
    persistence.attach(store)
    session = store.create(id="sample")
    played(session, turns())

    async def begin_to_close():
        closing = asyncio.create_task(persistence.aclose())
        await asyncio.sleep(0)
        assert not closing.done()

    asyncio.run(begin_to_close())
    assert not medium.records
    asyncio.run(persistence.aclose())
    asyncio.run(persistence.aclose())
    assert len(medium.records["sample"]) == len(session.events) + 1
    assert not medium.owners
