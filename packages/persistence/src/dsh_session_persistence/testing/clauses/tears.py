"""A record that was never fully written is cut, before anything is appended."""

from __future__ import annotations

from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import Log, turns, typed
from dsh_session_persistence.testing.scenes import load_fresh, read_fresh, store_log
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Tears"]


class Tears(Clauses):
    """A torn tail is no event: it goes, and nothing else goes with it."""

    @clause("tear")
    async def test_a_torn_tail_is_cut(self, storage: Storage) -> None:
        """A fragment was never acknowledged, so nobody misses it."""
        log = Log().turn_start().user("hi")
        session_id = await store_log(storage, log.events)
        storage.tear(session_id)
        events = list((await load_fresh(storage, session_id)).events)
        assert events[:-1] == log.events
        assert typed(events)[-1] == "turn/end"

    @clause("tear")
    async def test_a_torn_tail_behind_a_closed_turn_is_cut(self, storage: Storage) -> None:
        """The turn that had just begun left nothing but a fragment; there is nothing to close."""
        session_id = await store_log(storage, turns(2))
        storage.tear(session_id)
        assert list((await load_fresh(storage, session_id)).events) == turns(2)

    @clause("tear", "image")
    async def test_the_cut_is_durable(self, storage: Storage) -> None:
        """Behind a fragment that is still there the next event would be unreadable too."""
        session_id = await store_log(storage, turns())
        untorn = storage.image(session_id)
        storage.tear(session_id)
        assert storage.image(session_id) != untorn
        await load_fresh(storage, session_id)
        assert storage.image(session_id) == untorn

    @clause("tear")
    async def test_appending_to_an_unseen_torn_session_cuts_first(self, storage: Storage) -> None:
        """The takeover by `append` repairs as `load` does."""
        session_id = await store_log(storage, turns())
        storage.tear(session_id)
        async with storage.open() as persistence:
            await persistence.append(session_id, turns(2)[len(turns()) :])
        assert list((await read_fresh(storage, session_id)).events) == turns(2)

    @clause("tear", "image")
    async def test_reading_leaves_a_torn_tail_where_it_is(self, storage: Storage) -> None:
        """A reader cannot know whether a writer is just writing it."""
        session_id = await store_log(storage, turns())
        storage.tear(session_id)
        before = storage.image(session_id)
        assert list((await read_fresh(storage, session_id)).events) == turns()
        assert storage.image(session_id) == before

    @clause("tear")
    async def test_a_torn_session_is_listed(self, storage: Storage) -> None:
        """A crash must not hide a session from the one who wants to resume it."""
        session_id = await store_log(storage, turns())
        storage.tear(session_id)
        async with storage.open() as persistence:
            assert [head.id for head in await persistence.list()] == [session_id]

    @clause("tear", "damage")
    async def test_an_unreadable_last_record_behind_the_last_turn_end_is_torn(self, storage: Storage) -> None:
        """A power loss may leave a record of full length and wrong content."""
        log = Log().turn_start().turn_end().turn_start(2).user("lost")
        session_id = await store_log(storage, log.events)
        storage.damage(session_id, 3)
        events = list((await load_fresh(storage, session_id)).events)
        assert events[:3] == log.events[:3]
        assert typed(events)[3:] == ["turn/end"]

    @clause("pad_with_nul")
    async def test_a_tail_of_nul_bytes_is_torn(self, storage: Storage) -> None:
        """Some file systems lengthen a file before they write into it."""
        session_id = await store_log(storage, turns())
        storage.pad_with_nul(session_id)
        assert list((await load_fresh(storage, session_id)).events) == turns()
        async with storage.open() as persistence:
            await persistence.append(session_id, turns(2)[len(turns()) :])
        assert list((await read_fresh(storage, session_id)).events) == turns(2)
