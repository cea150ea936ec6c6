"""One tool call, from the model's words to a result that the log can carry.

Owns what becomes of everything that can go wrong in between: an unknown tool, arguments that do not fit, a tool
that raises, takes too long, is cancelled, or returns what JSON cannot carry. Each is an error result that the model
sees. Refuses to append. Flow: call -> `run_call` -> `ToolOutput` -> `result_data` -> `tool/result`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from dsh_agent.errors import ToolFailure
from dsh_agent.interrupt import CallCancelled, Interrupt, Stopped, TimedOut
from dsh_agent.tools import Tool, ToolContext, ToolOutput
from dsh_agent.wording import code_of, describe, plain
from dsh_session import InvalidEvent, NotJsonSerializable, SessionEvent, Text
from dsh_session.json_value import encode_json
from dsh_session.vocabulary import to_wire

__all__ = ["checked_result", "error_output", "result_data", "run_call"]


def error_output(name: str, message: str, code: str | None, meta: Mapping[str, Any] | None = None) -> ToolOutput:
    """Return an error result: words for the model, and the same for programs."""
    error = {"name": name, "message": message}
    if code is not None:
        error["code"] = code
    return ToolOutput(content=[Text(text=f"Error: {message}")], is_error=True, error=error, meta=meta)


async def run_call(
    tool: Tool | None,
    name: str,
    arguments: str,
    context: ToolContext,
    *,
    interrupt: Interrupt,
    cancelled: asyncio.Future[str | None],
) -> ToolOutput:
    """Run a tool's body and return its outcome; a failure is an outcome too.

    Raises:
        Stopped: The turn is to end.
    """
    if tool is None:
        return error_output("UnknownTool", f"there is no tool named {plain(name)!r}", "unknown-tool")
    try:
        parsed = tool.parse(arguments)
    except Exception as error:  # noqa: BLE001 - a validator is foreign code: whatever it raises, they do not fit
        return error_output("InvalidArguments", _argument_words(error), "invalid-arguments")
    try:
        returned = await interrupt.run(_body(tool, parsed, context), timeout_s=tool.timeout_s, cancelled=cancelled)
        return _output(returned)
    except Stopped:
        raise
    except TimedOut as error:
        return error_output("TimeoutError", f"the tool was stopped: {error}", "timeout")
    except CallCancelled as error:
        return error_output("CancelledError", f"the call was cancelled: {plain(str(error))}", "cancelled")
    except NotJsonSerializable as error:
        return _not_json(error)
    except ToolFailure as error:
        return error_output("ToolFailure", describe(error), code_of(error), error.meta)
    except Exception as error:  # noqa: BLE001 - a tool is foreign code: its failure is for the model to see
        return error_output(type(error).__name__, describe(error), code_of(error))


def result_data(turn: int, step: int, call_id: str, output: ToolOutput) -> dict[str, Any]:
    """Return the wire data of a `tool/result`, or of an error result that says why the output cannot be one."""
    data: dict[str, Any] = {
        "turn": turn,
        "step": step,
        "callId": call_id,
        "content": [to_wire(block) for block in output.content],
        "isError": output.is_error,
    }
    if output.error is not None:
        data["error"] = to_wire(output.error)
    if output.meta is not None:
        data["meta"] = dict(output.meta)
    return data


def checked_result(turn: int, step: int, call_id: str, output: ToolOutput) -> dict[str, Any]:
    """Return the wire data of a `tool/result` that is known to enter the log."""
    try:
        data = result_data(turn, step, call_id, output)
        SessionEvent(type="tool/result", seq=0, time=0, data=data).payload()
    except NotJsonSerializable as error:
        return result_data(turn, step, call_id, _not_json(error))
    except (InvalidEvent, ValidationError, TypeError, ValueError) as error:
        failure = error_output("InvalidOutput", f"the tool returned no result: {describe(error)}", "invalid-output")
        return result_data(turn, step, call_id, failure)
    return data


async def _body(tool: Tool, parsed: Any, context: ToolContext) -> Any:
    return await (tool.function(parsed, context) if tool.takes_context else tool.function(parsed))


def _output(returned: Any) -> ToolOutput:
    """Return what a tool's return value means."""
    if isinstance(returned, ToolOutput):
        return returned
    if returned is None:
        return ToolOutput(content=[])
    if isinstance(returned, str):
        return ToolOutput(content=[Text(text=returned)])
    if isinstance(returned, BaseModel):
        returned = returned.model_dump(by_alias=True)
    encode_json({"output": returned}, "tool/result")
    return ToolOutput(content=[Text(text=json.dumps(returned, ensure_ascii=False))])


def _not_json(error: NotJsonSerializable) -> ToolOutput:
    place = plain(error.path) or "the top"
    message = f"the tool returned what JSON cannot carry, at {place}: {plain(error.reason)}"
    return error_output("NotJsonSerializable", message, "not-json")


def _argument_words(error: Exception) -> str:
    """Return what does not fit, place by place."""
    if not isinstance(error, ValidationError):
        return f"the arguments are not valid: {describe(error)}"
    found = error.errors(include_url=False, include_context=False, include_input=False)
    places = [f"{'.'.join(map(str, entry['loc'])) or 'arguments'}: {entry['msg']}" for entry in found]
    return plain(f"the arguments are not valid: {'; '.join(places)}")
