"""One persistence in several event loops, one after another: what `asyncio.run` twice makes of it."""

import asyncio

from dsh_session_persistence import CoordinatedPersistence, MemoryMedium
from dsh_session_persistence.memory import MemoryBackend
from dsh_session_persistence.testing.samples import header, sid, turns


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
