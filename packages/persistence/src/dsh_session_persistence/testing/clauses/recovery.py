"""A crashed turn is closed and never truncated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dsh_session import SessionEvent
from dsh_session.repair import interrupted_turn_closers
from dsh_session_persistence.errors import SequenceMismatch, StorageFailure
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import Log, header, seqs, sid, turns, typed
from dsh_session_persistence.testing.scenes import listed, load_fresh, read_fresh, store_log
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Recovery"]


async def closers(storage: Storage, log: Log) -> list[SessionEvent]:
    """Store a log, load it with fresh eyes, check that nothing of it is lost, and return what was added."""
    session_id = await store_log(storage, log.events)
    events = list((await load_fresh(storage, session_id)).events)
    assert events[: len(log.events)] == log.events
    assert seqs(events) == list(range(len(events)))
    return events[len(log.events) :]


def answers(events: Sequence[SessionEvent]) -> list[Any]:
    """Return the call ids of the results among events."""
    return [event.data["callId"] for event in events if event.type == "tool/result"]


class Recovery(Clauses):
    """`load` closes what a crash left open, durably and once."""

    @clause()
    async def test_an_interrupted_turn_is_closed(self, storage: Storage) -> None:
        """Without an end the next turn would nest in a dead one."""
        added = await closers(storage, Log().turn_start(3).user("hi"))
        assert typed(added) == ["turn/end"]
        assert added[0].data["turn"] == 3
        assert added[0].data["reason"] == {"kind": "interrupted"}

    @clause()
    async def test_an_open_step_is_closed_before_its_turn(self, storage: Storage) -> None:
        """Steps nest in turns."""
        log = Log().turn_start().step_start().step_end().step_start().chunk("so far")
        added = await closers(storage, log)
        assert typed(added) == ["step/end", "turn/end"]
        assert (added[0].data["turn"], added[0].data["step"]) == (1, 2)

    @clause()
    async def test_the_work_of_an_interrupted_turn_is_kept(self, storage: Storage) -> None:
        """A turn may be hours of work: every event that was fully written stays."""
        log = Log().turn_start()
        for number in range(50):
            log.step_start().chunk("x").message("y", f"call-{number}").call(f"call-{number}")
            log.result(f"call-{number}").step_end()
        assert typed(await closers(storage, log)) == ["turn/end"]

    @clause()
    async def test_an_unanswered_call_gets_an_error_result(self, storage: Storage) -> None:
        """A provider refuses a history in which a call has no result."""
        log = Log().turn_start().step_start().message("looking", "call-a")
        added = await closers(storage, log)
        assert typed(added) == ["tool/result", "step/end", "turn/end"]
        assert added[0].data["callId"] == "call-a"
        assert added[0].data["isError"] is True
        assert added[0].data["error"]["name"] == "InterruptedError"
        assert added[0].data["error"]["code"] == "interrupted"

    @clause()
    async def test_a_call_in_a_closed_step_is_answered_without_closing_a_step(self, storage: Storage) -> None:
        """A crash may fall between the end of a step and the end of its turn."""
        log = Log().turn_start().step_start().message("looking", "call-a").step_end()
        assert typed(await closers(storage, log)) == ["tool/result", "turn/end"]

    @clause()
    async def test_several_unanswered_calls_are_answered_in_order(self, storage: Storage) -> None:
        """Tools run side by side: all of them may have been under way."""
        log = Log().turn_start().step_start().message("looking", "call-a", "call-b", "call-c").call("call-a")
        added = await closers(storage, log)
        assert typed(added) == ["tool/result"] * 3 + ["step/end", "turn/end"]
        assert answers(added) == ["call-a", "call-b", "call-c"]

    @clause()
    async def test_a_call_that_was_answered_out_of_order_is_not_answered_again(self, storage: Storage) -> None:
        """Results come in the order in which tools finish."""
        log = Log().turn_start().step_start().message("looking", "call-a", "call-b", "call-c")
        log.call("call-a").call("call-b").call("call-c").result("call-c").result("call-a")
        assert answers(await closers(storage, log)) == ["call-b"]

    @clause()
    async def test_a_started_call_is_told_from_one_that_never_started(self, storage: Storage) -> None:
        """Whether a command may have run decides whether it is safe to try again."""
        log = Log().turn_start().step_start().message("looking", "same", "other").call("same")
        added = await closers(storage, log)
        started, unstarted = added[0], added[1]
        assert 3 in (started.source_event_seqs or ())
        assert 3 not in (unstarted.source_event_seqs or ())
        assert started.data["content"] != unstarted.data["content"]

    @clause()
    async def test_closers_carry_the_time_of_the_last_real_event(self, storage: Storage) -> None:
        """The work ended when it was interrupted, not when somebody came back."""
        log = Log().turn_start().step_start().message("looking", "call-a")
        last = log.events[-1].time
        assert [event.time for event in await closers(storage, log)] == [last] * 3

    @clause()
    async def test_closers_are_what_the_session_package_computes(self, storage: Storage) -> None:
        """One function decides how a turn is closed, here and in a fork."""
        log = Log().turn_start().step_start().message("looking", "call-a", "call-b").call("call-b")
        assert await closers(storage, log) == list(interrupted_turn_closers(log.events))

    @clause()
    async def test_closers_are_durable(self, storage: Storage) -> None:
        """What `load` returned is on the medium, also if the process dies directly afterwards."""
        session_id = await store_log(storage, Log().turn_start().step_start().chunk("x").events)
        persistence = storage.open()
        loaded = list((await persistence.load(session_id)).events)
        storage.crash(persistence)
        assert len(loaded) == 5
        assert list((await read_fresh(storage, session_id)).events) == loaded

    @clause()
    async def test_a_second_load_adds_nothing(self, storage: Storage) -> None:
        """Closers are part of the log; a closed turn is not closed again."""
        session_id = await store_log(storage, Log().turn_start().step_start().message("m", "call-a").events)
        first = await load_fresh(storage, session_id)
        async with storage.open() as persistence:
            assert await persistence.load(session_id) == first
            assert await persistence.load(session_id) == first
        assert (await read_fresh(storage, session_id)).events == first.events

    @clause("image")
    async def test_a_balanced_session_is_left_as_it_is(self, storage: Storage) -> None:
        """Loading what needs no repair writes nothing."""
        session_id = await store_log(storage, turns(2))
        before = storage.image(session_id)
        assert list((await load_fresh(storage, session_id)).events) == turns(2)
        assert storage.image(session_id) == before

    @clause()
    async def test_a_repaired_session_goes_on(self, storage: Storage) -> None:
        """The next turn follows the closers."""
        session_id = await store_log(storage, Log().turn_start().user("hi").events)
        more = turns(1, start=3, first_turn=2)
        async with storage.open() as persistence:
            loaded = list((await persistence.load(session_id)).events)
            await persistence.append(session_id, more)
        assert list((await read_fresh(storage, session_id)).events) == [*loaded, *more]

    @clause()
    async def test_appending_to_an_unseen_session_repairs_it_first(self, storage: Storage) -> None:
        """A writer that does not know of the crash is told where the log ends now."""
        log = Log().turn_start().step_start()
        session_id = await store_log(storage, log.events)
        async with storage.open() as persistence:
            with pytest.raises(SequenceMismatch) as caught:
                await persistence.append(session_id, [*log.chunk("more").events][-1:])
        assert (caught.value.expected, caught.value.got) == (4, 2)
        assert typed((await read_fresh(storage, session_id)).events)[2:] == ["step/end", "turn/end"]

    @clause()
    async def test_an_append_that_follows_the_closers_is_stored(self, storage: Storage) -> None:
        """Whoever knows how a turn is closed needs no load."""
        session_id = await store_log(storage, Log().turn_start().step_start().events)
        more = turns(1, start=4, first_turn=2)
        async with storage.open() as persistence:
            await persistence.append(session_id, more)
        assert list((await read_fresh(storage, session_id)).events)[4:] == more

    @clause("image")
    async def test_reading_repairs_nothing(self, storage: Storage) -> None:
        """A viewer beside a running session must not end its turn."""
        log = Log().turn_start().step_start().message("m", "call-a")
        session_id = await store_log(storage, log.events)
        before = storage.image(session_id)
        assert list((await read_fresh(storage, session_id)).events) == log.events
        assert await listed(storage) == [header()]
        assert storage.image(session_id) == before

    @clause()
    async def test_a_half_written_repair_is_finished_by_the_next_load(self, storage: Storage) -> None:
        """A crash may fall into the repair: what it left is an interrupted turn like any other."""
        log = Log().turn_start().step_start().message("m", "call-a", "call-b")
        whole = list(interrupted_turn_closers(log.events))
        session_id = await store_log(storage, [*log.events, *whole[:1]])
        events = list((await load_fresh(storage, session_id)).events)
        assert answers(events) == ["call-a", "call-b"]
        assert typed(events)[-2:] == ["step/end", "turn/end"]
        assert len(events) == len(log.events) + len(whole)

    @clause("faults")
    async def test_a_failed_repair_is_repeated(self, storage: Storage) -> None:
        """`load` returns nothing that is not durable, and a failure is no verdict on the session."""
        log = Log().turn_start().step_start()
        session_id = await store_log(storage, log.events)
        async with storage.open() as persistence:
            faults = storage.faults(persistence)
            faults.fail_repairs()
            with pytest.raises(StorageFailure):
                await persistence.load(session_id)
            assert list((await read_fresh(storage, session_id)).events) == log.events
            assert len((await persistence.load(session_id)).events) == 4

    @clause("strip_events")
    async def test_a_header_alone_is_an_empty_session(self, storage: Storage) -> None:
        """It loads, it is not listed, and its log starts at zero."""
        session_id = await store_log(storage, turns())
        storage.strip_events(session_id)
        assert await listed(storage) == []
        async with storage.open() as persistence:
            loaded = await persistence.load(sid("sample"))
            assert (loaded.header, list(loaded.events)) == (header(), [])
            await persistence.append(session_id, turns())
        assert list((await read_fresh(storage, session_id)).events) == turns()
