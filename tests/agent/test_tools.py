"""What becomes of tool calls, the good and the bad ones."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any

import pytest
from pydantic import BaseModel, Field

from dsh_agent import Call, InvalidTool, Reply, ScriptedModel, Tool, ToolContext, ToolFailure, ToolOutput, tool
from dsh_session import TodoItem, TodoWrite


class Sum(BaseModel):
    """Numbers to add."""

    numbers: list[int] = Field(max_length=3)


@tool
async def add(arguments: Sum) -> str:
    """Add numbers."""
    return str(sum(arguments.numbers))


async def _outcome(agents, judge, function_or_tool, arguments: Any = "{}", name: str = "act"):
    """Run one call and return its result, having judged the log and the turn."""
    entry = function_or_tool
    if not isinstance(entry, Tool):
        entry = Tool(name="act", description="", function=entry)
    agent = agents.create(
        model=ScriptedModel([Reply(calls=[Call(name=name, arguments=arguments)]), "ok"]), tools=[entry]
    )
    reason = await agent.prompt("go")
    assert reason.kind == "completed"
    judge(agent.session.events)
    return next(event.data for event in agent.session.events if event.type == "tool/result")


async def test_a_tool_gets_its_arguments_as_their_model(agents, check_log):
    """Validation is the tool's contract with the model."""
    result = await _outcome(agents, check_log, add, {"numbers": [1, 2]}, "add")
    assert result["content"] == [{"type": "text", "text": "3"}]
    assert result["isError"] is False
    assert set(result) == {"turn", "step", "callId", "content", "isError"}


def test_a_model_is_told_name_words_and_schema():
    """That is all it knows of a tool."""
    assert add.spec.name == "add"
    assert add.spec.description == "Add numbers."
    assert add.spec.parameters["properties"]["numbers"]["maxItems"] == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"numbers": [1,', "Invalid JSON"),
        ("", "numbers"),
        ('{"numbers": [1, 2, 3, 4]}', "numbers"),
        ('{"numbers": ["x"]}', "numbers.0"),
        ("[]", "arguments"),
        ("\ud800", "arguments"),
    ],
    ids=["cut off", "empty", "too many", "wrong item", "no object", "a surrogate"],
)
async def test_arguments_that_do_not_fit_are_an_error_result(arguments, words, agents, check_log):
    """The model can mend its call when it is told what was wrong with it."""
    result = await _outcome(agents, check_log, add, arguments, "add")
    assert result["isError"]
    assert result["error"]["code"] == "invalid-arguments"
    assert words in result["content"][0]["text"]


async def test_a_call_of_an_unknown_tool_is_an_error_result(agents, check_log):
    """A resumed history may call what is no longer there."""
    result = await _outcome(agents, check_log, add, "{}", "subtract")
    assert result["error"]["code"] == "unknown-tool"


async def test_a_tool_that_raises_is_an_error_result(agents, check_log):
    """A tool's failure is news for the model, not the end of the turn."""

    async def act(arguments: str) -> str:
        raise ValueError("no such file \udc80")

    result = await _outcome(agents, check_log, act)
    assert result["error"] == {"name": "ValueError", "message": "ValueError: no such file \\udc80"}
    assert result["content"][0]["text"] == "Error: ValueError: no such file \\udc80"


async def test_a_tool_can_say_what_failed(agents, check_log):
    """Words for the model, a code and details for programs."""

    async def act(arguments: str) -> str:
        raise ToolFailure("the disk is full", code="ENOSPC", meta={"free": 0})

    result = await _outcome(agents, check_log, act)
    assert result["error"] == {"name": "ToolFailure", "message": "the disk is full", "code": "ENOSPC"}
    assert result["meta"] == {"free": 0}


async def test_a_tool_that_takes_too_long_is_stopped(agents, check_log):
    """The timeout is per call, and the turn goes on."""
    stopped: list[bool] = []

    async def act(arguments: str) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(True)
        return ""

    result = await _outcome(agents, check_log, Tool(name="act", description="", function=act, timeout_s=0.01))
    assert result["error"]["code"] == "timeout"
    assert stopped == [True]


async def test_one_call_can_be_cancelled_while_the_turn_goes_on(agents, of_type, check_log):
    """Stopping a command is not stopping the work."""
    reached = asyncio.Event()

    async def act(arguments: str) -> str:
        reached.set()
        await asyncio.Event().wait()
        return ""

    agent = agents.create(
        model=ScriptedModel([Reply(calls=[Call(name="act", id="c1")]), "ok"]),
        tools=[Tool(name="act", description="", function=act)],
    )
    turn = asyncio.create_task(agent.prompt("go"))
    await reached.wait()
    assert not agent.cancel_call("c2")
    assert agent.cancel_call("c1", "not needed")
    assert not agent.cancel_call("c1")
    assert (await turn).kind == "completed"
    result = of_type(agent.session.events, "tool/result")[0]
    assert result["error"]["code"] == "cancelled"
    assert "not needed" in result["content"][0]["text"]
    assert not agent.cancel_call("c1")
    check_log(agent.session.events)


