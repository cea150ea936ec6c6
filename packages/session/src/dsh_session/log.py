"""The view of a session's events that callers get.

Owns nothing but the refusal to write. Reads are as cheap as those of the list behind it.
"""

from collections.abc import Iterator, Sequence
from typing import overload

from dsh_session.event import SessionEvent


class EventLog(Sequence[SessionEvent]):
    """A read-only, live view of a session's events."""

    __slots__ = ("_events",)

    def __init__(self, events: list[SessionEvent]) -> None:
        self._events = events

    @overload
    def __getitem__(self, index: int) -> SessionEvent: ...
    @overload
    def __getitem__(self, index: slice) -> list[SessionEvent]: ...
    def __getitem__(self, index: int | slice) -> SessionEvent | list[SessionEvent]:
        return self._events[index]

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[SessionEvent]:
        return iter(self._events)

    def __reversed__(self) -> Iterator[SessionEvent]:
        return reversed(self._events)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, EventLog):
            return self._events == other._events
        if isinstance(other, (list, tuple)):
            return self._events == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment] # a view of something that grows

    def __repr__(self) -> str:
        return f"<EventLog of {len(self._events)} events>"
