"""What a turn does, in which order, and how callers reach into it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from pydantic import BaseModel

from dsh_agent import (
    AgentClosed,
    Agents,
    Call,
    Deny,
    Hooks,
    Limits,
    Reply,
    ScriptedModel,
    Tool,
    ToolContext,
    tool,
)
from dsh_session import InvalidEvent, NotJsonSerializable, SessionStore, Source, Text, Usage

PLUGIN = Source.model_validate({"kind": "plugin", "plugin": "clock"})


class Name(BaseModel):
    """Arguments of the tools below."""

    name: str = "x"


@tool
async def look(arguments: Name) -> str:
    """Look something up."""
    return f"saw {arguments.name}"


class Gate:
    """A tool that waits until it is let go."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self.was_cancelled = False

    @property
    def tool(self) -> Tool:
        """The tool."""

        async def wait(arguments: Name) -> str:
            """Wait."""
            self.reached.set()
            try:
                await self.opened.wait()
            except asyncio.CancelledError:
                self.was_cancelled = True
                raise
            return "done"

        return Tool(name="wait", description="", function=wait, arguments=Name)


class FlushLog:
    """A store listener that notes how long the log is at every flush, and fails when told to."""

    def __init__(self, store: SessionStore) -> None:
        self.lengths: list[int] = []
        self.failures = 0
        store.subscribe(self)

    async def flush(self, session) -> None:
        """See `dsh_session.SessionListener.flush`."""
        self.lengths.append(len(session.events))
        if self.failures:
            self.failures -= 1
            raise OSError("no space left")


def _model(*entries: object) -> ScriptedModel:
    return ScriptedModel(entries)  # type: ignore[arg-type] # what the script takes is its own test


async def test_a_turn_with_a_tool_logs_its_events_in_order(agents, types, check_log, check_transcript):
    """The order is the format: other implementations read it."""
    model = _model(Reply(text="Let me see.", calls=[Call(name="look", arguments={"name": "a"})]), "It is a.")
    agent = agents.create(model=model, tools=[look])
    reason = await agent.prompt("What is it?")
    assert reason.kind == "completed"
    assert types(agent.session.events) == [
        "turn/start",
        "user/message",
        "step/start",
        "assistant/chunk",
        "assistant/message",
        "tool/call",
        "tool/result",
        "step/end",
        "step/start",
        "assistant/chunk",
        "assistant/message",
        "step/end",
        "turn/end",
    ]
    check_log(agent.session.events)
    check_transcript(agent.session.derive_messages())
    assert [len(request) for request in model.requests] == [1, 3]


async def test_the_second_turn_sees_the_first_and_carries_the_next_number(agents, of_type):
    """A history that restarted would be a different conversation."""
    model = _model("One.", "Two.")
    agent = agents.create(model=model)
    await agent.prompt("1")
    await agent.prompt("2")
    assert [data["turn"] for data in of_type(agent.session.events, "turn/start")] == [1, 2]
    assert len(model.requests[1]) == 3


async def test_whoever_is_told_of_an_event_finds_it_in_the_log(agents):
    """A listener that reads the session must not see the past."""
    agent = agents.create(model=_model(Reply(text="hi", calls=[Call(name="look")]), "bye"), tools=[look])
    seen: list[bool] = []
    agent.subscribe(lambda event: seen.append(agent.session.events[event.seq] is event))
    await agent.prompt("go")
    assert len(seen) == len(agent.session.events)
    assert all(seen)


async def test_a_listener_that_raises_is_reported_and_changes_nothing(store):
    """Rendering is not allowed to break the record."""
    errors: list[BaseException] = []
    agent = Agents(store, on_error=errors.append).create(model=_model("hi"))

    def fail(event) -> None:
        raise LookupError(event.type)

    unsubscribe = agent.subscribe(fail)
    assert (await agent.prompt("go")).kind == "completed"
    assert len(errors) == len(agent.session.events)
    unsubscribe()
    agent.inject("more", PLUGIN)
    assert all(isinstance(error, LookupError) for error in errors)
    assert len(errors) < len(agent.session.events)


async def test_the_log_is_flushed_before_the_request_before_a_tool_and_at_the_end(agents, store):
    """Only then can a crash tell a call that never began from one whose outcome is unknown."""
    flushes = FlushLog(store)
    agent_events: list[str] = []
    model = _model(Reply(calls=[Call(name="look"), Call(name="look")]), "done")
    agent = agents.create(model=model, tools=[look])
    await agent.prompt("go")
    agent_events = [agent.session.events[length - 1].type for length in flushes.lengths]
    assert agent_events == ["step/start", "tool/call", "tool/call", "turn/end"]


