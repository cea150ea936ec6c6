"""How an instance begins and ends."""

from __future__ import annotations

import asyncio

import pytest

from dsh_session import SessionStore
from dsh_session_persistence.errors import PersistenceUnavailable
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import header, sid, turns
from dsh_session_persistence.testing.scenes import read_fresh, store_log
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Closing"]


class Closing(Clauses):
    """Opening costs nothing; after closing nothing works."""

    def test_an_instance_is_made_without_an_event_loop(self, storage: Storage) -> None:
        """A program builds its services before it runs."""
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        persistence = storage.open()

        async def use() -> None:
            async with persistence:
                await persistence.create(header())
                await persistence.append(sid("sample"), turns())

        asyncio.run(use())

    @clause()
    async def test_an_instance_closes_at_the_end_of_its_block(self, storage: Storage) -> None:
        """`async with` is how most programs hold a persistence."""
        async with storage.open() as persistence:
            pass
        with pytest.raises(PersistenceUnavailable):
            await persistence.list()

    @clause()
    async def test_closing_twice_does_nothing(self, storage: Storage) -> None:
        """Cleanup code runs in more than one place."""
        session_id = await store_log(storage, turns())
        persistence = storage.open()
        await persistence.load(session_id)
        await persistence.aclose()
        await persistence.aclose()
        await asyncio.gather(persistence.aclose(), persistence.aclose())

    @clause()
    async def test_a_closed_instance_writes_nothing(self, storage: Storage) -> None:
        """A late writer is told, and the session is somebody else's by now."""
        session_id = await store_log(storage, turns())
        persistence = storage.open()
        await persistence.load(session_id)
        await persistence.aclose()
        with pytest.raises(PersistenceUnavailable):
            await persistence.append(session_id, turns(2)[len(turns()) :])
        with pytest.raises(PersistenceUnavailable):
            await persistence.create(header("other"))
        assert list((await read_fresh(storage, session_id)).events) == turns()

    @clause()
    async def test_a_closed_instance_reads_nothing(self, storage: Storage) -> None:
        """A clear error is better than whatever a closed file says."""
        session_id = await store_log(storage, turns())
        persistence = storage.open()
        await persistence.aclose()
        for method in (persistence.load, persistence.read):
            with pytest.raises(PersistenceUnavailable):
                await method(session_id)
        with pytest.raises(PersistenceUnavailable):
            await persistence.list()

    @clause()
    async def test_a_closed_instance_attaches_to_nothing(self, storage: Storage) -> None:
        """A store that believes to be durable and is not would lose everything in silence."""
        persistence = storage.open()
        await persistence.aclose()
        with pytest.raises(PersistenceUnavailable):
            persistence.attach(SessionStore())
