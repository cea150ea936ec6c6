"""Compaction: a summary in the place of the older part of the history, as a plugin.

Owns its three event types, the choice of what to summarize, and the refusal of cuts that would part a tool call
from its result. Refuses to touch the log, and to use what other plugins cannot. Flow: surface -> balanced range ->
`compact/start` -> model -> `compact/summary` -> `user/message` that replaces the range -> `compact/end`.
Source: the RFC on compaction by replacement.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from dsh_agent.assembly import Assembly
from dsh_agent.errors import ModelError, UnbalancedCut
from dsh_agent.hooks import BeforeStep
from dsh_agent.models.protocol import Model
from dsh_agent.wording import describe
from dsh_session import (
    EventData,
    Message,
    Part,
    Replace,
    Session,
    SessionEvent,
    SessionHeader,
    SessionId,
    Source,
    Text,
    UserMessage,
)
from dsh_session.surface import SURFACE_TYPES, Surface
from dsh_session.vocabulary import to_wire

__all__ = ["CompactEnd", "CompactStart", "CompactSummary", "Compaction", "replace_range", "surface_events"]

_INSTRUCTION = (
    "Summarize this conversation so that the work can go on from the summary alone: the task, what was decided and "
    "done, what was found out, what is left to do. Name files, commands and values exactly."
)
_LEAD = "Summary of the conversation up to here:\n\n"


class CompactStart(EventData, type="compact/start"):
    """A compaction of the surface from `first` to `last` begins, both seqs included."""

    first: int
    last: int


class CompactSummary(EventData, type="compact/summary"):
    """What a model made of the range."""

    first: int
    last: int
    text: str


class CompactEnd(EventData, type="compact/end"):
    """A compaction is over; with `error` set it changed nothing."""

    first: int
    last: int
    error: str | None = None


class Compaction:
    """Keeps the derived history short. Use an instance as a `before_step` hook.

    Args:
        model: Writes the summary; it is offered no tools.
        max_messages: Past this many messages the history is compacted.
        keep_messages: How many of the latest messages stay as they are, at least; 1 or more.
        instruction: What the model is asked for, behind the messages that it is to summarize.

    Raises:
        ValueError: `keep_messages` is below 1, or not below `max_messages`.
    """

    def __init__(
        self,
        model: Model,
        *,
        max_messages: int = 200,
        keep_messages: int = 40,
        instruction: str = _INSTRUCTION,
    ) -> None:
        if not 1 <= keep_messages < max_messages:
            raise ValueError("1 <= keep_messages < max_messages must hold")
        self._model = model
        self._max_messages = max_messages
        self._keep_messages = keep_messages
        self._instruction = instruction

    async def __call__(self, at: BeforeStep) -> None:
        """Compact the session's history if it is too long."""
        if len(at.session.derive_messages()) > self._max_messages:
            await self.compact(at.session)

    async def compact(self, session: Session) -> SessionEvent | None:
        """Replace everything but the latest messages by a summary, at the last balanced cut before them.

        A model that fails leaves the history as it is; `compact/end` then says why.

        Args:
            session: A session inside a turn and outside a step.

        Returns:
            The message that replaced the range; None if nothing can be cut, or the model failed.
        """
        surface = surface_events(session)
        count = _balanced_prefix(surface, len(surface) - self._keep_messages)
        if count < 2:
            return None
        first, last, turn = surface[0].seq, surface[count - 1].seq, session.open_turn
        session.append(CompactStart(first=first, last=last))
        try:
            text = await self._summarize(surface[:count])
        except asyncio.CancelledError:
            if session.open_turn == turn:
                session.append(CompactEnd(first=first, last=last, error="cancelled"))
            raise
        except Exception as error:  # noqa: BLE001 - a model is foreign code: without a summary the turn goes on as it is
            session.append(CompactEnd(first=first, last=last, error=describe(error)))
            return None
        summary = session.append(CompactSummary(first=first, last=last, text=text))
        message = replace_range(session, _LEAD + text, first=first, last=last, also_from=(summary.seq,))
        session.append(CompactEnd(first=first, last=last))
        return message

    async def _summarize(self, surface: Sequence[SessionEvent]) -> str:
        question = Message(role="user", content=[Text(text=self._instruction)])
        assembly = Assembly()
        async for chunk in self._model.stream([*_messages(surface), question], ()):
            assembly.add(to_wire(chunk) if isinstance(chunk, Part) else chunk)
        text = "".join(block["text"] for block in assembly.finish() if block["type"] == "text")
        if not text.strip():
            raise ModelError("the summary is empty", code="empty")
        return text


def replace_range(
    session: Session, text: str, *, first: int, last: int, also_from: Sequence[int] = ()
) -> SessionEvent:
    """Append a user message that stands in the derived history where a range of the surface stood.

    Args:
        session: A session inside a turn and outside a step.
        text: What the message says.
        first: Seq of the first surface event of the range.
        last: Seq of the last one, included.
        also_from: Further seqs that the message was made from.

    Raises:
        UnbalancedCut: A tool call and its result would be parted.
        InvalidSurfaceOp: The range is not on the surface.
    """
    surface = surface_events(session)
    seqs = [event.seq for event in surface]
    shadowed: list[int] = []
    if first in seqs and last in seqs:
        start, end = seqs.index(first), seqs.index(last)
        parted = [
            call_id
            for call_id, asked, answered in _pairs(surface)
            if (start <= asked <= end) != (start <= answered <= end)
        ]
        if parted:
            raise UnbalancedCut(tuple(parted))
        shadowed = seqs[start : end + 1]
    return session.append(
        UserMessage(
            content=[Text(text=text)], source=Source.model_validate({"kind": "plugin", "plugin": "compaction"})
        ),
        surface_op=Replace(start=first, end=last),
        source_event_seqs=[*shadowed, *also_from],
    )


def surface_events(session: Session) -> list[SessionEvent]:
    """Return the events that the derived history is made of, in its order."""
    surface = Surface()
    for event in session.events:
        if event.type in SURFACE_TYPES:
            surface.apply(event.type, event.seq, event.surface_op)
    return [session.events[seq] for seq in surface.seqs]


def _messages(surface: Sequence[SessionEvent]) -> list[Message]:
    """Derive the messages of a part of a surface, as if it were all there is."""
    seed = [
        SessionEvent(type=event.type, seq=seq, time=event.time, data=event.data, surface_op="append")
        for seq, event in enumerate(surface)
    ]
    return Session(SessionHeader(id=SessionId("summary"), created_at=0), seed=seed).derive_messages()


def _pairs(surface: Sequence[SessionEvent]) -> list[tuple[str, int, int]]:
    """Return each answered call: its id, and the positions of the message that asked and of the result."""
    pairs: list[tuple[str, int, int]] = []
    open_calls: dict[str, list[int]] = {}
    for position, event in enumerate(surface):
        if event.type == "assistant/message":
            asked: dict[str, list[int]] = {}
            for block in event.data["content"]:
                if block["type"] == "tool-call":
                    asked.setdefault(block["id"], []).append(position)
            open_calls.update(asked)
        elif event.type == "tool/result" and open_calls.get(event.data["callId"]):
            call_id = event.data["callId"]
            pairs.append((call_id, open_calls[call_id].pop(0), position))
    return pairs


def _balanced_prefix(surface: Sequence[SessionEvent], most: int) -> int:
    """Return how many events the longest prefix of at most `most` has that parts no call from its result."""
    count = max(most, 0)
    for _, asked, answered in reversed(_pairs(surface)):
        if asked < count <= answered:
            count = asked
    return count