async def test_a_call_is_durable_when_its_tool_begins(agents, store):
    """The flush is awaited, not merely started."""
    flushes = FlushLog(store)
    lengths: list[tuple[int, int]] = []

    async def probe(arguments: str, context: ToolContext) -> str:
        lengths.append((flushes.lengths[-1], len(context.session.events)))
        return "ok"

    agent = agents.create(
        model=_model(Reply(calls=[Call(name="probe")]), "done"),
        tools=[Tool(name="probe", description="", function=probe)],
    )
    await agent.prompt("go")
    assert len(lengths) == 1
    assert lengths[0][0] == lengths[0][1]


async def test_a_failing_flush_is_reported_and_is_no_event(store, check_log, caplog):
    """An event after the end of a turn would lie outside every turn."""
    errors: list[BaseException] = []
    flushes = FlushLog(store)
    agent = Agents(store, on_error=errors.append).create(model=_model("hi", "again"))
    flushes.failures = 2
    assert (await agent.prompt("go")).kind == "completed"
    assert len(errors) == 2
    assert all(isinstance(error, ExceptionGroup) for error in errors)
    assert "no space left" in caplog.text
    assert agent.session.events[-1].type == "turn/end"
    check_log(agent.session.events)
    assert (await agent.prompt("on")).kind == "completed"
    assert flushes.lengths[-1] == len(agent.session.events)


async def test_a_tool_whose_call_could_not_be_stored_does_not_run(agents, store, of_type, check_log):
    """A call that is not in the stored log must have had no effect."""
    flushes = FlushLog(store)
    runs: list[str] = []

    async def act(arguments: str) -> str:
        runs.append(arguments)
        return "acted"

    def fail_from_now(event) -> None:
        if event.type == "tool/call":
            flushes.failures = 1

    agent = agents.create(
        model=_model(Reply(calls=[Call(name="act")]), "I could not."),
        tools=[Tool(name="act", description="", function=act)],
    )
    agent.subscribe(fail_from_now)
    assert (await agent.prompt("go")).kind == "completed"
    assert runs == []
    assert of_type(agent.session.events, "tool/result")[0]["error"]["code"] == "not-stored"
    check_log(agent.session.events)


async def test_a_step_result_hook_amends_what_is_logged_and_what_is_dispatched(agents, of_type, check_log):
    """The log has to say what the tools were given, not what the model first said."""

    async def redirect(result):
        assert result.session.events[-1].type == "assistant/chunk"
        blocks = [
            block.model_copy(update={"arguments": '{"name": "b"}'}) if block.type == "tool-call" else block
            for block in result.message.content
        ]
        return result.message.model_copy(update={"content": blocks})

    agent = agents.create(
        model=_model(Reply(calls=[Call(name="look", arguments={"name": "a"})]), "ok"),
        tools=[look],
        hooks=Hooks(step_result=[redirect]),
    )
    await agent.prompt("go")
    events = agent.session.events
    assert of_type(events, "assistant/message")[0]["content"][0]["arguments"] == '{"name": "b"}'
    assert of_type(events, "tool/call")[0]["arguments"] == '{"name": "b"}'
    assert of_type(events, "tool/result")[0]["content"][0]["text"] == "saw b"
    check_log(events)


async def test_a_step_result_hook_can_withhold_a_call(agents, types):
    """What is not in the message is not dispatched, and the turn ends."""

    def withhold(result):
        return result.message.model_copy(update={"content": [Text(text="no tools today")]})

    agent = agents.create(
        model=_model(Reply(calls=[Call(name="look")])), tools=[look], hooks=Hooks(step_result=[withhold])
    )
    assert (await agent.prompt("go")).kind == "completed"
    assert "tool/call" not in types(agent.session.events)


async def test_a_step_result_hook_that_raises_ends_the_turn_with_an_error(agents, check_log):
    """A fault of the loop is the turn's end, with the log balanced."""

    async def fail(result):
        raise LookupError("rules are gone")

    agent = agents.create(model=_model("hi"), hooks=Hooks(step_result=[fail]))
    reason = await agent.prompt("go")
    assert (reason.kind, reason.step, reason.message) == ("error", 1, "LookupError: rules are gone")
    check_log(agent.session.events)