async def test_a_tool_that_cancels_itself_is_an_error_result(agents, check_log):
    """A stray CancelledError from inside must not look like somebody's abort."""

    async def act(arguments: str) -> str:
        raise asyncio.CancelledError

    result = await _outcome(agents, check_log, act)
    assert result["error"]["code"] == "cancelled"


class Report(BaseModel):
    """What a tool may return."""

    total: int


@pytest.mark.parametrize(
    ("returned", "content"),
    [
        ("text", [{"type": "text", "text": "text"}]),
        ("lone \ud800", [{"type": "text", "text": "lone \ud800"}]),
        (None, []),
        ({"a": [1, None, "ü"]}, [{"type": "text", "text": '{"a": [1, null, "ü"]}'}]),
        (17, [{"type": "text", "text": "17"}]),
        (False, [{"type": "text", "text": "false"}]),
        (Report(total=3), [{"type": "text", "text": '{"total": 3}'}]),
        (ToolOutput(content=[{"type": "image", "data": "AA"}]), [{"type": "image", "data": "AA"}]),
    ],
    ids=["text", "surrogate", "nothing", "object", "number", "bool", "model", "blocks"],
)
async def test_a_tool_may_return_any_json(returned, content, agents, check_log):
    """A text is the common case, and not the only one."""

    async def act(arguments: str) -> Any:
        return returned

    result = await _outcome(agents, check_log, act)
    assert result["content"] == content
    assert not result["isError"]


class Opaque(BaseModel):
    """What JSON cannot carry, inside a model."""

    when: dt.datetime


@pytest.mark.parametrize(
    ("returned", "path"),
    [
        ({"sizes": [1.0, float("nan")]}, "output.sizes[1]"),
        ({"at": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}, "output.at"),
        ((1, 2), "output"),
        ({1: 2}, "output"),
        (object(), "output"),
        (b"raw", "output"),
        (Opaque(when=dt.datetime(2026, 1, 1, tzinfo=dt.UTC)), "output.when"),
        (ToolOutput(content=[], meta={"size": float("inf")}), "meta.size"),
        (ToolOutput(content=[{"type": "image", "size": {1, 2}}]), "content[0].size"),
        ("merging \ud83d\ude00", "content[0].text"),
    ],
    ids=["nan", "datetime", "tuple", "key", "object", "bytes", "model", "meta", "set", "surrogates"],
)
async def test_what_json_cannot_carry_is_an_error_result_that_names_the_path(returned, path, agents, check_log):
    """Whoever wrote the tool has to find the value."""

    async def act(arguments: str) -> Any:
        return returned

    result = await _outcome(agents, check_log, act)
    assert result["isError"]
    assert result["error"]["code"] == "not-json"
    assert f"at {path}:" in result["content"][0]["text"]


@pytest.mark.parametrize(
    "returned",
    [
        ToolOutput(content=[{"type": "text"}]),
        ToolOutput(content=["text"]),
        ToolOutput(content=3),  # type: ignore[arg-type] # what a careless tool does
        ToolOutput(content=[], error={"name": 3}),
    ],
)
async def test_an_output_that_is_no_result_is_an_error_result(returned, agents, check_log):
    """The log's models are as strict with tools as with everybody."""

    async def act(arguments: str) -> Any:
        return returned

    result = await _outcome(agents, check_log, act)
    assert result["error"]["code"] == "invalid-output"


async def test_a_tool_can_append_events_of_its_own(agents, types, check_log):
    """A plan belongs into the log at the call that made it."""

    async def plan(arguments: str, context: ToolContext) -> str:
        context.append(TodoWrite(todos=[TodoItem(content="write", status="pending")]))
        return "planned"

    agent = agents.create(
        model=ScriptedModel([Reply(calls=[Call(name="plan")]), "ok"]),
        tools=[Tool(name="plan", description="", function=plan)],
    )
    await agent.prompt("go")
    names = types(agent.session.events)
    assert names[names.index("tool/call") :][:3] == ["tool/call", "todo/write", "tool/result"]
    check_log(agent.session.events)


def _sync(arguments: Sum) -> str:
    return ""


async def _no_model(arguments: str) -> str:
    return ""


async def _nothing() -> str:
    return ""


async def _too_much(arguments: Sum, context: ToolContext, more: int) -> str:
    return ""


@pytest.mark.parametrize("function", [_sync, _no_model, _nothing, _too_much])
def test_what_cannot_be_a_tool_is_refused_where_it_is_defined(function):
    """Not in the middle of a turn."""
    with pytest.raises(InvalidTool):
        tool(function)


def test_tools_that_share_a_name_are_refused(agents):
    """A model could not say which one it means."""
    with pytest.raises(InvalidTool) as refused:
        agents.create(model=ScriptedModel([]), tools=[add, add])
    assert refused.value.name == "add"
    with pytest.raises(InvalidTool):
        agents.create(model=ScriptedModel([]), tools=[_no_model])  # type: ignore[list-item] # the mistake
    assert tool(name="sum", timeout_s=1)(add.function).name == "sum"
