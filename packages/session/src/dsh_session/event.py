"""The event, and the codec between an event and its line.

Owns the facts of an event and how its bytes are kept. `data` stays undecoded bytes until somebody
reads it; a line that was read is kept byte for byte. Knows nothing about what a type means.
Flow in: line -> `decode_line` -> `SessionEvent`. Flow out: `SessionEvent.line`, the very bytes that are stored.
"""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn, Self

import msgspec

from dsh_session.collector import gc_paused
from dsh_session.envelope import (
    OPERATION,
    SOURCES,
    Envelope,
    Facts,
    Replace,
    SurfaceOp,
    check_json,
    check_type,
    check_utf8,
    data_span,
    decode_envelope,
    decode_facts,
    decode_object,
    is_count,
    one_line,
    parse_sources,
    parse_surface_op,
    read_column,
    read_patiently,
)
from dsh_session.errors import InvalidEvent
from dsh_session.frozen import FrozenDict, freeze, is_same_json
from dsh_session.json_value import decode_json, encode_json, encode_text
from dsh_session.lazy import vocabulary

if TYPE_CHECKING:
    from dsh_session.vocabulary import EventData

__all__ = [
    "Replace",
    "SessionEvent",
    "SurfaceOp",
    "build",
    "check_type",
    "decode_line",
    "decode_many",
    "encode_data",
    "from_columns",
    "gc_paused",
    "is_count",
    "parse_sources",
    "parse_surface_op",
]

_encode = msgspec.json.Encoder().encode
_UNSET = msgspec.UNSET
_OPENING, _CLOSING, _NEWLINE, _RETURN = b"{}\n\r"  # a number is looked for ten times as fast as a byte string
_intern = sys.intern
_heads: dict[str, bytes] = {}


class _Draft:
    """An event's slots while they are still writable; `_seal` turns it into a `SessionEvent`."""

    __slots__ = ("_data", "line", "seq", "source_event_seqs", "surface_op", "time", "type")

    type: str
    seq: int
    time: int
    line: bytes
    source_event_seqs: tuple[int, ...] | None
    surface_op: SurfaceOp | None
    _data: FrozenDict | None