async def test_a_blocked_prompt_is_recorded_and_the_turn_is_rejected(agents, types, check_log):
    """Nobody should have to guess why nothing happened."""

    async def guard(submitted):
        return Deny(reason="not today")

    agent = agents.create(model=_model(), hooks=Hooks(prompt_submit=[guard]))
    reason = await agent.prompt("delete everything")
    assert (reason.kind, reason.reason) == ("rejected", "not today")
    assert types(agent.session.events) == ["turn/start", "prompt/blocked", "turn/end"]
    assert agent.session.events[1].data["content"] == [{"type": "text", "text": "delete everything"}]
    assert agent.session.derive_messages() == []
    check_log(agent.session.events)


async def test_of_two_prompts_only_the_allowed_one_enters(agents, types):
    """One veto does not silence the others."""

    def guard(submitted):
        return Deny(reason="no") if submitted.content[0]["text"] == "bad" else None

    agent = agents.create(model=_model("ok"), hooks=Hooks(prompt_submit=[guard]))
    reasons = await asyncio.gather(agent.prompt("bad"), agent.prompt("good"))
    assert [reason.kind for reason in reasons] == ["completed", "completed"]
    assert types(agent.session.events)[:3] == ["turn/start", "prompt/blocked", "user/message"]


async def test_a_prompt_hook_that_raises_lets_nothing_through(store):
    """A guard that cannot judge must not wave things on."""
    errors: list[BaseException] = []

    async def guard(submitted):
        raise LookupError("no policy")

    agent = Agents(store, on_error=errors.append).create(model=_model(), hooks=Hooks(prompt_submit=[guard]))
    reason = await agent.prompt("go")
    assert reason.kind == "rejected"
    assert isinstance(errors[0], LookupError)


async def test_prompts_that_arrive_during_a_turn_share_the_next_one(agents, of_type, types):
    """Each caller gets the reason of the turn that its content entered."""
    gate = Gate()
    agent = agents.create(model=_model(Reply(calls=[Call(name="wait")]), "one", "two"), tools=[gate.tool])
    first = asyncio.create_task(agent.prompt("1"))
    await gate.reached.wait()
    later = [asyncio.create_task(agent.prompt(text)) for text in ("2", "3")]
    await asyncio.sleep(0)
    gate.opened.set()
    assert (await first).kind == "completed"
    assert [(await task).kind for task in later] == ["completed", "completed"]
    assert len(of_type(agent.session.events, "turn/start")) == 2
    assert types(agent.session.events).count("user/message") == 3
    assert [event.type for event in agent.session.events][-1] == "turn/end"


async def test_steering_enters_between_steps_and_the_turn_goes_on_for_it(agents, types, check_transcript):
    """It must not stand between a call and its result."""
    gate = Gate()
    model = _model(Reply(calls=[Call(name="wait")]), "done")
    agent = agents.create(model=model, tools=[gate.tool])
    turn = asyncio.create_task(agent.prompt("go"))
    await gate.reached.wait()
    agent.steer("faster")
    agent.inject("it is noon", PLUGIN)
    gate.opened.set()
    await turn
    names = types(agent.session.events)
    at = names.index("steering/message")
    assert names[at - 1 : at + 3] == ["step/end", "steering/message", "context/message", "step/start"]
    check_transcript(model.requests[-1])


async def test_steering_during_the_last_step_gets_a_step_of_its_own(agents, of_type):
    """What was said to a running turn is answered in it."""
    agent = agents.create(model=_model("first", "second"))

    def steer_once(event) -> None:
        if event.type == "assistant/message" and len(of_type(agent.session.events, "assistant/message")) == 1:
            agent.steer("and the second?")

    agent.subscribe(steer_once)
    await agent.prompt("go")
    assert len(of_type(agent.session.events, "step/start")) == 2
    assert len(of_type(agent.session.events, "turn/start")) == 1


async def test_steering_an_idle_agent_is_a_prompt(agents, of_type):
    """Between two turns there is nothing to steer, and nothing may get lost."""
    agent = agents.create(model=_model("ok"))
    agent.steer("hello")
    await agent.wait_idle()
    assert [data["content"][0]["text"] for data in of_type(agent.session.events, "user/message")] == ["hello"]


async def test_an_injection_into_an_idle_agent_is_a_turn_of_its_own(agents, types, check_log):
    """Every event lives inside a turn, and no model is asked."""
    model = _model()
    agent = agents.create(model=model)
    agent.inject("it is noon", PLUGIN)
    assert types(agent.session.events) == ["turn/start", "context/message", "turn/end"]
    assert agent.session.events[0].data["trigger"]["kind"] == "injection"
    await agent.wait_idle()
    assert model.requests == []
    check_log(agent.session.events)


