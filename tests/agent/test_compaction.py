"""Compaction: the history gets shorter, the log does not change, and everything else still works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_agent import (
    Agents,
    Call,
    CompactEnd,
    Compaction,
    CompactStart,
    CompactSummary,
    Hooks,
    ModelError,
    Reply,
    ScriptedModel,
    Tool,
    UnbalancedCut,
    replace_range,
)
from dsh_agent.compaction import surface_events
from dsh_session import InvalidSurfaceOp, MessageTrigger, SessionStore, Source, TurnStart
from dsh_session_persistence import MemoryMedium, MemoryPersistence


async def _fine(arguments: str) -> str:
    return "fine"


FINE = Tool(name="fine", description="", function=_fine)


def _agent(agents: Agents, replies, summaries, *, most: int = 6, keep: int = 2, session_id: str | None = None):
    compaction = Compaction(ScriptedModel(summaries), max_messages=most, keep_messages=keep)
    return agents.create(
        model=ScriptedModel(replies), tools=[FINE], hooks=Hooks(before_step=[compaction]), session_id=session_id
    )


async def _talk(agent, turns: int) -> None:
    for turn in range(turns):
        assert (await agent.prompt(f"prompt {turn}")).kind == "completed"


async def test_a_long_history_gets_short_and_the_log_stays(agents, of_type, check_log, check_transcript):
    """The original is still there for replay, fork and whoever doubts the summary."""
    agent = _agent(agents, ["a", "b", "c", "d"], ["they talked"])
    await _talk(agent, 3)
    before = list(agent.session.events)
    await agent.prompt("prompt 3")
    assert list(agent.session.events[: len(before)]) == before
    texts = [message.content[0].text for message in agent.session.derive_messages()]
    assert texts[0].endswith("they talked")
    assert texts[1:] == ["c", "prompt 3", "d"]
    (summary,) = [event for event in agent.session.events if event.surface_op not in {None, "append"}]
    shadowed = [event.seq for event in before if event.surface_op == "append"][:5]
    assert set(shadowed) <= set(summary.source_event_seqs or ())
    assert (summary.surface_op.start, summary.surface_op.end) == (shadowed[0], shadowed[-1])
    events = agent.session.events
    assert [len(of_type(events, kind)) for kind in ("compact/start", "compact/summary", "compact/end")] == [1, 1, 1]
    assert len(of_type(events, "user/message")) == 5
    check_log(events)
    check_transcript(agent.session.derive_messages())


async def test_its_events_are_typed_like_those_of_the_core(agents):
    """The vocabulary is open: a plugin's model reads its events back."""
    agent = _agent(agents, ["a", "b", "c", "d"], ["they talked"])
    await _talk(agent, 4)
    found = [event.payload() for event in agent.session.events if event.type.startswith("compact/")]
    assert [type(payload) for payload in found] == [CompactStart, CompactSummary, CompactEnd]
    assert found[1].text == "they talked"


async def test_compaction_happens_again_over_its_own_summary(agents, check_log, check_transcript):
    """A session can go on for ever."""
    agent = _agent(agents, [str(n) for n in range(12)], [f"summary {n}" for n in range(12)])
    await _talk(agent, 12)
    messages = agent.session.derive_messages()
    assert len(messages) <= 8
    assert sum("Summary of" in message.content[0].text for message in messages) == 1
    check_log(agent.session.events)
    check_transcript(messages)


async def test_the_summarizing_model_sees_what_it_is_to_summarize(agents):
    """And the instruction behind it."""
    writer = ScriptedModel(["short"])
    compaction = Compaction(writer, max_messages=3, keep_messages=1, instruction="Be brief.")
    agent = agents.create(model=ScriptedModel(["a", "b"]), hooks=Hooks(before_step=[compaction]))
    await _talk(agent, 1)
    agent.inject("it is noon", Source(kind="plugin"))
    await _talk(agent, 1)
    texts = [message.content[0].text for message in writer.requests[0]]
    assert texts[:2] == ["prompt 0", "a"]
    assert "it is noon" in texts[2]
    assert texts[3] == "Be brief."


async def test_a_cut_never_parts_a_call_from_its_result(agents, check_transcript):
    """Providers reject such a transcript."""
    replies = [Reply(text="x", calls=[Call(name="fine"), Call(name="fine")])] * 3 + ["done"]
    for keep in range(1, 8):
        agent = _agent(agents, replies, ["s"] * 9, most=8, keep=keep)
        agent.setup.model.requests.clear()
        await _talk(agent, 1)
        for request in agent.setup.model.requests:
            check_transcript(request)
        check_transcript(agent.session.derive_messages())


