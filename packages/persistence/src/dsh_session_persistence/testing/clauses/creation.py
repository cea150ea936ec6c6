"""When a session begins to exist, and how it is found."""

from __future__ import annotations

import pytest

from dsh_session_persistence.errors import (
    ConcurrentWriter,
    SequenceMismatch,
    SessionExists,
    SessionNotFound,
)
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import header, sid, turns
from dsh_session_persistence.testing.scenes import is_stored, listed, read_fresh, store_log
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Creation"]


class Creation(Clauses):
    """A session is stored by its first event, once, under one id."""

    @clause()
    async def test_a_created_session_is_not_stored_before_its_first_event(self, storage: Storage) -> None:
        """Whoever opens an agent and leaves again leaves nothing behind."""
        async with storage.open() as persistence:
            await persistence.create(header())
            assert not await is_stored(storage, sid("sample"))
        assert not await is_stored(storage, sid("sample"))

    @clause()
    async def test_a_created_session_is_not_listed_before_its_first_event(self, storage: Storage) -> None:
        """The instance that announced it does not list it either."""
        async with storage.open() as persistence:
            await persistence.create(header())
            assert await persistence.list() == []

    @clause()
    async def test_a_session_is_listed_from_its_first_event_on(self, storage: Storage) -> None:
        """One event is a session that somebody may want to resume."""
        async with storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), turns()[:1])
            assert await persistence.list() == [header()]
        assert await listed(storage) == [header()]

    @clause()
    async def test_the_list_carries_every_header_field(self, storage: Storage) -> None:
        """A picker shows working directory and lineage without reading the logs."""
        full = header("full", created_at=7, cwd="/work", parent_session=sid("parent"), seed_length=3)
        await store_log(storage, turns(), full)
        assert await listed(storage) == [full]

    @clause()
    async def test_the_list_is_sorted_by_creation_then_id(self, storage: Storage) -> None:
        """Every backend lists alike, whatever order its medium has."""
        stored = [
            header("b", created_at=2),
            header("c", created_at=1, cwd="/z"),
            header("a", created_at=2, cwd="/y"),
            header("d", created_at=3),
        ]
        for head in stored:
            await store_log(storage, turns(), head)
        assert [head.id for head in await listed(storage)] == ["c", "a", "b", "d"]

    @clause()
    async def test_an_id_is_created_once_in_an_instance(self, storage: Storage) -> None:
        """Two callers that announce one id would write into each other's log."""
        async with storage.open() as persistence:
            await persistence.create(header())
            with pytest.raises(SessionExists) as caught:
                await persistence.create(header(cwd="/elsewhere"))
            assert caught.value.session_id == "sample"

    @clause()
    async def test_a_stored_id_is_not_created_again(self, storage: Storage) -> None:
        """An id that is on the medium is taken, for an instance that has never seen it too."""
        await store_log(storage, turns())
        async with storage.open() as persistence:
            with pytest.raises(SessionExists) as caught:
                await persistence.create(header(cwd="/elsewhere"))
            assert caught.value.session_id == "sample"
        assert list((await read_fresh(storage, sid("sample"))).events) == turns()

    @clause()
    async def test_of_two_instances_that_create_an_id_one_stores_it(self, storage: Storage) -> None:
        """Creation writes nothing, so the first durable event decides; the second writer must not win or mix."""
        async with storage.open() as first, storage.open() as second:
            await first.create(header())
            await second.create(header(created_at=5))
            await first.append(sid("sample"), turns())
            with pytest.raises((SessionExists, ConcurrentWriter, SequenceMismatch)):
                await second.append(sid("sample"), turns(2))
        found = await read_fresh(storage, sid("sample"))
        assert (found.header, list(found.events)) == (header(), turns())

    @clause()
    async def test_appending_to_a_missing_session_is_refused(self, storage: Storage) -> None:
        """Without a header there is nothing to store events under."""
        async with storage.open() as persistence:
            with pytest.raises(SessionNotFound) as caught:
                await persistence.append(sid("missing"), turns())
            assert caught.value.session_id == "missing"
        assert not await is_stored(storage, sid("missing"))

    @clause()
    async def test_loading_a_missing_session_is_refused(self, storage: Storage) -> None:
        """A wrong id is the caller's mistake, not an empty session."""
        async with storage.open() as persistence:
            with pytest.raises(SessionNotFound) as caught:
                await persistence.load(sid("missing"))
            assert caught.value.session_id == "missing"

    @clause()
    async def test_reading_a_missing_session_is_refused(self, storage: Storage) -> None:
        """As for loading."""
        async with storage.open() as persistence:
            with pytest.raises(SessionNotFound) as caught:
                await persistence.read(sid("missing"))
            assert caught.value.session_id == "missing"

    @clause()
    async def test_an_append_of_nothing_is_no_operation(self, storage: Storage) -> None:
        """A drain with nothing to do creates no session, takes no lock and looks nothing up."""
        async with storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), [])
            await persistence.append(sid("never seen"), [])
            assert not await is_stored(storage, sid("sample"))
