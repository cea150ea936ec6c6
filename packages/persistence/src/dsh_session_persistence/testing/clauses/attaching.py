"""A store that a persistence is attached to becomes durable."""

from __future__ import annotations

import asyncio

import pytest

from dsh_session import SessionStore
from dsh_session_persistence.errors import SessionIdCollision
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import Log, sid, turns, typed
from dsh_session_persistence.testing.scenes import errors_of, is_stored, listed, played, read_fresh, store_log
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Attaching"]


class Attaching(Clauses):
    """Live sessions are stored as they grow, each event once."""

    @clause()
    async def test_a_flushed_session_is_durable(self, storage: Storage) -> None:
        """`flush` is the checkpoint at the end of each turn."""
        store = SessionStore()
        persistence = storage.open()
        persistence.attach(store)
        session = store.create(id="sample", cwd="/w")
        events = played(session, turns())
        await store.flush(session)
        storage.crash(persistence)
        found = await read_fresh(storage, sid("sample"))
        assert (found.header, list(found.events)) == (session.header, events)

    @clause()
    async def test_each_flush_stores_what_is_new(self, storage: Storage) -> None:
        """Turn by turn the stored log grows to the live one."""
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            session = store.create(id="sample")
            for turn in range(1, 4):
                events = played(session, turns(1, first_turn=turn))
                await store.flush(session)
                assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_sessions_from_before_the_attachment_are_stored(self, storage: Storage) -> None:
        """A persistence may be attached to a store in use."""
        store = SessionStore()
        session = store.create(id="sample")
        events = played(session, turns())
        async with storage.open() as persistence:
            persistence.attach(store)
            await store.flush(session)
            assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_attaching_twice_stores_once(self, storage: Storage) -> None:
        """A session that is announced again is bound already: nothing is to be done."""
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            session = store.create(id="sample")
            events = played(session, turns())
            persistence.attach(store)
            await store.flush(session)
            events = played(session, turns(1, first_turn=2))
            await store.flush(session)
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause("faults")
    async def test_a_session_without_events_writes_nothing(self, storage: Storage) -> None:
        """Registration is lazy: announcing and flushing an empty session reaches no medium."""
        store = SessionStore()
        async with storage.open() as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            await store.flush(session)
            assert faults.attempts == []
            assert not await is_stored(storage, sid("sample"))
        assert not await is_stored(storage, sid("sample"))

    @clause()
    async def test_a_seed_is_stored_once(self, storage: Storage) -> None:
        """A session that begins with a log stores that log as its own beginning."""
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            session = store.create(id="sample", seed=turns())
            await store.flush(session)
            assert list((await read_fresh(storage, sid("sample"))).events) == turns()
            events = played(session, turns(1, first_turn=2))
            await store.flush(session)
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_a_seed_without_further_events_is_stored(self, storage: Storage) -> None:
        """A fork that is never spoken to is a session all the same."""
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            store.create(id="sample", seed=turns())
        assert list((await read_fresh(storage, sid("sample"))).events) == turns()

    @clause()
    async def test_a_fork_is_stored_with_its_lineage(self, storage: Storage) -> None:
        """Parent and child are two stored sessions; the child knows whose it is and how much it took over."""
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            parent = store.create(id="parent", cwd="/w")
            played(parent, turns(2))
            child = store.fork(parent, upto=len(turns()) - 1)
            events = played(child, turns(1, first_turn=2))
            await store.flush(parent)
            await store.flush(child)
        found = await read_fresh(storage, child.id)
        assert (found.header.parent_session, found.header.seed_length) == ("parent", len(turns()))
        assert list(found.events) == events
        assert len((await read_fresh(storage, sid("parent"))).events) == len(turns(2))
        assert {head.id for head in await listed(storage)} == {parent.id, child.id}

    @clause()
    async def test_loading_a_live_session_closes_nothing(self, storage: Storage) -> None:
        """Its open turn is not interrupted; the live log is the authority."""
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            session = store.create(id="sample")
            log = Log().turn_start().step_start()
            events = played(session, log.events)
            await store.flush(session)
            assert list((await persistence.load(sid("sample"))).events) == events
            events = played(session, Log(step=1).chunk("x").events)
            await store.flush(session)
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_appending_to_a_live_session_from_outside_is_refused(self, storage: Storage) -> None:
        """Its events come from its own log; a second source would break it."""
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            session = store.create(id="sample")
            events = played(session, turns())
            await store.flush(session)
            with pytest.raises(SessionIdCollision):
                await persistence.append(sid("sample"), turns(2)[len(turns()) :])
            assert await errors_of(store, session) == []
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_a_released_session_is_drained(self, storage: Storage) -> None:
        """Leaving the store is a checkpoint too."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=60_000) as persistence:
            persistence.attach(store)
            session = store.create(id="sample")
            events = played(session, turns())
            await store.release(session)
            assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_a_released_session_is_forgotten(self, storage: Storage) -> None:
        """Another instance may take it, and so may this one, as it is stored by then."""
        store = SessionStore()
        async with storage.open() as persistence, storage.open() as other:
            persistence.attach(store)
            session = store.create(id="sample")
            played(session, turns())
            await store.release(session)
            loaded = await other.load(sid("sample"))
            await other.append(sid("sample"), turns(2)[len(loaded.events) :])
            await other.aclose()
            again = await persistence.load(sid("sample"))
            assert typed(again.events) == typed(turns(2))

    @clause()
    async def test_a_released_id_can_be_live_again(self, storage: Storage) -> None:
        """Release, load and create is how a session is resumed within one process."""
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            session = store.create(id="sample")
            played(session, turns())
            await store.release(session)
            loaded = await persistence.load(sid("sample"))
            session = store.create(id="sample", seed=loaded.events)
            events = played(session, turns(1, first_turn=2))
            await store.flush(session)
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_an_empty_session_whose_id_was_taken_over_leaves_in_peace(self, storage: Storage) -> None:
        """It has nothing to store, so nobody can have lost anything by it."""
        empty, other = SessionStore(), SessionStore()
        async with storage.open() as persistence:
            persistence.attach(empty)
            persistence.attach(other)
            displaced = empty.create(id="sample")
            await empty.flush(displaced)
            session = other.create(id="sample")
            events = played(session, turns())
            await other.flush(session)
            assert await errors_of(empty, displaced) == []
            await empty.release(displaced)
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_several_sessions_are_stored_side_by_side(self, storage: Storage) -> None:
        """Each flush stores its own session, and none waits for another's turn to end."""
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            sessions = [store.create(id=f"sample-{number}") for number in range(5)]
            for session in sessions:
                played(session, turns(1, first_turn=1))
            await asyncio.gather(*(store.flush(session) for session in sessions))
            for session in sessions:
                assert list((await read_fresh(storage, session.id)).events) == list(session.events)

    @clause()
    async def test_a_session_that_was_loaded_goes_on_live(self, storage: Storage) -> None:
        """Resume: load, create under the same id with the loaded events, append, flush."""
        session_id = await store_log(storage, Log().turn_start().step_start().events)
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            loaded = await persistence.load(session_id)
            session = store.create(id=session_id, seed=loaded.events)
            events = played(session, turns(1, first_turn=2))
            await store.flush(session)
        assert list((await read_fresh(storage, session_id)).events) == events
