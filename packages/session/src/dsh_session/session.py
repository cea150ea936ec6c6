"""The session: an append-only log, and the way in.

Owns the order of an append: check, encode once, log, tell. Does no I/O, keeps no files, starts no threads.
Flow: `append` -> model and JSON check -> automaton -> surface -> `SessionEvent` -> the log -> the listener.
"""

from collections.abc import Callable, Iterable
from inspect import getattr_static
from operator import attrgetter
from sys import intern
from threading import get_ident
from time import time_ns
from typing import TYPE_CHECKING, Any, overload

from dsh_session.errors import InvalidEvent, InvalidSeed, InvalidSurfaceOp, WrongThread
from dsh_session.event import (
    Payload,
    Replace,
    SessionEvent,
    SurfaceOp,
    build,
    check_type,
    gc_paused,
    is_count,
    parse_sources,
    parse_surface_op,
    read_data,
)
from dsh_session.header import SessionHeader
from dsh_session.history import History
from dsh_session.ids import SessionId
from dsh_session.lazy import vocabulary
from dsh_session.log import EventLog
from dsh_session.surface import SURFACE_TYPES, Surface
from dsh_session.turns import BOUNDARIES, IN_STEP, NUMBERED, Turns

if TYPE_CHECKING:
    from dsh_session.vocabulary import EventData, Message

Clock = Callable[[], int]
"""Gives the time in milliseconds since the Unix epoch."""

_seq = attrgetter("seq")
_WATCHED = BOUNDARIES | SURFACE_TYPES


def wall_clock() -> int:
    """Read the system's clock, in milliseconds since the Unix epoch."""
    return time_ns() // 1_000_000


def _checked(clock: Clock) -> Callable[[], int | None]:
    """Have a clock of the caller's give None for what is no time."""

    def read() -> int | None:
        now = clock()
        return now if is_count(now) else None

    return read


