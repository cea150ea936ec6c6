"""A recorded session played through the loop gives the recorded log."""

from __future__ import annotations

import copy

import pytest

from dsh_agent import Agents, ReplayModel, recorded_tools
from dsh_session import Source


async def _replay(agents: Agents, events):
    agent = agents.create(model=ReplayModel(events), tools=recorded_tools(events))
    for event in events:
        if event.type == "user/message":
            source = Source.model_validate(copy.deepcopy(event.data["source"]))
            await agent.prompt(copy.deepcopy(event.data["content"]), source=source)
    return agent


def _facts(event):
    return event.type, event.seq, event.data, event.source_event_seqs, event.surface_op


@pytest.mark.parametrize(
    "name", ["text-turn", "multi-turn", "tool-call-turn", "fs-edit", "subagent-fork.parent", "error-finish"]
)
async def test_a_recorded_log_comes_out_of_the_loop_as_it_went_in(name, agents, recording):
    """Replay is the proof that the loop writes what other implementations of the format write."""
    _, recorded = recording(name)
    agent = await _replay(agents, recorded)
    assert [_facts(event) for event in agent.session.events] == [_facts(event) for event in recorded]


@pytest.mark.parametrize("name", ["text-turn", "multi-turn", "tool-call-turn"])
async def test_a_replay_of_a_replay_is_equal_too(name, agents, recording):
    """What this loop writes is itself a recording."""
    _, recorded = recording(name)
    first = await _replay(agents, recorded)
    second = await _replay(agents, list(first.session.events))
    assert [_facts(event) for event in second.session.events] == [_facts(event) for event in recorded]


async def test_a_request_after_the_last_recorded_step_ends_the_turn_with_an_error(agents, recording):
    """A recording that has run out must not look like an answer."""
    _, recorded = recording("text-turn")
    agent = await _replay(agents, recorded)
    reason = await agent.prompt("And now?")
    assert (reason.kind, reason.code) == ("error", "replay-ended")


async def test_a_recorded_abort_does_not_replay_as_an_answer(agents, recording):
    """A step that was cut short has no message, so the replay says where the recording stopped."""
    _, recorded = recording("cancel")
    agent = await _replay(agents, recorded)
    chunks = [event.data for event in agent.session.events if event.type == "assistant/chunk"]
    assert chunks == [event.data for event in recorded if event.type == "assistant/chunk"]
    assert agent.session.events[-1].data["reason"]["code"] == "replay-ended"
