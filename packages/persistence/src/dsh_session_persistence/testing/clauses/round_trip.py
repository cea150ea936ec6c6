"""What is stored comes back, without a byte of its meaning lost."""

from __future__ import annotations

import asyncio
from typing import Any

from dsh_session import Replace, SessionEvent
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import Log, header, sid, turns, typed
from dsh_session_persistence.testing.scenes import load_fresh, read_fresh, store_log
from dsh_session_persistence.testing.storage import Storage

__all__ = ["RoundTrip"]


async def returned(storage: Storage, data: dict[str, Any]) -> SessionEvent:
    """Store one event in a whole turn and return it as a fresh instance reads it."""
    log = Log().turn_start().add("probe/value", data).turn_end()
    session_id = await store_log(storage, log.events)
    return list((await read_fresh(storage, session_id)).events)[1]


class RoundTrip(Clauses):
    """Events and headers come back equal."""

    @clause()
    async def test_events_come_back_equal_in_the_same_instance(self, storage: Storage) -> None:
        """A caller that stores and reads through one instance sees its own events."""
        async with storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), turns(2))
            assert list((await persistence.read(sid("sample"))).events) == turns(2)
            assert list((await persistence.load(sid("sample"))).events) == turns(2)

    @clause()
    async def test_events_come_back_equal_in_a_fresh_instance(self, storage: Storage) -> None:
        """What is stored is on the medium, not in the instance."""
        session_id = await store_log(storage, turns(2))
        assert list((await load_fresh(storage, session_id)).events) == turns(2)

    @clause()
    async def test_acknowledged_events_survive_a_crash(self, storage: Storage) -> None:
        """Returning from `append` is the promise that a killed process keeps."""
        persistence = storage.open()
        await persistence.create(header())
        await persistence.append(sid("sample"), turns(2))
        storage.crash(persistence)
        assert list((await load_fresh(storage, sid("sample"))).events) == turns(2)

    @clause()
    async def test_every_chunk_is_stored(self, storage: Storage) -> None:
        """A log without its chunks would have holes in its seqs, and could not be played back."""
        log = Log().turn_start().step_start().chunk("a").chunk("b").chunk("").step_end().turn_end()
        session_id = await store_log(storage, log.events)
        events = (await read_fresh(storage, session_id)).events
        assert typed(events).count("assistant/chunk") == 3
        assert list(events) == log.events

    @clause()
    async def test_a_type_that_nobody_knows_is_carried(self, storage: Storage) -> None:
        """The vocabulary is open: a plugin's events are stored like all others."""
        data = {"kind": "?", "nested": {"list": [1, None, True, {"deep": []}], "": 0}}
        event = await returned(storage, data)
        assert (event.type, event.data) == ("probe/value", data)

    @clause()
    async def test_the_time_of_an_event_is_kept(self, storage: Storage) -> None:
        """Times are milliseconds since the epoch, zero and far ones included."""
        log = Log().add("a", {}, time=0).add("b", {}, time=1).add("c", {}, time=253_402_300_799_999)
        session_id = await store_log(storage, log.events)
        assert [event.time for event in (await read_fresh(storage, session_id)).events] == [
            0,
            1,
            253_402_300_799_999,
        ]

    @clause()
    async def test_numbers_keep_their_kind(self, storage: Storage) -> None:
        """`1` and `1.0` are different values of JSON data, and so are `0.0` and `-0.0`."""
        numbers: list[Any] = [1, 1.0, 0, 0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1]
        event = await returned(storage, {"numbers": numbers})
        assert repr(event.data["numbers"]) == repr(numbers)

    @clause()
    async def test_integers_of_any_size_are_exact(self, storage: Storage) -> None:
        """A medium that goes through doubles or 64 bits rounds them."""
        integers = [2**53 + 1, -(2**63), 2**64 + 1, 10**100 + 7]
        event = await returned(storage, {"integers": integers})
        assert list(event.data["integers"]) == integers

    @clause()
    async def test_the_order_of_keys_is_kept(self, storage: Storage) -> None:
        """A replayed tool call shows its arguments as the model wrote them."""
        event = await returned(storage, {"z": 1, "a": 2, "m": {"y": 1, "b": 2}})
        assert list(event.data) == ["z", "a", "m"]
        assert list(event.data["m"]) == ["y", "b"]

    @clause()
    async def test_lone_surrogates_survive(self, storage: Storage) -> None:
        """They come from broken file names and tool output, and are legal in JSON as escapes."""
        event = await returned(storage, {"name": "caf\udce9", "high": "\ud83d!"})
        assert (event.data["name"], event.data["high"]) == ("caf\udce9", "\ud83d!")

    @clause()
    async def test_control_and_separator_characters_survive(self, storage: Storage) -> None:
        """A medium of lines must not be split by characters that some programs take for line ends."""
        text = "nul\x00 lf\n cr\r nel\x85 ls\u2028 ps\u2029 vt\x0b ff\x0c rs\x1e del\x7f bom\ufeff"
        assert (await returned(storage, {"text": text})).data["text"] == text

    @clause()
    async def test_characters_outside_the_basic_plane_survive(self, storage: Storage) -> None:
        """Emoji and rare scripts take four bytes in UTF-8 and two units in UTF-16."""
        text = "👩‍🚀 𝄞 𠜎 e\u0301 é"
        assert (await returned(storage, {text: text})).data == {text: text}

    @clause()
    async def test_a_large_event_survives(self, storage: Storage) -> None:
        """A tool may return megabytes."""
        text = "0123456789abcde\n" * 131_072
        assert (await returned(storage, {"text": text})).data["text"] == text

    @clause()
    async def test_how_an_event_enters_the_surface_is_kept(self, storage: Storage) -> None:
        """Compaction is a replacement in the log; an absent operation differs from `append`."""
        log = Log().turn_start().user("a").user("b")
        log.add("user/message", {"content": [], "source": {"kind": "user"}})
        log.add("context/message", {"content": []}, surface_op=Replace(start=1, end=2), source_event_seqs=[1, 2])
        log.turn_end()
        session_id = await store_log(storage, log.events)
        events = (await read_fresh(storage, session_id)).events
        assert [event.surface_op for event in events[1:5]] == [
            "append",
            "append",
            None,
            Replace(start=1, end=2),
        ]

    @clause()
    async def test_the_sources_of_an_event_are_kept(self, storage: Storage) -> None:
        """Where a result came from is part of the log; an empty list is not an absent one."""
        log = Log().turn_start().add("a", {}, source_event_seqs=[0]).add("b", {}, source_event_seqs=[])
        log.add("c", {}).turn_end()
        session_id = await store_log(storage, log.events)
        events = (await read_fresh(storage, session_id)).events
        sources = [event.source_event_seqs for event in events[1:4]]
        assert [source if source is None else list(source) for source in sources] == [[0], [], None]

    @clause()
    async def test_batches_are_joined_in_order(self, storage: Storage) -> None:
        """Where one batch ends and the next begins is nothing that a reader can see."""
        events = turns(3)
        async with storage.open() as persistence:
            await persistence.create(header())
            for start, end in ((0, 1), (1, 2), (2, 17), (17, len(events))):
                await persistence.append(sid("sample"), events[start:end])
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_sessions_do_not_mix(self, storage: Storage) -> None:
        """Appends to several sessions take turns; each log holds its own."""
        logs = {name: turns(2, first_turn=turn) for turn, name in enumerate(("one", "two", "three"), start=10)}
        async with storage.open() as persistence:
            for name in logs:
                await persistence.create(header(name))
            for index in range(len(turns(2))):
                for name, events in logs.items():
                    await persistence.append(sid(name), events[index : index + 1])
        for name, events in logs.items():
            assert list((await read_fresh(storage, sid(name))).events) == events

    @clause()
    async def test_a_batch_is_taken_as_it_is_at_the_call(self, storage: Storage) -> None:
        """A caller may reuse its list once the call has begun; what it does then reaches no log."""
        async with storage.open() as persistence:
            await persistence.create(header())
            batch = turns(1)
            append = persistence.append(sid("sample"), batch)
            stored = await _begun(append, batch.clear)
            assert stored is None
        assert list((await read_fresh(storage, sid("sample"))).events) == turns(1)

    @clause()
    async def test_every_header_field_comes_back(self, storage: Storage) -> None:
        """The header is what a session is found by; forks keep their lineage in it."""
        full = header("full", created_at=7, cwd="/a b/ü\n", parent_session=sid("parent"), seed_length=3)
        await store_log(storage, turns(), full)
        assert (await read_fresh(storage, full.id)).header == full
        assert (await load_fresh(storage, full.id)).header == full

    @clause()
    async def test_absent_header_fields_stay_absent(self, storage: Storage) -> None:
        """No working directory is not the working directory of somebody."""
        await store_log(storage, turns(), header("bare"))
        found = (await read_fresh(storage, sid("bare"))).header
        assert (found.cwd, found.parent_session, found.seed_length) == (None, None, None)

    @clause()
    async def test_zero_in_a_header_is_not_absent(self, storage: Storage) -> None:
        """A fork of nothing has a seed of length zero, and the epoch is a time."""
        zero = header("zero", created_at=0, parent_session=sid("parent"), seed_length=0)
        await store_log(storage, turns(), zero)
        found = (await read_fresh(storage, zero.id)).header
        assert (found.created_at, found.seed_length) == (0, 0)


async def _begun(append: Any, then: Any) -> object:
    """Start a coroutine, call something as soon as it waits, and finish it."""
    task = asyncio.ensure_future(append)
    await asyncio.sleep(0)
    then()
    return await task
