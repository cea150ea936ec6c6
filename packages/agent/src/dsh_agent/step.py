"""One step of a turn: a request to the model, and the tools that it asks for.

Owns the order inside a step: chunks are logged before they are judged, hooks run before the message is logged, a
call is durable before its tool runs. Refuses to end the turn. Flow: derived history -> stream -> `assistant/chunk`
-> assembly -> hooks -> `assistant/message` -> `tool/call` -> flush -> tool -> `tool/result`.
Source: the RFC on the loop's order.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from dsh_agent.assembly import Assembly, check_call_ids
from dsh_agent.dispatch import checked_result, error_output, result_data, run_call
from dsh_agent.errors import LimitExceeded, ModelProtocolError
from dsh_agent.hooks import StepResult, invoke
from dsh_agent.scope import Scope
from dsh_agent.tools import ToolContext
from dsh_agent.wording import describe
from dsh_session import (
    AssistantChunk,
    AssistantMessage,
    InvalidEvent,
    NotJsonSerializable,
    SessionEvent,
    StepEnd,
    StepStart,
)
from dsh_session.vocabulary import to_wire

__all__ = ["Step"]

_CHUNKS_BETWEEN_PAUSES = 32  # a model that never waits must not keep everybody else from running


class Step:
    """A step, open from construction to `run`'s end or to `balance`.

    Attributes:
        had_calls: Whether the model called tools, so that it has to see their results.
        hit_limit: Whether the model's output was cut off at its limit.
    """

    def __init__(self, scope: Scope, number: int) -> None:
        self._scope = scope
        self._number = number
        self._chunk_seqs: list[int] = []
        self._unanswered: dict[str, int | None] = {}  # call id -> seq of its tool/call, if it was started
        self._is_reading = False
        self.had_calls = False
        self.hit_limit = False
        scope.journal.append(StepStart(turn=scope.turn, step=number))

    async def run(self) -> None:
        """Run the step to its end.

        Raises:
            Stopped: The turn is to end; `balance` closes the step.
            Exception: The model or a hook failed; `balance` closes the step.
        """
        journal, interrupt = self._scope.journal, self._scope.interrupt
        if self._number == 1:
            await journal.flush()
        assembly = Assembly()
        self._is_reading = True
        try:
            await interrupt.run(self._read(assembly), timeout_s=self._scope.setup.limits.model_timeout_s)
        finally:
            self._is_reading = False
        interrupt.check()
        self.hit_limit = assembly.hit_limit
        blocks = assembly.finish()
        message: dict[str, Any] = {"turn": self._scope.turn, "step": self._number, "content": blocks}
        if assembly.usage is not None:
            message["usage"] = assembly.usage
        message = await self._amended(message)
        calls = check_call_ids(message["content"], self._scope.call_ids)
        interrupt.check()
        if message["content"] or "usage" in message:
            journal.append("assistant/message", message, source_event_seqs=self._chunk_seqs)
        self._unanswered = dict.fromkeys(call["id"] for call in calls)
        self._scope.call_ids.update(self._unanswered)
        self.had_calls = bool(calls)
        for call in calls:
            interrupt.check()
            await self._call(call["id"], call["name"], call["arguments"])
        self._end()

    def balance(self, name: str, code: str, why: str) -> None:
        """Close a step that did not come to its end: answer every open call with an error, then end the step.

        Args:
            name: The error's name in each answer.
            code: The error's code.
            why: What ended the step, as the end of a sentence.
        """
        for call_id, started_seq in self._unanswered.items():
            if started_seq is None:
                words = f"the tool call was not started, because {why}. It had no effect."
            else:
                words = f"the tool call was stopped, because {why}. Its outcome is unknown."
            data = result_data(self._scope.turn, self._number, call_id, error_output(name, words, code))
            sources = None if started_seq is None else [started_seq]
            self._scope.journal.append("tool/result", data, source_event_seqs=sources)
        self._unanswered = {}
        self._end()

    def _end(self) -> None:
        self._scope.journal.append(StepEnd(turn=self._scope.turn, step=self._number))

    async def _read(self, assembly: Assembly) -> None:
        """Log the model's stream, chunk by chunk, until it ends or nobody wants it any more."""
        setup, session = self._scope.setup, self._scope.journal.session
        specs = [tool.spec for tool in setup.tools.values()]
        stream: Any = setup.model.stream(session.derive_messages(), specs)
        if inspect.iscoroutine(stream):
            stream.close()
            raise ModelProtocolError("stream() returned a coroutine; it has to be an async generator")
        try:
            async for chunk in stream:
                if not self._is_reading or self._scope.interrupt.kind is not None:
                    return
                if len(self._chunk_seqs) >= setup.limits.max_chunks:
                    raise LimitExceeded("max_chunks", setup.limits.max_chunks)
                event = self._log_chunk(chunk)
                self._chunk_seqs.append(event.seq)
                assembly.add(event.data["chunk"])
                if len(self._chunk_seqs) % _CHUNKS_BETWEEN_PAUSES == 0:
                    await asyncio.sleep(0)
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    def _log_chunk(self, chunk: Any) -> SessionEvent:
        turn, step, append = self._scope.turn, self._number, self._scope.journal.append
        try:
            if isinstance(chunk, Mapping):
                return append("assistant/chunk", {"turn": turn, "step": step, "chunk": dict(chunk)})
            return append(AssistantChunk(turn=turn, step=step, chunk=chunk))
        except (ValidationError, InvalidEvent, NotJsonSerializable) as error:
            raise ModelProtocolError(f"what the model sent is no chunk: {describe(error)}") from error

    async def _amended(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the message as the hooks leave it; its turn and step are not theirs to change."""
        for hook in self._scope.setup.hooks.step_result:
            seen = AssistantMessage.model_validate(message)
            told = StepResult(session=self._scope.journal.session, message=seen)
            answer = await self._scope.interrupt.run(invoke(hook, told))
            if answer is not None:
                message = {**to_wire(answer), "turn": self._scope.turn, "step": self._number}
        return message

    async def _call(self, call_id: str, name: str, arguments: str) -> None:
        """Log a call, make it durable, run its tool and log the outcome."""
        scope, journal = self._scope, self._scope.journal
        place = {"turn": scope.turn, "step": self._number, "callId": call_id}
        started = journal.append("tool/call", {**place, "name": name, "arguments": arguments})
        self._unanswered[call_id] = started.seq
        failure = await journal.flush()
        if failure is not None:
            words = f"the tool was not run, because its call could not be stored: {describe(failure)}"
            output = error_output("NotStored", words, "not-stored")
        else:
            context = ToolContext(session=journal.session, turn=scope.turn, step=self._number, call_id=call_id)
            cancelled: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
            scope.running[call_id] = cancelled
            try:
                tool = scope.setup.tools.get(name)
                output = await run_call(
                    tool, name, arguments, context, interrupt=scope.interrupt, cancelled=cancelled
                )
            finally:
                del scope.running[call_id]
        data = checked_result(scope.turn, self._number, call_id, output)
        journal.append("tool/result", data, source_event_seqs=[started.seq])
        del self._unanswered[call_id]
