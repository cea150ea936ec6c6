"""When a live session may have an id that is known or stored already, and when that is a collision."""

from __future__ import annotations

import pytest

from dsh_session import Session, SessionStore
from dsh_session_persistence.errors import ConcurrentWriter, SessionIdCollision
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import EPOCH_MS, Log, header, sid, turns
from dsh_session_persistence.testing.scenes import errors_of, flat, listed, played, read_fresh, store_log
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Adoption"]


async def collides(store: SessionStore, session: Session) -> None:
    """Check that flushing a session reports a collision of its id, and nothing else."""
    errors = await errors_of(store, session)
    assert [type(error) for error in errors] == [SessionIdCollision]
    assert isinstance(errors[0], SessionIdCollision)
    assert errors[0].session_id == session.id


class Adoption(Clauses):
    """One rule for every backend: equal `cwd`, and the stored prefix reproduced in full."""

    # ------------------------------------------------------------ tracked, without an owner

    @clause()
    async def test_a_live_session_claims_what_was_created(self, storage: Storage) -> None:
        """A caller may announce the header first; that header is the one that is stored."""
        store = SessionStore()
        async with storage.open() as persistence:
            await persistence.create(header(cwd="/w"))
            persistence.attach(store)
            session = store.create(id="sample", cwd="/w")
            events = played(session, turns())
            await store.flush(session)
        found = await read_fresh(storage, sid("sample"))
        assert (found.header, list(found.events)) == (header(cwd="/w"), events)

    @clause()
    async def test_a_live_session_claims_what_was_appended(self, storage: Storage) -> None:
        """An importer appends, then a session goes live with the same events: the rest is stored behind them."""
        store = SessionStore()
        async with storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), turns())
            persistence.attach(store)
            session = store.create(id="sample", seed=turns())
            events = played(session, turns(1, first_turn=2))
            await store.flush(session)
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_a_claim_with_another_cwd_collides(self, storage: Storage) -> None:
        """Another working directory is another project's session."""
        store = SessionStore()
        async with storage.open() as persistence:
            await persistence.create(header(cwd="/w"))
            persistence.attach(store)
            session = store.create(id="sample", cwd="/elsewhere")
            played(session, turns())
            await collides(store, session)

    @clause()
    async def test_a_claim_without_a_cwd_collides_with_one(self, storage: Storage) -> None:
        """No working directory equals only no working directory."""
        await store_log(storage, turns(), header(cwd="/w"))
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            loaded = await persistence.load(sid("sample"))
            await collides(store, store.create(id="sample", seed=loaded.events))

    @clause()
    async def test_a_claim_with_other_events_collides(self, storage: Storage) -> None:
        """After a load, a live session under the id must be that session."""
        session_id = await store_log(storage, turns())
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            await persistence.load(session_id)
            session = store.create(id=session_id, seed=turns(1, first_turn=5))
            await collides(store, session)
        assert list((await read_fresh(storage, session_id)).events) == turns()

    @clause()
    async def test_a_claim_with_a_part_of_the_events_collides(self, storage: Storage) -> None:
        """A session that goes on from the middle would overwrite the rest, or leave a hole."""
        session_id = await store_log(storage, turns(2))
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            await persistence.load(session_id)
            session = store.create(id=session_id, seed=turns(1))
            await collides(store, session)
        assert list((await read_fresh(storage, session_id)).events) == turns(2)

    @clause()
    async def test_a_claimed_session_keeps_its_stored_header(self, storage: Storage) -> None:
        """A resumed session was created when it was created."""
        session_id = await store_log(storage, turns(), header(created_at=5, cwd="/w"))
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            loaded = await persistence.load(session_id)
            session = store.create(id=session_id, cwd="/w", seed=loaded.events)
            played(session, turns(1, first_turn=2))
            await store.flush(session)
        assert await listed(storage) == [header(created_at=5, cwd="/w")]

    # ------------------------------------------------------------ tracked, bound to another live session

    @clause()
    async def test_an_id_whose_live_session_has_nothing_is_free(self, storage: Storage) -> None:
        """An empty session in another store holds nothing that could be mixed."""
        idle, busy = SessionStore(), SessionStore()
        persistence = storage.open()
        persistence.attach(idle)
        persistence.attach(busy)
        await idle.flush(idle.create(id="sample"))
        session = busy.create(id="sample")
        events = played(session, turns())
        await busy.flush(session)
        storage.crash(persistence)  # what an orderly end says of the idle session is left open
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_an_id_whose_live_session_is_stored_collides(self, storage: Storage) -> None:
        """Two live sessions under one id are two histories, even if they are equal today."""
        first, second = SessionStore(), SessionStore()
        async with storage.open() as persistence:
            persistence.attach(first)
            persistence.attach(second)
            session = first.create(id="sample")
            events = played(session, turns())
            await first.flush(session)
            await collides(second, second.create(id="sample", seed=events))
            events = played(session, turns(1, first_turn=2))
            await first.flush(session)
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_an_id_whose_live_session_has_pending_events_collides(self, storage: Storage) -> None:
        """What is buffered will be stored; it is as good as stored."""
        first, second = SessionStore(), SessionStore()
        async with storage.open(write_batch_max_delay_ms=60_000) as persistence:
            persistence.attach(first)
            persistence.attach(second)
            session = first.create(id="sample")
            await first.flush(session)
            events = played(session, turns())
            other = second.create(id="sample")
            played(other, turns(1, first_turn=5))
            await collides(second, other)
            await first.flush(session)
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    # ------------------------------------------------------------ not tracked, stored

    @clause()
    async def test_a_stored_session_is_adopted_by_its_continuation(self, storage: Storage) -> None:
        """After a restart of the persistence alone, the live sessions go on."""
        session_id = await store_log(storage, turns())
        store = SessionStore()
        session = store.create(id=session_id, seed=turns())
        events = played(session, turns(1, first_turn=2))
        async with storage.open() as persistence:
            persistence.attach(store)
            await store.flush(session)
        assert list((await read_fresh(storage, session_id)).events) == events

    @clause()
    async def test_an_adopted_session_keeps_its_stored_header(self, storage: Storage) -> None:
        """The stored header stands; the live one is only compared."""
        stored = header(created_at=EPOCH_MS, cwd="/w", parent_session=sid("parent"), seed_length=2)
        session_id = await store_log(storage, turns(), stored)
        store = SessionStore()
        session = store.create(id=session_id, cwd="/w", seed=turns())
        played(session, turns(1, first_turn=2))
        async with storage.open() as persistence:
            persistence.attach(store)
            await store.flush(session)
        assert (await read_fresh(storage, session_id)).header == stored

    @clause()
    async def test_the_open_turn_of_an_adopted_session_stays_open(self, storage: Storage) -> None:
        """The live session is the authority: it is still in that turn."""
        log = Log().turn_start().step_start()
        session_id = await store_log(storage, log.events)
        store = SessionStore()
        session = store.create(id=session_id, seed=log.events)
        async with storage.open() as persistence:
            persistence.attach(store)
            await store.flush(session)
            assert list((await read_fresh(storage, session_id)).events) == log.events
            events = played(session, Log(step=1).chunk("x").step_end().turn_end().events)
            await store.flush(session)
        assert list((await read_fresh(storage, session_id)).events) == events

    @clause("tear")
    async def test_the_torn_tail_of_an_adopted_session_is_cut(self, storage: Storage) -> None:
        """The live session has the whole event, which is stored where the fragment was."""
        log = Log().turn_start().step_start()
        session_id = await store_log(storage, log.events)
        storage.tear(session_id)
        store = SessionStore()
        session = store.create(id=session_id, seed=log.events)
        events = played(session, Log(step=1).chunk("whole").events)
        async with storage.open() as persistence:
            persistence.attach(store)
            await store.flush(session)
        assert list((await read_fresh(storage, session_id)).events) == events

    @clause()
    async def test_a_stored_session_with_another_cwd_collides(self, storage: Storage) -> None:
        """The same events in another project are another session."""
        session_id = await store_log(storage, turns(), header(cwd="/w"))
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            await collides(store, store.create(id=session_id, cwd="/elsewhere", seed=turns()))

    @clause()
    async def test_a_stored_session_with_other_events_collides(self, storage: Storage) -> None:
        """Nothing of the live session is stored, nothing of the stored one is changed."""
        session_id = await store_log(storage, turns())
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            session = store.create(id=session_id)
            played(session, turns(2, first_turn=5))
            await collides(store, session)
        found = await read_fresh(storage, session_id)
        assert (found.header, list(found.events)) == (header(), turns())

    @clause()
    async def test_a_stored_session_that_is_longer_collides(self, storage: Storage) -> None:
        """The stored prefix must be reproduced in full."""
        session_id = await store_log(storage, turns(2))
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            await collides(store, store.create(id=session_id, seed=turns(1)))
        assert list((await read_fresh(storage, session_id)).events) == turns(2)

    @clause()
    async def test_an_empty_live_session_collides_with_a_stored_one(self, storage: Storage) -> None:
        """A fresh session under a taken id is noticed before its first event is lost."""
        session_id = await store_log(storage, turns())
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            await collides(store, store.create(id=session_id))

    @clause()
    async def test_a_session_that_belongs_elsewhere_is_not_adopted(self, storage: Storage) -> None:
        """Adoption takes ownership as `load` does."""
        session_id = await store_log(storage, turns())
        store = SessionStore()
        async with storage.open() as owner, storage.open() as persistence:
            await owner.load(session_id)
            persistence.attach(store)
            session = store.create(id=session_id, seed=turns())
            played(session, turns(1, first_turn=2))
            errors = await errors_of(store, session)
            assert [type(error) for error in errors] == [ConcurrentWriter]
            assert list((await read_fresh(storage, session_id)).events) == turns()
            await owner.aclose()
            assert await errors_of(store, session) == []
        assert len((await read_fresh(storage, session_id)).events) == len(turns(2))

    # ------------------------------------------------------------ how a collision surfaces

    @clause()
    async def test_a_collision_that_no_flush_reported_is_reported_by_closing(self, storage: Storage) -> None:
        """Events that were stored nowhere must not vanish in silence."""
        session_id = await store_log(storage, turns())
        store = SessionStore()
        persistence = storage.open()
        persistence.attach(store)
        played(store.create(id=session_id), turns(1, first_turn=5))
        with pytest.raises(ExceptionGroup) as caught:
            await persistence.aclose()
        assert [type(error) for error in flat(caught.value)] == [SessionIdCollision]

    @clause()
    async def test_a_collision_does_not_harm_other_sessions(self, storage: Storage) -> None:
        """One taken id is one session's trouble."""
        session_id = await store_log(storage, turns())
        store = SessionStore()
        async with storage.open() as persistence:
            persistence.attach(store)
            taken = store.create(id=session_id)
            session = store.create(id="other")
            events = played(session, turns())
            await collides(store, taken)
            await store.flush(session)
        assert list((await read_fresh(storage, sid("other"))).events) == events

    @clause()
    async def test_a_collision_keeps_no_lock(self, storage: Storage) -> None:
        """The session belongs to whoever loads it, not to the one that was turned away."""
        session_id = await store_log(storage, turns())
        store = SessionStore()
        async with storage.open() as persistence, storage.open() as other:
            persistence.attach(store)
            session = store.create(id=session_id, seed=turns(1, first_turn=5))
            await collides(store, session)
            assert len((await other.load(session_id)).events) == len(turns())