class SessionEvent(_Draft):
    """One immutable event of a log.

    Args:
        type: The event's type, such as `user/message`.
        seq: Its 0-based position in the log.
        time: Milliseconds since the Unix epoch.
        data: A JSON object, or the model of the type.
        source_event_seqs: The seqs of the events that it was made from.
        surface_op: How it enters the derived history, or None for the four-field shape.

    Raises:
        NotJsonSerializable: JSON would not give `data` back as it is.
        InvalidEvent: A field has the wrong type or range.

    Example:
        >>> SessionEvent(type="note", seq=0, time=0, data={"a": 1}).line
        b'{"type":"note","seq":0,"time":0,"data":{"a":1}}'
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        type: str,  # noqa: A002 # the name that the wire has
        seq: int,
        time: int,
        data: "dict[str, Any] | EventData",
        source_event_seqs: Iterable[int] | None = None,
        surface_op: SurfaceOp | dict[str, Any] | None = None,
    ) -> Self:
        """Check and encode the fields."""
        check_type(type)
        sources = parse_sources(source_event_seqs, type)
        operation = parse_surface_op(surface_op, type)
        for key, value in (("seq", seq), ("time", time)):
            if not is_count(value):
                raise InvalidEvent("not a whole number from 0 to 2^63-1", event_type=type, path=key)
        return build(type, seq, time, encode_data(data, type), sources, operation)  # type: ignore[return-value] # final in practice: a subclass gets the base

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"an event is immutable: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"an event is immutable: {name}")

    @property
    def data(self) -> FrozenDict:
        """The decoded data, in containers that refuse to change; decoded once, on the first read.

        Raises:
            InvalidEvent: It holds a number that Python cannot hold (1e999, or too many digits).
        """
        value = self._data
        if value is None:
            try:
                value = freeze(decode_json(self.data_json))
            except ValueError as error:
                raise InvalidEvent(str(error), event_type=self.type, path="data") from error
            _set_data(self, value)
        return value

    @property
    def data_json(self) -> bytes:
        """The JSON of `data` as it stands in the line, undecoded."""
        try:
            return bytes(decode_envelope(self.line).data)
        except (msgspec.MsgspecError, RecursionError):
            start, end = data_span(self.line)
            return self.line[start:end]

    @property
    def source_event_seqs_json(self) -> bytes | None:
        """The JSON of `source_event_seqs`, or None without one."""
        return None if self.source_event_seqs is None else _encode(self.source_event_seqs)

    @property
    def surface_op_json(self) -> bytes | None:
        """The JSON of `surface_op`, or None without one."""
        return None if self.surface_op is None else _encode(self.surface_op)

    def payload(self) -> "EventData | FrozenDict":
        """Read the data as the model of its type; a type without a model gives `data` itself.

        Raises:
            InvalidEvent: The data does not fit the model.
        """
        return vocabulary().read_payload(self)  # type: ignore[no-any-return] # one of the two

    def __eq__(self, other: object) -> bool:
        """Compare by meaning: key order is free, `1 == 1.0`, a bool is no number."""
        if not isinstance(other, SessionEvent):
            return NotImplemented
        if self.line == other.line:
            return True
        return (
            self.type == other.type
            and self.seq == other.seq
            and self.time == other.time
            and self.source_event_seqs == other.source_event_seqs
            and self.surface_op == other.surface_op
            and is_same_json(self.data, other.data)
        )

    def __hash__(self) -> int:
        return hash((self.type, self.seq, self.time))

    def __repr__(self) -> str:
        line = self.line if len(self.line) <= 200 else self.line[:200] + b"..."
        return f"<SessionEvent {line.decode('utf-8', 'replace')}>"

    def __copy__(self) -> "SessionEvent":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "SessionEvent":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return decode_line, (self.line,)


_set_data: Callable[[SessionEvent, FrozenDict], None] = _Draft.__dict__["_data"].__set__


def _seal(  # noqa: PLR0917 # one call an event: keywords cost a tenth of it
    type_: str,
    seq: int,
    time: int,
    line: bytes,
    sources: tuple[int, ...] | None,
    operation: SurfaceOp | None,
) -> SessionEvent:
    draft = _Draft()
    draft.type = type_
    draft.seq = seq
    draft.time = time
    draft.line = line
    draft.source_event_seqs = sources
    draft.surface_op = operation
    draft._data = None  # noqa: SLF001 # the same class, before it is sealed
    draft.__class__ = SessionEvent
    return draft  # type: ignore[return-value] # its class has just become this one


def build(  # noqa: PLR0917 # as _seal
    type_: str,
    seq: int,
    time: int,
    data_json: bytes,
    sources: tuple[int, ...] | None = None,
    operation: SurfaceOp | None = None,
) -> SessionEvent:
    """Assemble an event from parts that are already checked."""
    head = _heads.get(type_)
    if head is None:
        head = b'{"type":%b,"seq":' % encode_text(type_).encode()
        if len(_heads) < 1024:
            _heads[type_] = head
    if sources is None and operation is None:
        line = b'%b%d,"time":%d,"data":%b}' % (head, seq, time, data_json)
    else:
        tail = b"" if sources is None else b',"sourceEventSeqs":' + _encode(sources)
        if operation is not None:
            tail += b',"surfaceOp":' + _encode(operation)
        line = b'%b%d,"time":%d,"data":%b%b}' % (head, seq, time, data_json, tail)
    return _seal(_intern(type_), seq, time, line, sources, operation)


def encode_data(data: Any, event_type: str) -> bytes:
    """Encode what a caller gives as data: a dict as it stands, a model through the vocabulary."""
    if isinstance(data, dict):
        return encode_json(data, event_type)
    module = vocabulary()
    if isinstance(data, module.EventData):
        return module.encode_model(data, event_type)  # type: ignore[no-any-return] # bytes
    raise InvalidEvent(f"{type(data).__name__} is no JSON object", event_type=event_type, path="data")


def decode_line(line: bytes) -> SessionEvent:
    """Read one event.

    Args:
        line: UTF-8 JSON of one event; surrounding white space is allowed. What is kept is a copy of these bytes.

    Raises:
        InvalidEvent: Not JSON, not UTF-8, an unknown envelope key, or a field of the wrong type.
    """
    if type(line) is not bytes:
        line = bytes(line)
    facts: Facts | Envelope
    try:
        facts = decode_facts(line)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        facts = read_patiently(line)
    if not line.isascii():
        check_utf8(line)
    if line[0] != _OPENING or line[-1] != _CLOSING or _NEWLINE in line or _RETURN in line:
        line = one_line(line)
    sources = facts.source_event_seqs
    operation = facts.surface_op
    return _seal(
        _intern(facts.type),
        facts.seq,
        facts.time,
        line,
        None if sources is _UNSET else sources,
        None if operation is _UNSET else operation,
    )


def decode_many(lines: Iterable[bytes]) -> list[SessionEvent]:
    """Read many events with the garbage collector paused.

    Raises:
        InvalidEvent: As `decode_line`; its `index` is the position of the line.
    """
    events: list[SessionEvent] = []
    add = events.append
    with gc_paused():
        try:
            for line in lines:
                add(decode_line(line))
        except InvalidEvent as error:
            error.index = len(events)
            raise
    return events


def from_columns(
    *,
    type: str,  # noqa: A002 # the name of the column
    seq: int,
    time: int,
    data: bytes | str,
    source_event_seqs: bytes | str | None = None,
    surface_op: bytes | str | None = None,
) -> SessionEvent:
    """Build an event from one row, whose last three columns are JSON texts.

    Raises:
        InvalidEvent: As `decode_line`.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    if type.__class__ is not str or type not in _heads:  # what is in there was checked when it came
        check_type(type)
    if not (is_count(seq) and is_count(time)):
        raise InvalidEvent("seq and time are whole numbers", event_type=type)
    try:
        decode_object(raw)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        check_json(raw, type)
    if not raw.isascii():
        check_utf8(raw)
    if raw[:1] != b"{" or raw[-1:] != b"}" or _NEWLINE in raw or _RETURN in raw:
        raw = one_line(raw)
        if raw[:1] != b"{":
            raise InvalidEvent("no JSON object", event_type=type, path="data")
    sources = None if source_event_seqs is None else read_column(source_event_seqs, SOURCES, "sourceEventSeqs")
    operation = None if surface_op is None else read_column(surface_op, OPERATION, "surfaceOp")
    return build(type, seq, time, raw, sources, operation)
