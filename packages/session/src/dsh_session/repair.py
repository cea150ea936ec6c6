"""Closing an interrupted turn: what has to be appended so that a log is balanced again.

Owns the closers and their words. Pure: reads events, returns events, appends nothing.
Flow: a log -> its last turn, found from the end -> unanswered calls, open step -> closers.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from dsh_session.calls import Call, Ledger
from dsh_session.event import SessionEvent

_STARTED = (
    "The tool call was started, but the process ended before its result was recorded. Its outcome is unknown: "
    "it may have taken effect in full, in part or not at all."
)
_NOT_STARTED = "The process ended before this tool call was started. It had no effect."


def interrupted_turn_closers(events: Sequence[SessionEvent]) -> list[SessionEvent]:
    """Make the events that close the last turn of a log, if it is open.

    Args:
        events: A log, contiguous from 0. Only its last turn is looked at.

    Returns:
        Nothing for a closed turn; else, in order, an error result for every call without one, the end of the open
        step, and the end of the turn with the reason `interrupted`. Their time is the last event's.

    Example:
        >>> start = SessionEvent(type="turn/start", seq=0, time=7, data={"turn": 1, "trigger": {"kind": "message"}})
        >>> [closer.line for closer in interrupted_turn_closers([start])]
        [b'{"type":"turn/end","seq":1,"time":7,"data":{"turn":1,"reason":{"kind":"interrupted"}}}']
    """
    start = _open_turn_start(events)
    if start is None:
        return []
    ledger = Ledger()
    open_step: Any = None
    for index in range(start, len(events)):
        event = events[index]
        ledger.read(event)
        if event.type == "step/start":
            open_step = event.data.get("step", 1)
        elif event.type == "step/end":
            open_step = None
    last = events[-1]
    turn = events[start].data.get("turn", 1)
    closers: list[SessionEvent] = []

    def close(event_type: str, data: dict[str, Any], **extra: Any) -> None:
        seq = last.seq + 1 + len(closers)
        closers.append(SessionEvent(type=event_type, seq=seq, time=last.time, data=data, **extra))

    for call in ledger.unanswered:
        sources = None if call.started_seq is None else (call.started_seq,)
        close("tool/result", _result(call, turn), surface_op="append", source_event_seqs=sources)
    if open_step is not None:
        close("step/end", {"turn": turn, "step": open_step})
    close("turn/end", {"turn": turn, "reason": {"kind": "interrupted"}})
    return closers


def is_tool_pairing_balanced(events: Iterable[SessionEvent]) -> bool:
    """Tell whether every tool call among these events is answered once, and every result answers one.

    Args:
        events: Events in the order of their log; a part of a log will do.
    """
    ledger = Ledger()
    for event in events:
        ledger.read(event)
    return not ledger.orphans and not ledger.unanswered


def _open_turn_start(events: Sequence[SessionEvent]) -> int | None:
    """Find the start of the last turn, from the end; None if the turn is closed, or there is none."""
    for index in range(len(events) - 1, -1, -1):
        event_type = events[index].type
        if event_type == "turn/end":
            return None
        if event_type == "turn/start":
            return index
    return None


def _result(call: Call, turn: Any) -> dict[str, Any]:
    text = _NOT_STARTED if call.started_seq is None else _STARTED
    return {
        "turn": turn,
        "step": 1 if call.step is None else call.step,
        "callId": call.call_id,
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "error": {"name": "InterruptedError", "message": text, "code": "interrupted"},
    }
