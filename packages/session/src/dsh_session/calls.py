"""Tool calls and their results, paired as a log tells them.

Owns the pairing rule: a `tool-call` block or a `tool/call` event asks, a later `tool/result` of the same id answers
the oldest such call that is still open. Reads data that nobody has validated.
Flow: events in order -> `Ledger.read` -> `Ledger.unanswered`, `Ledger.orphans`.
"""

from collections.abc import Iterator
from typing import Any

from dsh_session.event import SessionEvent
from dsh_session.surface import text_of


class Call:
    """One call: its id, where it was asked for, and the seq of the `tool/call` that started it."""

    __slots__ = ("call_id", "is_answered", "started_seq", "step", "turn")

    def __init__(self, call_id: str, turn: Any, step: Any) -> None:
        self.call_id = call_id
        self.turn = turn
        self.step = step
        self.started_seq: int | None = None
        self.is_answered = False


class Ledger:
    """The calls of a run of events, in the order in which they were asked."""

    __slots__ = ("_open", "calls", "orphans")

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.orphans = 0
        self._open: dict[str, list[Call]] = {}

    def read(self, event: SessionEvent) -> None:
        """Take note of one event."""
        if event.type == "assistant/message":
            for call_id in asked_ids(event):
                self._ask(call_id, event)
        elif event.type == "tool/call":
            self._start(event)
        elif event.type == "tool/result":
            waiting = self._open.get(text_of(event.data, "callId") or "")
            if waiting:
                waiting.pop(0).is_answered = True
            else:
                self.orphans += 1

    @property
    def unanswered(self) -> list[Call]:
        """The calls without a result, in order."""
        return [call for call in self.calls if not call.is_answered]

    def _ask(self, call_id: str, event: SessionEvent) -> Call:
        call = Call(call_id, event.data.get("turn"), event.data.get("step"))
        self.calls.append(call)
        self._open.setdefault(call_id, []).append(call)
        return call

    def _start(self, event: SessionEvent) -> None:
        call_id = text_of(event.data, "callId")
        if call_id is None:
            return
        waiting = (call for call in self._open.get(call_id, ()) if call.started_seq is None)
        call = next(waiting, None) or self._ask(call_id, event)
        call.started_seq = event.seq


def asked_ids(event: SessionEvent) -> Iterator[str]:
    """List the ids of the `tool-call` blocks of an `assistant/message`."""
    content = event.data.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool-call":
            call_id = text_of(block, "id")
            if call_id is not None:
                yield call_id
