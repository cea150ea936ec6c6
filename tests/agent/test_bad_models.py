"""A model that breaks the protocol ends its turn with a reason; the log stays balanced and loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from pydantic import BaseModel

from dsh_agent import Call, Limits, ModelError, Reply, ScriptedModel, tool


class Nothing(BaseModel):
    """No arguments."""


@tool
async def look(arguments: Nothing) -> str:
    """Look."""
    return "seen"


def _start(index: int = 0, kind: str = "text"):
    return {"type": "block-start", "index": index, "blockType": kind}


def _delta(index: int = 0, text: str = "hi"):
    return {"type": "text-delta", "index": index, "text": text}


def _end(index: int = 0, text: str = "hi"):
    return {"type": "block-end", "index": index, "block": {"type": "text", "text": text}}


def _call(index: int, call_id: str, name: str = "look"):
    return [
        _start(index, "tool-call"),
        {
            "type": "block-end",
            "index": index,
            "block": {"type": "tool-call", "id": call_id, "name": name, "arguments": ""},
        },
    ]


def _finish(kind: str = "stop", **more: str):
    return {"type": "finish", "reason": {"kind": kind, **more}}


BROKEN = {
    "a delta before its block": ([_delta()], "not started"),
    "an end before its block": ([_end()], "not started"),
    "a block that starts twice": ([_start(), _start()], "starts twice"),
    "a delta after the end": ([_start(), _end(), _delta()], "has ended"),
    "a block that ends twice": ([_start(), _end(), _end()], "has ended"),
    "a delta of another kind": ([_start(kind="reasoning"), _delta()], "reasoning"),
    "an end of another kind": ([_start(kind="reasoning"), _end()], "reasoning"),
    "a chunk after the finish": ([_finish(), _start()], "after the finish"),
    "two finishes": ([_finish(), _finish()], "after the finish"),
    "no finish": ([_start(), _delta(), _end()], "without a finish"),
    "nothing at all": ([], "without a finish"),
    "a call without an id": ([*_call(0, ""), _finish("tool-calls")], "without an id"),
    "duplicate ids": ([*_call(0, "c"), *_call(1, "c"), _finish("tool-calls")], "'c'"),
    "an id that changes": (
        [
            _start(kind="tool-call"),
            {"type": "tool-call-delta", "index": 0, "id": "a"},
            {"type": "tool-call-delta", "index": 0, "id": "b"},
        ],
        "from 'a' to 'b'",
    ),
    "something that is no chunk": ([_start(), 42], "no chunk"),
    "a known chunk without its fields": ([{"type": "text-delta"}], "no chunk"),
    "a chunk that JSON cannot carry": ([{"type": "logprobs", "value": float("nan")}], "value"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_stream_ends_the_turn_with_what_was_wrong(
    name, agents, of_type, check_log, check_transcript
):
    """The reason says what happened, every acceptable chunk is in the log, and the next turn works."""
    chunks, words = BROKEN[name]
    agent = agents.create(model=ScriptedModel([chunks, "well"]), tools=[look])
    reason = await agent.prompt("go")
    assert (reason.kind, reason.code, reason.step) == ("error", "protocol", 1)
    assert words in reason.message
    logged = [data["chunk"] for data in of_type(agent.session.events, "assistant/chunk")]
    assert logged == chunks[: len(logged)]
    assert len(logged) >= len(chunks) - 1
    assert of_type(agent.session.events, "assistant/message") == []
    check_log(agent.session.events)
    assert (await agent.prompt("again")).kind == "completed"
    check_log(agent.session.events)
    check_transcript(agent.session.derive_messages())


async def test_an_id_of_an_earlier_step_of_the_turn_is_refused(agents, check_log):
    """A second answer to the same id could not be told from the first."""
    model = ScriptedModel([Reply(calls=[Call(name="look", id="c")]), Reply(calls=[Call(name="look", id="c")])])
    agent = agents.create(model=model, tools=[look])
    reason = await agent.prompt("go")
    assert (reason.kind, reason.code, reason.step) == ("error", "protocol", 2)
    check_log(agent.session.events)


async def test_an_id_of_an_earlier_turn_may_come_again(agents, check_log, check_transcript):
    """Some models count their calls anew in every turn."""
    replies = [
        Reply(calls=[Call(name="look", id="call_0")]),
        "one",
        Reply(calls=[Call(name="look", id="call_0")]),
        "two",
    ]
    agent = agents.create(model=ScriptedModel(replies), tools=[look])
    assert (await agent.prompt("1")).kind == "completed"
    assert (await agent.prompt("2")).kind == "completed"
    check_log(agent.session.events)
    check_transcript(agent.session.derive_messages())


async def test_text_after_a_tool_call_is_kept_where_it_stood(agents, of_type, check_transcript):
    """It is unusual, but nothing is wrong with it."""
    chunks = [*_call(0, "c"), _start(1), _end(1, "calling"), _finish("tool-calls")]
    agent = agents.create(model=ScriptedModel([chunks, "ok"]), tools=[look])
    assert (await agent.prompt("go")).kind == "completed"
    content = of_type(agent.session.events, "assistant/message")[0]["content"]
    assert [block["type"] for block in content] == ["tool-call", "text"]
    check_transcript(agent.session.derive_messages())


async def test_blocks_without_an_end_are_assembled_from_their_deltas(agents, of_type):
    """A stream that finished is complete even if a block did not say so."""
    chunks = [
        _start(),
        _delta(text="Hello"),
        _delta(text=" you"),
        _start(1, "tool-call"),
        {"type": "tool-call-delta", "index": 1, "id": "c", "name": "look", "argumentsDelta": "{"},
        {"type": "tool-call-delta", "index": 1, "argumentsDelta": "}"},
        _finish("tool-calls"),
    ]
    agent = agents.create(model=ScriptedModel([chunks, "ok"]), tools=[look])
    assert (await agent.prompt("go")).kind == "completed"
    assert of_type(agent.session.events, "assistant/message")[0]["content"] == [
        {"type": "text", "text": "Hello you"},
        {"type": "tool-call", "id": "c", "name": "look", "arguments": "{}"},
    ]


async def test_a_call_cut_off_at_the_output_limit_is_dropped(agents, of_type, check_log):
    """What the model meant is not known, so nothing runs."""
    chunks = [
        _start(kind="tool-call"),
        {"type": "tool-call-delta", "index": 0, "id": "c", "name": "look", "argumentsDelta": '{"a'},
        _finish("max-tokens"),
    ]
    agent = agents.create(model=ScriptedModel([chunks]), tools=[look])
    assert (await agent.prompt("go")).kind == "max-tokens"
    assert of_type(agent.session.events, "tool/call") == []
    check_log(agent.session.events)


async def test_a_usage_may_follow_the_finish(agents, of_type):
    """Some providers report it last."""
    usage = {"type": "usage", "usage": {"inputTokens": 1, "outputTokens": 2}}
    agent = agents.create(model=ScriptedModel([[_start(), _end(), _finish(), usage]]))
    assert (await agent.prompt("go")).kind == "completed"
    assert of_type(agent.session.events, "assistant/message")[0]["usage"] == usage["usage"]


async def test_chunks_and_blocks_of_unknown_types_are_carried(agents, of_type):
    """The vocabulary is open on the way in as well."""
    image = {"type": "image", "data": "AAAA"}
    chunks = [
        {"type": "logprobs", "values": [-0.5]},
        _start(kind="image"),
        {"type": "block-end", "index": 0, "block": image},
        _start(1, "audio"),
        _finish(),
    ]
    agent = agents.create(model=ScriptedModel([chunks]))
    assert (await agent.prompt("go")).kind == "completed"
    assert [data["chunk"] for data in of_type(agent.session.events, "assistant/chunk")] == chunks
    assert of_type(agent.session.events, "assistant/message")[0]["content"] == [image]


async def test_an_exception_in_the_middle_of_a_block_keeps_what_had_come(agents, of_type, check_log):
    """The code of the provider's error is what a caller decides by."""

    class Breaking:
        async def stream(self, messages, tools) -> AsyncIterator[object]:
            yield _start()
            yield _delta()
            raise ModelError("overloaded", code="RATE")

    agent = agents.create(model=Breaking())
    reason = await agent.prompt("go")
    assert (reason.kind, reason.message, reason.code) == ("error", "overloaded", "RATE")
    assert len(of_type(agent.session.events, "assistant/chunk")) == 2
    check_log(agent.session.events)