async def test_an_unbalanced_range_is_refused_and_leaves_no_trace(agents):
    """Whoever chooses a range by hand is told which calls it would part."""
    agent = agents.create(model=ScriptedModel([Reply(calls=[Call(name="fine", id="c1")]), "ok"]), tools=[FINE])
    await _talk(agent, 1)
    session = agent.session
    session.append(TurnStart(turn=2, trigger=MessageTrigger(source=Source(kind="user"))))
    surface = surface_events(session)
    count = len(session.events)
    assert [event.type for event in surface] == [
        "user/message",
        "assistant/message",
        "tool/result",
        "assistant/message",
    ]
    for first, last in ((0, 1), (2, 3)):
        with pytest.raises(UnbalancedCut) as refused:
            replace_range(session, "short", first=surface[first].seq, last=surface[last].seq)
        assert refused.value.call_ids == ("c1",)
    with pytest.raises(InvalidSurfaceOp):
        replace_range(session, "short", first=0, last=surface[2].seq)
    assert len(session.events) == count
    replace_range(session, "short", first=surface[1].seq, last=surface[2].seq)
    assert [message.content[0].text for message in session.derive_messages()] == ["prompt 0", "short", "ok"]


async def test_a_failing_summary_leaves_the_history_as_it_is(agents, of_type, check_log):
    """The turn goes on, and the log says why nothing was compacted."""
    agent = _agent(agents, ["a", "b", "c", "d"], [ModelError("overloaded")] * 9)
    await _talk(agent, 4)
    assert len(agent.session.derive_messages()) == 8
    assert of_type(agent.session.events, "compact/end")[0]["error"] == "overloaded"
    check_log(agent.session.events)


async def test_an_empty_summary_is_a_failing_one(agents, of_type):
    """A history must not be replaced by nothing."""
    agent = _agent(agents, ["a", "b", "c", "d"], [" "])
    await _talk(agent, 4)
    assert of_type(agent.session.events, "compact/end")[0]["error"] == "the summary is empty"


async def test_an_abort_during_a_summary_ends_the_turn(agents, of_type, check_log):
    """A compaction is as stoppable as everything else."""
    reached = asyncio.Event()

    class Slow:
        async def stream(self, messages, tools) -> AsyncIterator[object]:
            reached.set()
            await asyncio.Event().wait()
            yield {}

    compaction = Compaction(Slow(), max_messages=3, keep_messages=1)
    agent = agents.create(model=ScriptedModel(["a", "b"]), hooks=Hooks(before_step=[compaction]))
    await _talk(agent, 1)
    turn = asyncio.create_task(agent.prompt("1"))
    await asyncio.sleep(0)
    agent.steer("more")
    await reached.wait()
    agent.abort("stop")
    assert (await turn).kind == "aborted"
    assert of_type(agent.session.events, "compact/end")[0]["error"] == "cancelled"
    check_log(agent.session.events)


async def test_resume_and_fork_know_nothing_of_compaction_and_are_right():
    """The surface is rebuilt from the log; before the replacement the full history is there."""
    medium = MemoryMedium()
    async with MemoryPersistence(medium) as persistence:
        agents = Agents(SessionStore(), persistence)
        agent = _agent(agents, ["a", "b", "c", "d"], ["they talked"], session_id="task")
        await _talk(agent, 4)
        expected = agent.session.derive_messages()
        start = next(event.seq for event in agent.session.events if event.type == "compact/start")
        assert len(agents.fork(agent, upto=start).session.derive_messages()) == 7
        assert agents.fork(agent).session.derive_messages() == expected
    async with MemoryPersistence(medium) as persistence:
        resumed = await Agents(SessionStore(), persistence).resume("task", model=ScriptedModel(["e"]))
        assert resumed.session.derive_messages() == expected
        assert (await resumed.prompt("on")).kind == "completed"
        assert len(resumed.session.derive_messages()) == len(expected) + 2


@pytest.mark.parametrize(("most", "keep"), [(3, 3), (2, 5), (5, 0)])
def test_bounds_that_cannot_hold_are_refused(most, keep):
    """A compaction that can never cut would ask for a summary before every step."""
    with pytest.raises(ValueError, match="keep_messages"):
        Compaction(ScriptedModel([]), max_messages=most, keep_messages=keep)


@settings(max_examples=60, deadline=None)
@given(
    calls=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    most=st.integers(2, 9),
    keep=st.integers(1, 8),
)
def test_any_conversation_compacts_to_a_valid_transcript(calls, most, keep, check_log, check_transcript):
    """Whatever the calls, and wherever the cut would fall."""
    replies = [Reply(text=f"r{n}", calls=[Call(name="fine")] * count) for n, count in enumerate(calls)]

    async def talk() -> None:
        agent = _agent(Agents(SessionStore()), [*replies, "end"], ["s"] * 50, most=max(most, keep + 1), keep=keep)
        await agent.prompt("go")
        for request in agent.setup.model.requests:
            check_transcript(request)
        check_log(agent.session.events)
        check_transcript(agent.session.derive_messages())

    asyncio.run(talk())