class Session:
    """An append-only log of typed events, and what is derived from it.

    A session belongs to the thread that makes it. Make one through `SessionStore`, unless nobody is to be told.

    Args:
        header: Its metadata.
        seed: The events it begins with: a stored log, or the part of another session that is forked. They are
            checked for order, never against models or the automaton.
        clock: Gives the time of the events that are appended.

    Raises:
        InvalidSeed: A seed event is out of order, no event, or replaces what is not on the surface.
    """

    __slots__ = (
        "_clock",
        "_events",
        "_history",
        "_on_event",
        "_seed_count",
        "_surface",
        "_thread",
        "_turns",
        "_view",
        "header",
    )

    header: SessionHeader

    def __init__(
        self, header: SessionHeader, *, seed: Iterable[SessionEvent] = (), clock: Clock = wall_clock
    ) -> None:
        object.__setattr__(self, "header", header)
        self._clock: Callable[[], int | None] = wall_clock if clock is wall_clock else _checked(clock)
        self._thread = get_ident()
        self._turns = Turns()
        self._surface = Surface()
        with gc_paused():
            self._events = list(seed)
            self._follow_seed()
        self._seed_count = len(self._events)
        self._view = EventLog(self._events)
        self._history = History(self._events, self._surface)
        self._on_event: Callable[[Session, SessionEvent], None] | None = None

    def __setattr__(self, name: str, value: object) -> None:
        if name == "header":
            raise AttributeError("a session's header is read-only")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<Session {self.header.id!r}: {len(self._events)} events>"

    @property
    def id(self) -> SessionId:
        """The session's id."""
        return self.header.id

    @property
    def events(self) -> EventLog:
        """The log: a live view that cannot be written."""
        return self._view

    @property
    def seed_count(self) -> int:
        """How many events the session began with."""
        return self._seed_count

    @property
    def last_turn(self) -> int:
        """The highest turn number of the log; 0 without one. The next turn continues from it."""
        return self._turns.last_turn

    @property
    def open_turn(self) -> int | None:
        """The number of the turn that is open."""
        return self._turns.open_turn

    @property
    def open_step(self) -> int | None:
        """The number of the step that is open."""
        return self._turns.open_step

    @overload
    def append(
        self,
        data: "EventData",
        /,
        *,
        surface_op: SurfaceOp | None = ...,
        source_event_seqs: Iterable[int] | None = ...,
    ) -> SessionEvent: ...
    @overload
    def append(
        self,
        type: str,  # the name that the wire has
        data: dict[str, Any],
        /,
        *,
        surface_op: SurfaceOp | None = ...,
        source_event_seqs: Iterable[int] | None = ...,
    ) -> SessionEvent: ...
    def append(
        self,
        type: "EventData | str",  # noqa: A002 # as above
        data: dict[str, Any] | None = None,
        /,
        *,
        surface_op: SurfaceOp | None = None,
        source_event_seqs: Iterable[int] | None = None,
    ) -> SessionEvent:
        """Append one event. Synchronous, no I/O; an event that is refused leaves no trace.

        Args:
            type: The model of an event, or the name of a type.
            data: With a name, the data. For a type that has a model it is validated and stored as given.
            surface_op: How a message enters the derived history; `"append"` unless given.
            source_event_seqs: The seqs of the earlier events that this one was made from.

        Returns:
            The event, as it stands in the log.

        Raises:
            NotJsonSerializable: JSON would not give the data back as it is.
            InvalidEvent: The data does not fit the model of its type, or an argument is malformed.
            NestingViolation: The event does not fit the open turn and step.
            InvalidSurfaceOp: The operation names what is not on the surface, or the type derives no message.
            WrongThread: The session belongs to another thread.
        """
        if get_ident() != self._thread:
            raise WrongThread(self.header.id)
        reader = _readers.get(type.__class__)
        read = None
        if reader is not None and data is None:  # as for most of what is ever appended
            try:
                read = reader(type)
            except RecursionError:
                read = None  # the strict way says what goes too deep
        event_type, payload, turn, step = read or _read(type, data)
        turns = self._turns
        if event_type not in IN_STEP or step is None or step != turns.open_step or turn != turns.open_turn:
            turns.check(event_type, turn, step)
        operation = sources = None
        is_watched = event_type in _WATCHED
        if is_watched or surface_op is not None:
            operation = self._read_operation(event_type, surface_op)
        if source_event_seqs is not None:
            sources = self._read_sources(event_type, source_event_seqs)
        now = time_ns() // 1_000_000 if self._clock is wall_clock else self._clock()
        if now is None:
            raise InvalidEvent("the clock gave no milliseconds", event_type=event_type, path="time")
        events = self._events
        seq = len(events)
        if seq and now < events[-1].time:
            now = events[-1].time
        event = build(event_type, seq, now, payload, sources, operation)
        events.append(event)
        if is_watched:
            if operation is None:
                turns.advance(event_type, seq, turn, step)
            else:
                self._surface.apply(event_type, seq, operation)
        if self._on_event is not None:
            self._on_event(self, event)
        return event

    def _read_operation(self, event_type: str, surface_op: SurfaceOp | None) -> SurfaceOp | None:
        if event_type not in SURFACE_TYPES:
            if surface_op is not None:
                raise InvalidSurfaceOp(event_type, "this type derives no message")
            return None
        if surface_op is None:
            return "append"
        operation = parse_surface_op(surface_op, event_type)
        if isinstance(operation, Replace):
            self._surface.span(event_type, operation)
        return operation

    def _read_sources(self, event_type: str, source_event_seqs: Iterable[int]) -> tuple[int, ...] | None:
        sources = parse_sources(source_event_seqs, event_type)
        if sources and max(sources) >= len(self._events):
            raise InvalidEvent("names a later event", event_type=event_type, path="sourceEventSeqs")
        return sources

    def derive_messages(self) -> "list[Message]":
        """Derive the history that a model sees. Its cost follows what is new, not the length of the log.

        Returns:
            A new list; the messages in it are frozen. It is always a valid transcript.

        Raises:
            WrongThread: The session belongs to another thread.
        """
        if get_ident() != self._thread:
            raise WrongThread(self.header.id)
        return self._history.messages(self._turns.open_step_seq)

    def _follow_seed(self) -> None:
        events = self._events
        are_events = set(map(type, events)) <= {SessionEvent}
        in_order = are_events and list(map(_seq, events)) == list(range(len(events)))
        for index, event in enumerate(events):
            if not in_order:
                _check_seed(event, index)
            if event.type in _WATCHED:
                self._follow(event, index)

    def _follow(self, event: SessionEvent, index: int) -> None:
        if event.type in BOUNDARIES:
            data = event.data
            self._turns.advance(event.type, index, data.get("turn"), data.get("step"))
            return
        try:
            self._surface.apply(event.type, index, event.surface_op)
        except InvalidSurfaceOp as error:
            raise InvalidSeed(index, error.reason) from error


def _check_seed(event: SessionEvent, index: int) -> None:
    if type(event) is not SessionEvent:
        raise InvalidSeed(index, f"{type(event).__name__} is no SessionEvent")
    if event.seq != index:
        raise InvalidSeed(index, f"has seq {event.seq}")


_readers: dict[type, Callable[[Any], tuple[str, Payload, Any, Any] | None]] = {}
"""For each class of models that was appended: what reads an instance as `_read` does, or cannot vouch for it."""


def _read(model: "EventData | str", data: dict[str, Any] | None) -> tuple[str, Payload, Any, Any]:
    """Check what a caller appends; returns its type, its data, and the turn and step that it names."""
    if isinstance(model, str):
        return _read_named(model, data)
    event_type = getattr(model, "event_type", "")
    if not event_type or data is not None:
        raise InvalidEvent("append takes a model of an event type, or a type and its data")
    check_type(event_type)
    payload = read_data(model, event_type)
    if getattr_static(type(model), "event_type") is event_type and "event_type" not in type(model).model_fields:
        reader = vocabulary().compile_reader(type(model), event_type)
        if reader is not None:
            _readers[type(model)] = reader
    return event_type, payload, model.__dict__.get("turn"), model.__dict__.get("step")


def _read_named(event_type: str, data: object) -> tuple[str, Payload, Any, Any]:
    check_type(event_type)
    if not isinstance(data, dict):
        raise InvalidEvent(f"{type(data).__name__} is no JSON object", event_type=event_type, path="data")
    payload = read_data(data, event_type)
    module = vocabulary()
    known = module.model_for(event_type)
    if known is not None:
        module.check_wire(known, data, event_type)
    if event_type in NUMBERED:
        return intern(event_type), payload, data.get("turn"), data.get("step")
    return intern(event_type), payload, None, None
