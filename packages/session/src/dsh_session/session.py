"""The session: an append-only log, and the way in.

Owns the order of an append: check, encode once, log, tell. Does no I/O, keeps no files, starts no threads.
Flow: `append` -> model and JSON check -> automaton -> surface -> `SessionEvent` -> the log -> the listener.
"""

from collections.abc import Callable, Iterable
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
    parse_sources,
    parse_surface_op,
    read_data,
)
from dsh_session.header import MAX_INTEGER, SessionHeader
from dsh_session.history import History
from dsh_session.ids import SessionId
from dsh_session.lazy import vocabulary
from dsh_session.log import EventLog
from dsh_session.surface import SURFACE_TYPES, Surface
from dsh_session.turns import BOUNDARIES, NUMBERED, Turns

if TYPE_CHECKING:
    from dsh_session.vocabulary import EventData, Message

Clock = Callable[[], int]
"""Gives the time in milliseconds since the Unix epoch."""

_WATCHED = BOUNDARIES | SURFACE_TYPES


def wall_clock() -> int:
    """Read the system's clock, in milliseconds since the Unix epoch."""
    return time_ns() // 1_000_000


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
        self._clock = clock
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
        event_type, payload, turn, step = _read(type, data)
        self._turns.check(event_type, turn, step)
        seq = len(self._events)
        operation: SurfaceOp | None = None
        on_surface = event_type in SURFACE_TYPES
        if on_surface:
            operation = "append" if surface_op is None else parse_surface_op(surface_op, event_type)
            if isinstance(operation, Replace):
                self._surface.span(event_type, operation)
        elif surface_op is not None:
            raise InvalidSurfaceOp(event_type, "this type derives no message")
        sources = None
        if source_event_seqs is not None:
            sources = parse_sources(source_event_seqs, event_type)
            if sources and max(sources) >= seq:
                raise InvalidEvent("names a later event", event_type=event_type, path="sourceEventSeqs")
        now = self._clock()
        if now.__class__ is not int or not 0 <= now <= MAX_INTEGER:
            raise InvalidEvent("the clock gave no milliseconds", event_type=event_type, path="time")
        if seq and self._events[-1].time > now:
            now = self._events[-1].time
        event = build(event_type, seq, now, payload, sources, operation)
        self._events.append(event)
        if on_surface:
            self._surface.apply(event_type, seq, operation)
        elif event_type in BOUNDARIES:
            self._turns.advance(event_type, seq, turn, step)
        if self._on_event is not None:
            self._on_event(self, event)
        return event

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
        for index, event in enumerate(self._events):
            if type(event) is not SessionEvent:
                raise InvalidSeed(index, f"{type(event).__name__} is no SessionEvent")
            if event.seq != index:
                raise InvalidSeed(index, f"has seq {event.seq}")
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


_writers: dict[type, tuple[str, Callable[[Any], dict[str, Any] | None]]] = {}
"""For each class of models that was appended: its event type, and what gives the wire form of an instance."""


def _read(model: "EventData | str", data: dict[str, Any] | None) -> tuple[str, Payload, Any, Any]:
    """Check what a caller appends; returns its type, its data, and the turn and step that it names."""
    known = _writers.get(type(model))
    if known is not None and data is None:
        event_type, write = known
        payload: Payload | None = write(model)
        if payload is None:
            payload = read_data(model, event_type)
        fields = model.__dict__
        return event_type, payload, fields.get("turn"), fields.get("step")
    if isinstance(model, str):
        return _read_named(model, data)
    event_type = getattr(model, "event_type", "")
    if not event_type or data is not None:
        raise InvalidEvent("append takes a model of an event type, or a type and its data")
    payload = read_data(model, event_type)
    _writers[type(model)] = intern(event_type), vocabulary().closed_wire[type(model)]
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