@pytest.mark.parametrize(
    ("error", "message", "code"),
    [
        (ModelError("no", code="AUTH"), "no", "AUTH"),
        (ValueError("bad"), "ValueError: bad", None),
        (KeyError(), "KeyError", None),
        (OSError(5, "gone \udc80"), "OSError: [Errno 5] gone \\udc80", None),
        (ExceptionGroup("two", [ValueError("a")]), "ExceptionGroup: two (1 sub-exception)", None),
    ],
    ids=["with a code", "without", "without a text", "with a surrogate", "a group"],
)
async def test_whatever_a_model_raises_is_the_reason(error, message, code, agents, check_log):
    """An exception's text can hold anything, and must not break the end of the turn."""
    agent = agents.create(model=ScriptedModel([error]))
    reason = await agent.prompt("go")
    assert (reason.kind, reason.message, reason.code) == ("error", message, code)
    check_log(agent.session.events)


async def test_a_finish_that_reports_an_error_is_an_error(agents):
    """Not every provider raises."""
    agent = agents.create(
        model=ScriptedModel([[_finish("error", message="filtered", code="POLICY")], [_finish("error")]])
    )
    reason = await agent.prompt("go")
    assert (reason.kind, reason.message, reason.code) == ("error", "filtered", "POLICY")
    assert (await agent.prompt("go")).message == "the model reported an error"


