"""What cannot be read without losing real work is refused, and left as it is."""

from __future__ import annotations

import pytest

from dsh_session import SessionId, UnsupportedVersion
from dsh_session.errors import SessionError
from dsh_session_persistence.errors import ConcurrentWriter, CorruptSession
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import Log, header, sid, turns
from dsh_session_persistence.testing.scenes import listed, load_fresh, read_fresh, store_log
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Corruption"]


async def corrupt(storage: Storage, session_id: SessionId) -> CorruptSession:
    """Check that a session neither loads nor reads nor takes events, and return how it is refused."""
    with pytest.raises(CorruptSession) as caught:
        await load_fresh(storage, session_id)
    assert caught.value.session_id == session_id
    return caught.value


class Corruption(Clauses):
    """A damaged log is refused, never cut in silence."""

    @clause("damage")
    async def test_damage_before_the_last_turn_end_is_corruption(self, storage: Storage) -> None:
        """Everything up to an acknowledged end of a turn was durable once."""
        session_id = await store_log(storage, turns(2))
        storage.damage(session_id, 3)
        assert (await corrupt(storage, session_id)).seq == 3

    @clause("damage")
    async def test_damage_of_the_first_event_is_corruption(self, storage: Storage) -> None:
        """A log without its beginning is not an empty log."""
        session_id = await store_log(storage, turns(2))
        storage.damage(session_id, 0)
        assert (await corrupt(storage, session_id)).seq == 0

    @clause("damage")
    async def test_damage_of_a_turn_end_that_events_follow_is_corruption(self, storage: Storage) -> None:
        """The turn was over: its end is no tail."""
        log = Log().turn_start().user("a").turn_end().turn_start(2).user("b")
        session_id = await store_log(storage, log.events)
        storage.damage(session_id, 2)
        assert (await corrupt(storage, session_id)).seq == 2

    @clause("damage")
    async def test_damage_behind_the_last_turn_end_that_events_follow_is_corruption(self, storage: Storage) -> None:
        """Readable events behind the damage are real work, which no cut may take along."""
        log = Log().turn_start().turn_end().turn_start(2).user("a").user("b").user("c")
        session_id = await store_log(storage, log.events)
        storage.damage(session_id, 4)
        assert (await corrupt(storage, session_id)).seq == 4

    @clause("damage")
    async def test_reading_a_corrupt_session_is_refused(self, storage: Storage) -> None:
        """A viewer must not show half a log as the whole."""
        session_id = await store_log(storage, turns(2))
        storage.damage(session_id, 3)
        with pytest.raises(CorruptSession):
            await read_fresh(storage, session_id)

    @clause("damage")
    async def test_appending_to_a_corrupt_session_is_refused(self, storage: Storage) -> None:
        """An append takes the session over first, and fails as `load` does."""
        session_id = await store_log(storage, turns(2))
        storage.damage(session_id, 3)
        async with storage.open() as persistence:
            with pytest.raises(CorruptSession):
                await persistence.append(session_id, turns(1, start=len(turns(2))))

    @clause("damage", "image")
    async def test_a_corrupt_session_is_left_as_it_is(self, storage: Storage) -> None:
        """Somebody may want to mend it by hand."""
        session_id = await store_log(storage, turns(2))
        storage.damage(session_id, 3)
        before = storage.image(session_id)
        await corrupt(storage, session_id)
        assert storage.image(session_id) == before

    @clause("damage")
    async def test_a_corrupt_session_is_not_created_anew(self, storage: Storage) -> None:
        """Its id is taken, whatever state it is in."""
        session_id = await store_log(storage, turns(2))
        storage.damage(session_id, 3)
        async with storage.open() as persistence:
            with pytest.raises(SessionError):
                await persistence.create(header())

    @clause("damage")
    async def test_a_corrupt_session_does_not_hide_the_others(self, storage: Storage) -> None:
        """A list is how somebody finds the sessions that are whole."""
        await store_log(storage, turns(), header("whole"))
        session_id = await store_log(storage, turns(2))
        storage.damage(session_id, 3)
        assert "whole" in [head.id for head in await listed(storage)]

    @clause("damage")
    async def test_a_refused_load_keeps_no_lock(self, storage: Storage) -> None:
        """Who cannot use a session must not keep others, or a repair tool, from it."""
        session_id = await store_log(storage, turns(2))
        storage.damage(session_id, 3)
        async with storage.open() as first, storage.open() as second:
            for persistence in (first, second, first):
                with pytest.raises((CorruptSession, ConcurrentWriter)) as caught:
                    await persistence.load(session_id)
                assert isinstance(caught.value, CorruptSession)

    @clause("drop")
    async def test_a_gap_before_the_last_turn_end_is_corruption(self, storage: Storage) -> None:
        """Seqs are contiguous, so a missing one is a lost event."""
        session_id = await store_log(storage, turns(2))
        storage.drop(session_id, 3)
        assert (await corrupt(storage, session_id)).seq == 3

    @clause("drop")
    async def test_a_gap_behind_the_last_turn_end_is_corruption(self, storage: Storage) -> None:
        """As for damage: what follows the gap is real work."""
        log = Log().turn_start().turn_end().turn_start(2).user("a").user("b")
        session_id = await store_log(storage, log.events)
        storage.drop(session_id, 3)
        assert (await corrupt(storage, session_id)).seq == 3

    @clause("drop")
    async def test_a_missing_first_event_is_corruption(self, storage: Storage) -> None:
        """A log starts at zero."""
        session_id = await store_log(storage, turns())
        storage.drop(session_id, 0)
        assert (await corrupt(storage, session_id)).seq == 0

    @clause("repeat")
    async def test_a_repeated_event_is_corruption(self, storage: Storage) -> None:
        """Two writers without a lock leave this behind."""
        session_id = await store_log(storage, turns(2))
        storage.repeat(session_id, 3)
        assert (await corrupt(storage, session_id)).seq == 4

    @clause("garble")
    async def test_invalid_utf8_within_data_is_corruption(self, storage: Storage) -> None:
        """Data that is decoded late would hide it until somebody looks."""
        session_id = await store_log(storage, turns(2))
        storage.garble(session_id, 1)
        assert (await corrupt(storage, session_id)).seq == 1

    @clause("add_event_key")
    async def test_an_unknown_envelope_key_is_refused_by_name(self, storage: Storage) -> None:
        """A build must not pretend to read what it cannot keep."""
        session_id = await store_log(storage, turns(2))
        storage.add_event_key(session_id, 3, "flavour", "new")
        with pytest.raises(SessionError) as caught:
            await load_fresh(storage, session_id)
        assert "flavour" in str(caught.value)

    @clause("add_event_key", "image")
    async def test_a_last_event_with_an_unknown_envelope_key_is_not_cut(self, storage: Storage) -> None:
        """It was fully written, by a build that knows more: it is no torn tail."""
        log = Log().turn_start().turn_end().turn_start(2).user("from the future")
        session_id = await store_log(storage, log.events)
        storage.add_event_key(session_id, 3, "flavour", "new")
        before = storage.image(session_id)
        with pytest.raises(SessionError) as caught:
            await load_fresh(storage, session_id)
        assert "flavour" in str(caught.value)
        assert storage.image(session_id) == before

    @clause("add_header_key")
    async def test_an_unknown_header_key_is_refused_by_name(self, storage: Storage) -> None:
        """The header is closed, as the envelope is."""
        session_id = await store_log(storage, turns())
        storage.add_header_key(session_id, "flavour", "new")
        with pytest.raises(SessionError) as caught:
            await load_fresh(storage, session_id)
        assert "flavour" in str(caught.value)

    @clause("set_header")
    async def test_an_unknown_format_version_is_refused(self, storage: Storage) -> None:
        """There is no migration: a version is known or it is not."""
        session_id = await store_log(storage, turns())
        storage.set_header(session_id, version=7)
        for refused in (load_fresh, read_fresh):
            with pytest.raises(UnsupportedVersion) as caught:
                await refused(storage, session_id)
            assert caught.value.found == 7

    @clause("set_header", "image")
    async def test_a_session_of_an_unknown_version_is_left_as_it_is(self, storage: Storage) -> None:
        """Also when its last turn looks interrupted to this build."""
        session_id = await store_log(storage, Log().turn_start().user("hi").events)
        storage.set_header(session_id, version=7)
        before = storage.image(session_id)
        with pytest.raises(UnsupportedVersion):
            await load_fresh(storage, session_id)
        assert storage.image(session_id) == before

    @clause("set_header")
    async def test_a_stored_header_with_another_id_is_corruption(self, storage: Storage) -> None:
        """A copied file is not the session that it was copied over."""
        session_id = await store_log(storage, turns())
        storage.set_header(session_id, id="other")
        await corrupt(storage, session_id)
        assert session_id == sid("sample")
