"""One writer owns a session; readers are free."""

from __future__ import annotations

import asyncio

import pytest

from dsh_session import SessionStore
from dsh_session_persistence.errors import ConcurrentWriter, SequenceMismatch, SessionIdCollision, SessionNotFound
from dsh_session_persistence.service import SessionPersistence
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import Log, header, sid, turns
from dsh_session_persistence.testing.scenes import errors_of, listed, load_fresh, played, read_fresh, store_log
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Ownership"]

MORE = turns(2)[len(turns()) :]


class Ownership(Clauses):
    """Two instances never write one session at once."""

    @clause()
    async def test_a_loaded_session_belongs_to_its_instance(self, storage: Storage) -> None:
        """Two agents that resume one session would fork its log in place."""
        session_id = await store_log(storage, turns())
        async with storage.open() as owner, storage.open() as other:
            await owner.load(session_id)
            with pytest.raises(ConcurrentWriter) as caught:
                await other.load(session_id)
            assert caught.value.session_id == session_id

    @clause()
    async def test_a_session_belongs_to_who_appended_first(self, storage: Storage) -> None:
        """The first durable event takes the lock, without any load."""
        async with storage.open() as owner, storage.open() as other:
            await owner.create(header())
            await owner.append(sid("sample"), turns())
            with pytest.raises(ConcurrentWriter):
                await other.load(sid("sample"))

    @clause()
    async def test_appending_to_a_session_that_belongs_elsewhere_is_refused(self, storage: Storage) -> None:
        """Nothing is written, though the events would follow."""
        session_id = await store_log(storage, turns())
        async with storage.open() as owner, storage.open() as other:
            await owner.load(session_id)
            with pytest.raises(ConcurrentWriter):
                await other.append(session_id, MORE)
        assert list((await read_fresh(storage, session_id)).events) == turns()

    @clause()
    async def test_a_refused_load_repairs_nothing(self, storage: Storage) -> None:
        """The open turn of a session that is owned is not interrupted: its owner is at work."""
        log = Log().turn_start().step_start()
        async with storage.open() as owner, storage.open() as other:
            await owner.create(header())
            await owner.append(sid("sample"), log.events)
            with pytest.raises(ConcurrentWriter):
                await other.load(sid("sample"))
            assert list((await read_fresh(storage, sid("sample"))).events) == log.events
            await owner.append(sid("sample"), log.chunk("x").events[-1:])
        assert list((await read_fresh(storage, sid("sample"))).events) == log.events

    @clause()
    async def test_readers_are_free_beside_a_writer(self, storage: Storage) -> None:
        """A viewer shows a session that runs elsewhere."""
        session_id = await store_log(storage, turns())
        async with storage.open() as owner:
            await owner.load(session_id)
            assert list((await read_fresh(storage, session_id)).events) == turns()
            await owner.append(session_id, MORE)
            assert list((await read_fresh(storage, session_id)).events) == turns(2)
            assert await listed(storage) == [header()]

    @clause()
    async def test_reading_takes_no_ownership(self, storage: Storage) -> None:
        """A viewer that stays open keeps nobody from writing."""
        session_id = await store_log(storage, turns())
        async with storage.open() as reader, storage.open() as writer:
            await reader.read(session_id)
            await reader.list()
            await writer.load(session_id)
            await writer.append(session_id, MORE)

    @clause()
    async def test_creating_takes_no_ownership_of_other_sessions(self, storage: Storage) -> None:
        """Locks are a session's, not the medium's."""
        await store_log(storage, turns(), header("other"))
        async with storage.open() as first, storage.open() as second:
            await first.create(header())
            await first.append(sid("sample"), turns())
            assert len((await second.load(sid("other"))).events) == len(turns())

    @clause()
    async def test_closing_gives_ownership_up(self, storage: Storage) -> None:
        """The next instance may go on at once."""
        session_id = await store_log(storage, turns())
        async with storage.open() as other:
            owner = storage.open()
            await owner.load(session_id)
            await owner.aclose()
            await other.append(session_id, MORE)
        assert list((await read_fresh(storage, session_id)).events) == turns(2)

    @clause()
    async def test_a_crash_gives_ownership_up(self, storage: Storage) -> None:
        """A lock that outlives its process would lock its user out."""
        session_id = await store_log(storage, turns())
        owner = storage.open()
        await owner.load(session_id)
        await owner.append(session_id, MORE[:1])
        storage.crash(owner)
        events = list((await load_fresh(storage, session_id)).events)
        assert events[: len(turns()) + 1] == turns(2)[: len(turns()) + 1]

    @clause()
    async def test_a_search_for_a_missing_session_owns_nothing(self, storage: Storage) -> None:
        """Who asked for an id in vain does not keep it."""
        async with storage.open() as first, storage.open() as second:
            with pytest.raises(SessionNotFound):
                await first.load(sid("sample"))
            await second.create(header())
            await second.append(sid("sample"), turns())
        assert list((await read_fresh(storage, sid("sample"))).events) == turns()

    @clause("disable_lock")
    async def test_a_stale_writer_without_a_lock_is_stopped_at_the_write(self, storage: Storage) -> None:
        """Where locks do nothing (some network file systems), the tail of the log is still compared."""
        session_id = await store_log(storage, turns())
        async with storage.open() as stale, storage.open() as other:
            storage.disable_lock(stale)
            storage.disable_lock(other)
            await stale.load(session_id)
            await other.load(session_id)
            await other.append(session_id, MORE)
            with pytest.raises((SequenceMismatch, ConcurrentWriter)):
                await stale.append(session_id, turns(1, start=len(turns()), first_turn=9))
            assert list((await read_fresh(storage, session_id)).events) == turns(2)
        assert list((await read_fresh(storage, session_id)).events) == turns(2)

    @clause("disable_lock")
    async def test_a_stopped_writer_can_load_and_go_on(self, storage: Storage) -> None:
        """After the refusal it sees what the other has written."""
        session_id = await store_log(storage, turns())
        async with storage.open() as stale, storage.open() as other:
            storage.disable_lock(stale)
            storage.disable_lock(other)
            await stale.load(session_id)
            await other.append(session_id, MORE)
            with pytest.raises((SequenceMismatch, ConcurrentWriter)):
                await stale.append(session_id, MORE)
            assert list((await stale.load(session_id)).events) == turns(2)
            await stale.append(session_id, turns(3)[len(turns(2)) :])
        assert list((await read_fresh(storage, session_id)).events) == turns(3)

    @clause()
    async def test_an_idle_session_is_given_up_when_too_many_are_open(self, storage: Storage) -> None:
        """Open descriptors are bounded, however many sessions a server has seen."""
        for name in ("one", "two", "three"):
            await store_log(storage, turns(), header(name))
        async with storage.open(max_open_sessions=1) as owner, storage.open() as other:
            for name in ("one", "two", "three"):
                await owner.load(sid(name))
            assert await _becomes_free(other, "one")
            with pytest.raises(ConcurrentWriter):
                await other.load(sid("three"))

    @clause()
    async def test_a_session_that_was_given_up_is_taken_again(self, storage: Storage) -> None:
        """Whoever was idle notices nothing, if nobody else has written."""
        for name in ("one", "two"):
            await store_log(storage, turns(), header(name))
        async with storage.open(max_open_sessions=1) as owner:
            await owner.load(sid("one"))
            await owner.load(sid("two"))
            await asyncio.sleep(0.02)
            await owner.append(sid("one"), MORE)
            await owner.append(sid("two"), MORE)
        for name in ("one", "two"):
            assert list((await read_fresh(storage, sid(name))).events) == turns(2)

    @clause()
    async def test_a_writer_that_comes_back_to_a_changed_session_is_stopped(self, storage: Storage) -> None:
        """Between giving up and taking again somebody else may have written."""
        for name in ("one", "two"):
            await store_log(storage, turns(), header(name))
        async with storage.open(max_open_sessions=1) as stale:
            await stale.load(sid("one"))
            await stale.load(sid("two"))
            async with storage.open() as other:
                assert await _becomes_free(other, "one")
                await other.append(sid("one"), MORE)
            with pytest.raises((SequenceMismatch, ConcurrentWriter)):
                await stale.append(sid("one"), turns(1, start=len(turns()), first_turn=9))
        assert list((await read_fresh(storage, sid("one"))).events) == turns(2)

    @clause()
    async def test_a_live_session_that_comes_back_to_a_changed_log_is_stopped(self, storage: Storage) -> None:
        """It goes on from what it knew, so only the check of the tail at the write can notice."""
        store = SessionStore()
        async with storage.open(max_open_sessions=1) as stale:
            stale.attach(store)
            session = store.create(id="one")
            events = [*played(session, turns()), *MORE]
            await store.flush(session)
            await store_log(storage, turns(), header("two"))
            await stale.load(sid("two"))
            async with storage.open() as other:
                assert await _becomes_free(other, "one")
                await other.append(sid("one"), MORE)
            played(session, turns(1, first_turn=2))
            errors = await errors_of(store, session)
            assert [type(error) in {SequenceMismatch, ConcurrentWriter} for error in errors] == [True]
            assert list((await read_fresh(storage, sid("one"))).events) == events
            assert [type(error) for error in await errors_of(store, session)] == [SessionIdCollision]
        assert list((await read_fresh(storage, sid("one"))).events) == events

    @clause()
    async def test_a_session_that_was_continued_elsewhere_can_be_taken_back(self, storage: Storage) -> None:
        """Whoever loads again knows what the other has written, whatever it remembers from before."""
        for name in ("one", "two"):
            await store_log(storage, turns(), header(name))
        async with storage.open(max_open_sessions=1) as first:
            await first.append(sid("one"), turns(2)[len(turns()) :])
            await first.load(sid("two"))
            async with storage.open() as other:
                assert await _becomes_free(other, "one")
                await other.append(sid("one"), turns(3)[len(turns(2)) :])
            assert list((await first.load(sid("one"))).events) == turns(3)
            await first.append(sid("one"), turns(4)[len(turns(3)) :])
        assert list((await read_fresh(storage, sid("one"))).events) == turns(4)


async def _becomes_free(other: SessionPersistence, name: str) -> bool:
    """Load a session in another instance as soon as its owner lets go; return whether that happened."""
    for _ in range(200):
        try:
            await other.load(sid(name))
        except ConcurrentWriter:
            await asyncio.sleep(0.01)
        else:
            return True
    return False
