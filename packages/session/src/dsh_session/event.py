"""The event, and the codec between an event and its line.

Owns the facts of an event and how its bytes are kept. `data` stays undecoded bytes until somebody
reads it; a line that was read is kept byte for byte. Knows nothing about what a type means.
Flow in: line -> `decode_line` -> `SessionEvent`. Flow out: `SessionEvent.line`, the very bytes that are stored.
"""

import sys
from collections.abc import Callable, Iterable
from inspect import Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeAlias

import msgspec

from dsh_session.collector import gc_paused
from dsh_session.envelope import (
    Count,
    Envelope,
    Replace,
    Skipped,
    SurfaceOp,
    check_type,
    check_utf8,
    data_span,
    decode_envelope,
    is_count,
    one_line,
    parse_sources,
    parse_surface_op,
    read_patiently,
)
from dsh_session.errors import InvalidEvent
from dsh_session.frozen import FrozenDict, freeze, is_same_json
from dsh_session.json_value import decode_json, encode_json
from dsh_session.lazy import vocabulary

if TYPE_CHECKING:
    from dsh_session.vocabulary import EventData

__all__ = [
    "Payload",
    "Replace",
    "SessionEvent",
    "SurfaceOp",
    "build",
    "check_type",
    "decode_line",
    "gc_paused",
    "is_count",
    "parse_sources",
    "parse_surface_op",
    "read_data",
]

Payload = msgspec.Struct | msgspec.Raw
"""Data on its way into a line: a wire form that JSON carries as it is, or JSON that is already written."""

_encode = msgspec.json.Encoder().encode
_UNSET = msgspec.UNSET
_OPENING, _CLOSING, _NEWLINE, _RETURN = b"{}\n\r"  # a number is looked for ten times as fast as a byte string
DATA_KEY = b',"data":'
"""In a line that was written here, it first stands where it should: a text has no bare quotes."""
DATA_KEY_BYTES = len(DATA_KEY)
_intern = sys.intern


class Kept:
    """The decoded data of an event, once somebody has read it; nothing that a decoder or an encoder knows."""

    __slots__ = ("value",)

    def __init__(self, value: FrozenDict | None) -> None:
        self.value = value


WRITTEN_HERE, WRITTEN_ELSEWHERE = Kept(None), Kept(None)
"""Whether the line of an event whose data nobody has read is in the form that `build` gives it."""

if TYPE_CHECKING:
    _Line: TypeAlias = bytes
    _Sources: TypeAlias = tuple[int, ...] | None
    _Operation: TypeAlias = SurfaceOp | None
else:
    # What the decoder is to take: any data, which it skips (the line takes its place), and no nulls.
    _Line, _Sources, _Operation = Skipped, tuple[Count, ...], SurfaceOp


class Draft(
    msgspec.Struct,
    gc=False,  # an event is in no cycle
    eq=False,
    forbid_unknown_fields=True,
    rename={"line": "data", "source_event_seqs": "sourceEventSeqs", "surface_op": "surfaceOp", "_data": ""},
):
    """An event's fields while they are still writable; then its class becomes `SessionEvent`."""

    type: Annotated[str, msgspec.Meta(min_length=1)]
    seq: Count
    time: Count
    line: _Line
    source_event_seqs: _Sources = None
    surface_op: _Operation = None
    _data: Kept = WRITTEN_ELSEWHERE


class _Constructor(msgspec.StructMeta):
    """Makes the call of the class the checked way in; `build` and the decoder make drafts."""

    @property
    def __signature__(self) -> Signature:
        """What the call takes, which is not what the fields are."""
        own = signature(_Constructor.__call__)
        return own.replace(parameters=list(own.parameters.values())[1:])

    def __call__(
        self,
        *,
        type: str,  # noqa: A002 # the name that the wire has
        seq: int,
        time: int,
        data: "dict[str, Any] | EventData",
        source_event_seqs: Iterable[int] | None = None,
        surface_op: SurfaceOp | dict[str, Any] | None = None,
    ) -> "SessionEvent":
        """Check and encode the fields."""
        check_type(type)
        sources = parse_sources(source_event_seqs, type)
        operation = parse_surface_op(surface_op, type)
        for key, value in (("seq", seq), ("time", time)):
            if not is_count(value):
                raise InvalidEvent("not a whole number from 0 to 2^63-1", event_type=type, path=key)
        return build(_intern(type), seq, time, read_data(data, type), sources, operation)


