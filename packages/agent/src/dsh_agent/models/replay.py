"""A model, and tools, that repeat a recorded session token by token.

Owns the way from a log back to streams and tool outcomes. Refuses to compare: whether the replay equals the
recording is for the caller to see. Flow: recorded log -> one stream a step, one outcome a call.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from dsh_agent.errors import ModelError, ToolFailure
from dsh_agent.models.protocol import Chunk
from dsh_agent.tools import Tool, ToolContext, ToolOutput, ToolSpec
from dsh_session import Message, Session, SessionEvent

__all__ = ["ReplayModel", "recorded_tools"]


class ReplayModel:
    """Plays the chunks of a recorded log back, one recorded step a request.

    A step that ended its turn with an error raises a `ModelError` with the recorded message and code after its
    chunks; one that was aborted or interrupted, and a request after the last step, raise one with the code
    `replay-ended`.

    Args:
        recording: A session, or the events of one.
    """

    def __init__(self, recording: Session | Iterable[SessionEvent]) -> None:
        self._steps = _recorded_steps(_events(recording))
        self._position = 0

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncIterator[Chunk]:
        """See `Model.stream`."""
        del messages, tools  # the recording says what was answered
        if self._position >= len(self._steps):
            raise ModelError("the recording has no further step", code="replay-ended")
        chunks, failure = self._steps[self._position]
        self._position += 1
        for chunk in chunks:
            yield copy.deepcopy(chunk)
        if failure is not None:
            raise ModelError(*failure)


def recorded_tools(recording: Session | Iterable[SessionEvent]) -> list[Tool]:
    """Return a tool for every name that was called in a recording; it answers each call as it was answered there.

    Args:
        recording: A session, or the events of one.
    """
    names: dict[str, None] = {}
    outcomes: dict[str, ToolOutput] = {}
    for event in _events(recording):
        if event.type == "tool/call":
            names.setdefault(event.data["name"])
        elif event.type == "tool/result":
            data: dict[str, Any] = copy.deepcopy(event.data)
            outcomes[data["callId"]] = ToolOutput(
                content=data["content"],
                is_error=data.get("isError", False),
                error=data.get("error"),
                meta=data.get("meta"),
            )

    async def answer(arguments: str, context: ToolContext) -> ToolOutput:
        del arguments  # taken as recorded, whatever they are
        if context.call_id not in outcomes:
            raise ToolFailure(f"no result of {context.call_id} was recorded", code="replay-ended")
        return outcomes[context.call_id]

    return [Tool(name=name, description="Recorded.", function=answer, parameters={}) for name in names]


def _events(recording: Session | Iterable[SessionEvent]) -> Iterable[SessionEvent]:
    return recording.events if isinstance(recording, Session) else recording


def _recorded_steps(events: Iterable[SessionEvent]) -> list[tuple[list[Any], tuple[str, str | None] | None]]:
    """Return for each step its chunks, and how it failed, if it did."""
    steps: list[tuple[list[Any], tuple[str, str | None] | None]] = []
    answered = False
    for event in events:
        if event.type == "step/start":
            steps.append(([], None))
            answered = False
        elif event.type == "assistant/chunk" and steps:
            steps[-1][0].append(copy.deepcopy(event.data["chunk"]))
        elif event.type == "assistant/message":
            answered = True
        elif event.type == "turn/end" and steps and not answered:
            reason = event.data["reason"]
            if reason["kind"] == "error":
                steps[-1] = (steps[-1][0], (reason["message"], reason.get("code")))
            elif reason["kind"] in {"aborted", "disposed", "interrupted"}:
                steps[-1] = (steps[-1][0], (f"the recorded step was {reason['kind']}", "replay-ended"))
    return steps
