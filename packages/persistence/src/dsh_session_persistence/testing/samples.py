"""Headers and logs to run the contract with.

Owns builders of headers and event lists, by hand and without a store. Refuses I/O. Flow: clause -> `Log` -> events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from dsh_session import SESSION_FORMAT_VERSION, SessionEvent, SessionHeader, SessionId

__all__ = ["EPOCH_MS", "Log", "header", "seqs", "sid", "turns", "typed"]

EPOCH_MS = 1_750_000_000_000


def sid(text: str) -> SessionId:
    """Return a session id."""
    return SessionId(text)


def header(session_id: str = "sample", **fields: Any) -> SessionHeader:
    """Return a header; without further fields only the required ones are set."""
    fields.setdefault("version", SESSION_FORMAT_VERSION)
    fields.setdefault("created_at", EPOCH_MS)
    return SessionHeader(id=sid(session_id), **fields)


def seqs(events: Sequence[SessionEvent]) -> list[int]:
    """Return the seq of each event."""
    return [event.seq for event in events]


def typed(events: Sequence[SessionEvent]) -> list[str]:
    """Return the type of each event."""
    return [event.type for event in events]


def turns(count: int = 1, *, start: int = 0, first_turn: int = 1) -> list[SessionEvent]:
    """Return whole turns: a message, a step with chunks, a tool call and its result, the end."""
    log = Log(start=start)
    for turn in range(first_turn, first_turn + count):
        log.turn_start(turn).user(f"question {turn}").step_start()
        log.chunk("part of an answer").message("an answer", "call-a").call("call-a").result("call-a")
        log.step_end().turn_end()
    return log.events


class Log:
    """Builds a list of events; seq, time, turn and step go on by themselves.

    Example:
        `Log().turn_start(1).user("hi").turn_end().events` is a whole turn.
    """

    def __init__(self, *, start: int = 0, turn: int = 1, step: int = 0) -> None:
        self.events: list[SessionEvent] = []
        self._start = start
        self._turn = turn
        self._step = step

    def add(self, kind: str, data: dict[str, Any], **envelope: Any) -> Self:
        """Add an event of any type."""
        seq = self._start + len(self.events)
        envelope.setdefault("time", EPOCH_MS + seq)
        self.events.append(SessionEvent(type=kind, seq=seq, data=data, **envelope))
        return self

    def turn_start(self, turn: int = 1) -> Self:
        """Open a turn."""
        self._turn, self._step = turn, 0
        trigger = {"kind": "message", "source": {"kind": "user"}}
        return self.add("turn/start", {"turn": turn, "trigger": trigger})

    def turn_end(self) -> Self:
        """Close the turn as completed."""
        return self.add("turn/end", {"turn": self._turn, "reason": {"kind": "completed"}})

    def step_start(self) -> Self:
        """Open the next step."""
        self._step += 1
        return self.add("step/start", {"turn": self._turn, "step": self._step})

    def step_end(self) -> Self:
        """Close the step."""
        return self.add("step/end", {"turn": self._turn, "step": self._step})

    def user(self, text: str) -> Self:
        """Add a user's message."""
        data = {"content": [{"type": "text", "text": text}], "source": {"kind": "user"}}
        return self.add("user/message", data, surface_op="append")

    def chunk(self, text: str) -> Self:
        """Add a chunk of an answer as it streams in."""
        chunk = {"type": "text-delta", "index": 0, "text": text}
        return self.add("assistant/chunk", {"turn": self._turn, "step": self._step, "chunk": chunk})

    def message(self, text: str, *calls: str) -> Self:
        """Add an assistant's message with tool calls."""
        content: list[dict[str, Any]] = [{"type": "text", "text": text}]
        content += [{"type": "tool-call", "id": call, "name": "look", "arguments": "{}"} for call in calls]
        data = {"turn": self._turn, "step": self._step, "content": content}
        return self.add("assistant/message", data, surface_op="append")

    def call(self, call_id: str) -> Self:
        """Add the start of a tool call."""
        data = {"turn": self._turn, "step": self._step, "callId": call_id, "name": "look", "arguments": "{}"}
        return self.add("tool/call", data)

    def result(self, call_id: str) -> Self:
        """Add the result of a tool call."""
        data = {
            "turn": self._turn,
            "step": self._step,
            "callId": call_id,
            "content": [{"type": "text", "text": "seen"}],
            "isError": False,
        }
        return self.add("tool/result", data, surface_op="append")