def test_an_injection_needs_no_running_loop(agents, types):
    """Seeding context is possible before anything runs."""
    agent = agents.create(model=_model())
    agent.inject("it is noon", PLUGIN)
    assert types(agent.session.events) == ["turn/start", "context/message", "turn/end"]


async def test_what_arrives_during_the_last_flush_is_not_lost(agents, store, types):
    """Between turn/end and the next turn an aside has no turn to enter."""
    agent = agents.create(model=_model("one", "two"))

    class Late:
        is_done = False

        async def flush(self, session) -> None:
            if session.events and session.events[-1].type == "turn/end" and not self.is_done:
                self.is_done = True
                agent.inject("late context", PLUGIN)
                agent.steer("late word")

    store.subscribe(Late())
    await agent.prompt("go")
    await agent.wait_idle()
    names = types(agent.session.events)
    assert names[7:] == [
        "turn/start",
        "context/message",
        "turn/end",
        "turn/start",
        "user/message",
        "step/start",
        "assistant/chunk",
        "assistant/message",
        "step/end",
        "turn/end",
    ]


async def test_an_abort_in_a_tool_answers_every_call_and_keeps_what_waits(
    agents, of_type, check_log, check_transcript
):
    """An aborted turn is a valid part of the history."""
    gate = Gate()
    model = _model(Reply(calls=[Call(name="wait"), Call(name="wait")]), "on")
    agent = agents.create(model=model, tools=[gate.tool])
    turn = asyncio.create_task(agent.prompt("go"))
    await gate.reached.wait()
    agent.steer("one more thing")
    following = asyncio.create_task(agent.prompt("next"))
    await asyncio.sleep(0)
    assert agent.abort("enough")
    reason = await turn
    assert (reason.kind, reason.reason) == ("aborted", "enough")
    assert gate.was_cancelled
    first, second = of_type(agent.session.events, "tool/result")
    assert first["isError"]
    assert "unknown" in first["content"][0]["text"]
    assert "not started" in second["content"][0]["text"]
    assert (await following).kind == "completed"
    assert len(of_type(agent.session.events, "steering/message")) == 1
    check_log(agent.session.events)
    check_transcript(agent.session.derive_messages())
    assert not agent.abort()


async def test_an_abort_in_the_middle_of_a_stream_leaves_no_message(agents, types, check_log):
    """What was streamed is in the chunks; a message that was not finished is not made up."""

    class Slow:
        async def stream(self, messages, tools) -> AsyncIterator[object]:
            yield {"type": "block-start", "index": 0, "blockType": "text"}
            yield {"type": "text-delta", "index": 0, "text": "Wait"}
            await asyncio.Event().wait()

    agent = agents.create(model=Slow())

    def abort(event) -> None:
        if event.type == "assistant/chunk" and event.data["chunk"]["type"] == "text-delta":
            asyncio.get_running_loop().call_soon(agent.abort, "stop")

    agent.subscribe(abort)
    assert (await agent.prompt("go")).kind == "aborted"
    assert types(agent.session.events) == [
        "turn/start",
        "user/message",
        "step/start",
        "assistant/chunk",
        "step/end",
        "turn/end",
    ]
    check_log(agent.session.events)


async def test_a_model_that_ignores_cancellation_adds_nothing_after_an_abort(agents, types, check_log):
    """The log ends where the caller wanted it to end."""
    reached = asyncio.Event()

    class Stubborn:
        async def stream(self, messages, tools) -> AsyncIterator[object]:
            yield {"type": "block-start", "index": 0, "blockType": "text"}
            reached.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                yield {"type": "text-delta", "index": 0, "text": "and another thing"}

    agent = agents.create(model=Stubborn())
    turn = asyncio.create_task(agent.prompt("go"))
    await reached.wait()
    agent.abort()
    assert (await turn).kind == "aborted"
    assert [event.type for event in agent.session.events].count("assistant/chunk") == 1
    check_log(agent.session.events)


