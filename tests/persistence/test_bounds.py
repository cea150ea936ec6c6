"""What a persistence holds at once, however much is asked of it."""

import asyncio

import pytest

from dsh_session import InvalidSessionId, SessionStore
from dsh_session_persistence import CoordinatedPersistence, MemoryMedium, MemoryPersistence
from dsh_session_persistence.memory import MemoryBackend
from dsh_session_persistence.testing.samples import turns
from dsh_session_persistence.testing.scenes import played

SESSIONS = 400
IN_USE = 2 * 64  # as many as are worked on at once, and as many on their way to be given up


class Counting(MemoryBackend):
    """Counts how many sessions are owned at once; like a medium with threads it lets others run."""

    most = 0

    async def append_batch(self, header, events, materialized):
        """Store, and count."""
        await asyncio.sleep(0)
        await super().append_batch(header, events, materialized)
        self.most = max(self.most, len(self._medium.owners))

    async def release(self, session_id):
        """Release, after those that came before."""
        await asyncio.sleep(0)
        await super().release(session_id)


@pytest.mark.parametrize("how", ["flush", "aclose"])
def test_owned_sessions_are_bounded_however_many_are_stored_at_once(how):
    """Each costs a descriptor; a process that runs out of them cannot store what is left."""

    async def scenario():
        medium = MemoryMedium()
        backend = Counting(medium)
        persistence = CoordinatedPersistence(backend, max_open_sessions=4)
        store = SessionStore()
        persistence.attach(store)
        sessions = [store.create(id=f"s{number}") for number in range(SESSIONS)]
        for session in sessions:
            played(session, turns())
        if how == "flush":
            await asyncio.gather(*(store.flush(session) for session in sessions))
        await persistence.aclose()
        assert len(medium.records) == SESSIONS
        assert 4 <= backend.most <= 4 + IN_USE

    asyncio.run(scenario())


@pytest.mark.parametrize("value", ["", "\ud83d", None, 5, b"sample"])
@pytest.mark.parametrize("method", ["load", "read", "append"])
def test_what_is_no_session_id_is_refused_alike_before_a_backend_sees_it(method, value):
    """Each backend would fail in its own way, some with an error of the interpreter."""

    async def scenario():
        async with MemoryPersistence() as persistence:
            arguments = (turns(),) if method == "append" else ()
            with pytest.raises(InvalidSessionId):
                await getattr(persistence, method)(value, *arguments)

    asyncio.run(scenario())