class SessionEvent(Draft, metaclass=_Constructor):
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

    if not TYPE_CHECKING:
        line: Kept  # what no decoder makes: only drafts are decoded

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            type: str,  # noqa: A002 # as above
            seq: int,
            time: int,
            data: "dict[str, Any] | EventData",
            source_event_seqs: Iterable[int] | None = None,
            surface_op: SurfaceOp | dict[str, Any] | None = None,
        ) -> None: ...

    def __replace__(self, **_changes: object) -> NoReturn:
        raise TypeError("an event is immutable, and its line with it; make another one")

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
        value = self._data.value
        if value is None:
            try:
                value = freeze(decode_json(self.data_json))
            except ValueError as error:
                raise InvalidEvent(str(error), event_type=self.type, path="data") from error
            _set_data(self, Kept(value))
        return value

    @property
    def data_json(self) -> bytes:
        """The JSON of `data` as it stands in the line, undecoded."""
        if self._data is WRITTEN_HERE and self.source_event_seqs is None and self.surface_op is None:
            line = self.line
            return line[line.index(DATA_KEY) + DATA_KEY_BYTES : -1]
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


_set_data: Callable[[SessionEvent, Kept], None] = Draft.__dict__["_data"].__set__
decoder = msgspec.json.Decoder(Draft)
_decode = decoder.decode


def build(  # noqa: PLR0917 # one call an event: keywords cost a tenth of it
    type_: str,
    seq: int,
    time: int,
    data: Payload,
    sources: tuple[int, ...] | None = None,
    operation: SurfaceOp | None = None,
) -> SessionEvent:
    """Assemble an event from parts that are already checked; its line is written here, once.

    Raises:
        NotJsonSerializable: A text in the data holds surrogates that JSON would merge.
    """
    envelope = Envelope(type_, seq, time, data)  # type: ignore[arg-type] # an encoder takes what is there
    if sources is not None:
        envelope.source_event_seqs = sources
    if operation is not None:
        envelope.surface_op = operation
    try:
        line = _encode(envelope)
    except (ValueError, RecursionError):  # surrogates, and integers beyond the limit of digits
        envelope.data = msgspec.Raw(encode_json(msgspec.to_builtins(data), type_))
        line = _encode(envelope)
    event = Draft(type_, seq, time, line, sources, operation, WRITTEN_HERE)
    event.__class__ = SessionEvent
    return event  # type: ignore[return-value] # its class has just become this one


def read_data(data: Any, event_type: str) -> Payload:
    """Check what a caller gives as data: a dict as it stands, a model through the vocabulary.

    Raises:
        NotJsonSerializable: JSON would not give it back as it is.
        InvalidEvent: It is neither, or a model that does not hold what it should.
    """
    if isinstance(data, dict):
        return msgspec.Raw(encode_json(data, event_type))  # at once: validators may change what they are given
    module = vocabulary()
    if isinstance(data, module.EventData):
        return module.read_model(data, event_type)  # type: ignore[no-any-return] # a payload
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
    try:
        draft = _decode(line)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        draft = _decode_patiently(line)
    if not line.isascii():
        check_utf8(line)
    if line[0] != _OPENING or line[-1] != _CLOSING or _NEWLINE in line or _RETURN in line:
        line = one_line(line)
    draft.type = _intern(draft.type)
    draft.line = line
    draft.__class__ = SessionEvent
    return draft  # type: ignore[return-value] # as in `build`


def _decode_patiently(line: bytes) -> Draft:
    facts = read_patiently(line)
    sources, operation = facts.source_event_seqs, facts.surface_op
    return Draft(
        facts.type,
        facts.seq,
        facts.time,
        line,
        None if sources is _UNSET else sources,
        None if operation is _UNSET else operation,
    )