async def test_an_abort_while_prompts_are_judged_records_them_as_blocked(agents, of_type, types, check_log):
    """They entered this turn, so the log has to hold them; nobody allowed them, so the model must not see them."""
    reached = asyncio.Event()

    async def guard(submitted):
        reached.set()
        await asyncio.Event().wait()

    agent = agents.create(model=_model(), hooks=Hooks(prompt_submit=[guard]))
    turns = [asyncio.create_task(agent.prompt(text)) for text in ("1", "2")]
    await reached.wait()
    agent.abort()
    assert [(await turn).kind for turn in turns] == ["aborted", "aborted"]
    assert types(agent.session.events) == ["turn/start", "prompt/blocked", "prompt/blocked", "turn/end"]
    blocked = of_type(agent.session.events, "prompt/blocked")
    assert [data["content"][0]["text"] for data in blocked] == ["1", "2"]
    check_log(agent.session.events)


async def test_an_abort_at_the_last_event_of_a_step_still_aborts(agents):
    """An abort that was accepted is not forgotten."""
    agent = agents.create(model=_model("hi"))
    accepted: list[bool] = []

    def abort(event) -> None:
        if event.type == "step/end":
            accepted.append(agent.abort("late"))

    agent.subscribe(abort)
    reason = await agent.prompt("go")
    assert accepted == [True]
    assert reason.kind == "aborted"


async def test_a_tool_that_ignores_cancellation_does_not_hold_an_abort(agents, check_log):
    """A caller who wants to stop must be able to."""
    reached, released = asyncio.Event(), asyncio.Event()

    async def stubborn(arguments: str) -> str:
        reached.set()
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue
        return "finally"

    agent = agents.create(
        model=_model(Reply(calls=[Call(name="stubborn")])),
        tools=[Tool(name="stubborn", description="", function=stubborn)],
        limits=Limits(stop_grace_s=0.01),
    )
    turn = asyncio.create_task(agent.prompt("go"))
    await reached.wait()
    agent.abort()
    assert (await turn).kind == "aborted"
    released.set()
    await asyncio.sleep(0)
    check_log(agent.session.events)


async def test_cancelling_the_call_that_runs_a_turn_aborts_the_turn(agents, of_type, check_log):
    """A caller with a timeout must not leave a turn behind that goes on costing."""
    gate = Gate()
    agent = agents.create(model=_model(Reply(calls=[Call(name="wait")]), "x"), tools=[gate.tool])
    turn = asyncio.create_task(agent.prompt("go"))
    await gate.reached.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert of_type(agent.session.events, "turn/end")[0]["reason"]["kind"] == "aborted"
    check_log(agent.session.events)


async def test_cancelling_a_call_that_waits_takes_its_prompt_back(agents, of_type):
    """Nobody waits for it, and it has not entered the log."""
    gate = Gate()
    agent = agents.create(model=_model(Reply(calls=[Call(name="wait")]), "x"), tools=[gate.tool])
    turn = asyncio.create_task(agent.prompt("go"))
    await gate.reached.wait()
    waiting = asyncio.create_task(agent.prompt("never mind"))
    await asyncio.sleep(0)
    waiting.cancel()
    gate.opened.set()
    assert (await turn).kind == "completed"
    await agent.wait_idle()
    assert len(of_type(agent.session.events, "user/message")) == 1


async def test_closing_ends_the_turn_refuses_what_waits_and_detaches_the_session(agents, store, check_log):
    """A closed agent leaves a balanced, stored, resumable session."""
    gate = Gate()
    flushes = FlushLog(store)
    agent = agents.create(model=_model(Reply(calls=[Call(name="wait")]), "x"), tools=[gate.tool])
    turn = asyncio.create_task(agent.prompt("go"))
    await gate.reached.wait()
    waiting = asyncio.create_task(agent.prompt("later"))
    await asyncio.sleep(0)
    await agent.aclose()
    assert (await turn).kind == "disposed"
    with pytest.raises(AgentClosed):
        await waiting
    assert store.get(agent.session_id) is None
    assert flushes.lengths[-1] == len(agent.session.events)
    check_log(agent.session.events)
    with pytest.raises(AgentClosed):
        await agent.prompt("again")
    with pytest.raises(AgentClosed):
        agent.steer("again")
    with pytest.raises(AgentClosed):
        agent.inject("again", PLUGIN)
    await agent.aclose()


async def test_closing_that_cannot_store_can_be_tried_again(agents, store):
    """The session stays attached, with everything that it holds."""
    flushes = FlushLog(store)
    agent = agents.create(model=_model("hi"))
    await agent.prompt("go")
    flushes.failures = 1
    with pytest.raises(ExceptionGroup):
        await agent.aclose()
    assert store.get(agent.session_id) is agent.session
    await agent.aclose()
    assert store.get(agent.session_id) is None