async def test_an_endless_stream_ends_at_the_limit(agents, of_type, check_log):
    """A model that never waits must not starve the process either."""

    class Endless:
        async def stream(self, messages, tools) -> AsyncIterator[object]:
            yield _start()
            while True:
                yield _delta()

    ticks: list[int] = []

    async def tick() -> None:
        while True:
            ticks.append(1)
            await asyncio.sleep(0)

    agent = agents.create(model=Endless(), limits=Limits(max_chunks=500))
    ticking = asyncio.create_task(tick())
    reason = await agent.prompt("go")
    ticking.cancel()
    assert (reason.kind, reason.code) == ("error", "limit")
    assert "max_chunks=500" in reason.message
    assert len(of_type(agent.session.events, "assistant/chunk")) == 500
    assert len(ticks) > 10
    check_log(agent.session.events)


async def test_an_endless_stream_can_be_aborted(agents, check_log):
    """Without a limit in reach, an abort has to get through."""

    class Endless:
        async def stream(self, messages, tools) -> AsyncIterator[object]:
            yield _start()
            while True:
                yield _delta()

    agent = agents.create(model=Endless())
    turn = asyncio.create_task(agent.prompt("go"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(agent.session.events) > 50
    agent.abort()
    assert (await turn).kind == "aborted"
    check_log(agent.session.events)


async def test_a_model_that_stays_silent_runs_into_its_timeout(agents, check_log):
    """Silence is not an answer."""

    class Silent:
        async def stream(self, messages, tools) -> AsyncIterator[object]:
            await asyncio.Event().wait()
            yield _start()

    agent = agents.create(model=Silent(), limits=Limits(model_timeout_s=0.01))
    reason = await agent.prompt("go")
    assert (reason.kind, reason.code) == ("error", "timeout")
    check_log(agent.session.events)


async def test_a_model_that_calls_tools_for_ever_ends_at_the_limit_of_steps(agents, of_type, check_log):
    """A loop of calls is the usual way for an agent to run away."""
    agent = agents.create(
        model=ScriptedModel([Reply(calls=[Call(name="look")])] * 9), tools=[look], limits=Limits(max_steps=3)
    )
    reason = await agent.prompt("go")
    assert (reason.kind, reason.code) == ("error", "limit")
    assert len(of_type(agent.session.events, "step/start")) == 3
    check_log(agent.session.events)


async def test_a_model_that_is_no_model_is_an_error_of_the_turn(agents, check_log):
    """A coroutine in the place of an iterator is a frequent slip."""

    class Wrong:
        async def stream(self, messages, tools) -> list[object]:
            return []

    agent = agents.create(model=Wrong())
    reason = await agent.prompt("go")
    assert (reason.kind, reason.code) == ("error", "protocol")
    check_log(agent.session.events)