def test_the_end_of_the_loop_closes_a_turn_as_disposed(agents, check_log):
    """Leaving asyncio.run in the middle is not a crash: there is time to balance the log."""
    reached: list[bool] = []

    async def hang(arguments: str) -> str:
        reached.append(True)
        await asyncio.Event().wait()
        return ""

    agent = agents.create(
        model=_model(Reply(calls=[Call(name="hang")])), tools=[Tool(name="hang", description="", function=hang)]
    )

    async def main() -> None:
        task = asyncio.create_task(agent.prompt("go"))
        for _ in range(50):
            await asyncio.sleep(0)
        assert reached
        assert not task.done()

    asyncio.run(main())
    assert agent.session.events[-1].data["reason"]["kind"] in {"disposed", "aborted"}
    check_log(agent.session.events)


@pytest.mark.parametrize("content", ["", "text", [Text(text="a"), {"type": "image", "url": "x"}]])
async def test_content_enters_as_it_was_at_the_call(agents, of_type, content):
    """Texts, blocks and blocks that this build does not know are all content."""
    agent = agents.create(model=_model("ok"))
    await agent.prompt(content)
    expected = [{"type": "text", "text": content}] if isinstance(content, str) else None
    found = of_type(agent.session.events, "user/message")[0]["content"]
    assert found == (expected or [{"type": "text", "text": "a"}, {"type": "image", "url": "x"}])


async def test_content_is_taken_at_the_call(agents, of_type):
    """What the caller does with its list afterwards is its own affair."""
    agent = agents.create(model=_model("ok"))
    block = {"type": "text", "text": "before"}
    task = asyncio.create_task(agent.prompt([block]))
    await asyncio.sleep(0)
    block["text"] = "after"
    await task
    assert of_type(agent.session.events, "user/message")[0]["content"][0]["text"] == "before"


async def test_content_that_no_log_can_carry_is_refused_at_the_call(agents):
    """The caller's line is where it can be mended, and nothing has entered the log."""
    agent = agents.create(model=_model())
    with pytest.raises(NotJsonSerializable) as refused:
        await agent.prompt([{"type": "image", "size": float("nan")}])
    assert refused.value.path == "content[0].size"
    with pytest.raises(InvalidEvent):
        await agent.prompt([])
    with pytest.raises(InvalidEvent):
        agent.steer([{"type": "text"}])
    assert len(agent.session.events) == 0


async def test_a_step_at_the_output_limit_makes_the_turn_end_max_tokens(agents, of_type):
    """The limit in an early step is not forgotten by a later one that is well."""
    model = _model(Reply(text="I", calls=[Call(name="look")], finish="max-tokens"), "done")
    agent = agents.create(model=model, tools=[look])
    assert (await agent.prompt("go")).kind == "max-tokens"
    assert len(of_type(agent.session.events, "step/end")) == 2


async def test_usage_without_content_is_an_empty_message_that_derives_nothing(agents, of_type):
    """What was paid for is on record, and no provider sees an empty message."""
    usage = Usage(input_tokens=7, output_tokens=0)
    agent = agents.create(model=_model(Reply(usage=usage, finish="max-tokens"), "ok"))
    await agent.prompt("go")
    assert of_type(agent.session.events, "assistant/message")[0] == {
        "turn": 1,
        "step": 1,
        "content": [],
        "usage": {"inputTokens": 7, "outputTokens": 0},
    }
    assert len(agent.session.derive_messages()) == 1


async def test_a_reply_without_anything_is_no_message(agents, types):
    """An empty message is only there to carry usage."""
    agent = agents.create(model=_model(Reply()))
    assert (await agent.prompt("go")).kind == "completed"
    assert "assistant/message" not in types(agent.session.events)


async def test_no_loop_emits_interrupted(agents):
    """That reason is for turns that no loop was there to end."""
    gate = Gate()
    kinds = []
    for how in ("abort", "close"):
        agent = agents.create(model=_model(Reply(calls=[Call(name="wait")])), tools=[gate.tool])
        turn = asyncio.create_task(agent.prompt("go"))
        await gate.reached.wait()
        gate.reached.clear()
        agent.abort() if how == "abort" else await agent.aclose()
        kinds.append((await turn).kind)
    failing = agents.create(model=_model())
    kinds.append((await failing.prompt("go")).kind)
    assert kinds == ["aborted", "disposed", "error"]
