"""The envelope of an event: its six keys on the wire, and the rules for each.

Owns what format version 0 allows around `data`. The envelope is closed: an unknown key is refused by name.
Flow: a line -> `decode_envelope`, the quick way; what that refuses -> `read_patiently`, which takes whatever else
is JSON (lone surrogates, any depth) or says what is wrong.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec

from dsh_session.errors import InvalidEvent
from dsh_session.header import MAX_INTEGER
from dsh_session.ids import has_surrogates
from dsh_session.json_reader import member_span, read_json

Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_INTEGER)]


class Replace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="replace"):
    """The surface operation that puts one event in the place of a run of others.

    Args:
        start: The seq of the first event that is replaced; it must be on the surface.
        end: The seq of the last one, inclusive.
    """

    start: Count
    end: Count


SurfaceOp = Literal["append"] | Replace


class Envelope(
    msgspec.Struct,
    forbid_unknown_fields=True,
    gc=False,
    rename={"source_event_seqs": "sourceEventSeqs", "surface_op": "surfaceOp"},
):
    """The envelope as msgspec decodes it, with `data` left as bytes."""

    type: str
    seq: Count
    time: Count
    data: msgspec.Raw
    source_event_seqs: tuple[Count, ...] | msgspec.UnsetType = msgspec.UNSET
    surface_op: SurfaceOp | msgspec.UnsetType = msgspec.UNSET


class Skipped(msgspec.Struct, gc=False):
    """Any JSON object: the decoder passes over what is in it, and nothing of it is kept."""


_KEYS = ("type", "seq", "time", "data", "sourceEventSeqs", "surfaceOp")
decode_envelope = msgspec.json.Decoder(Envelope).decode
decode_object = msgspec.json.Decoder(Skipped).decode


def is_count(value: object) -> bool:
    """Tell whether a value is a whole number that every medium can hold."""
    return type(value) is int and 0 <= value <= MAX_INTEGER


def check_type(value: object) -> None:
    """Refuse an event type that is empty, no text, or holds a surrogate."""
    if type(value) is not str or not value:
        raise InvalidEvent("not a non-empty text", path="type")
    if has_surrogates(value):
        raise InvalidEvent("holds a surrogate", path="type")


def parse_sources(value: Iterable[int] | None, event_type: str) -> tuple[int, ...] | None:
    """Read what a caller gives as `source_event_seqs`."""
    if value is None:
        return None
    try:
        sources = tuple(value)
    except TypeError as error:
        raise InvalidEvent("no list of seqs", event_type=event_type, path="sourceEventSeqs") from error
    for position, seq in enumerate(sources):
        if not is_count(seq):
            raise InvalidEvent("not a seq", event_type=event_type, path=f"sourceEventSeqs[{position}]")
    return sources


def parse_surface_op(value: Any, event_type: str) -> SurfaceOp | None:
    """Read what a caller gives as `surface_op`: None, `"append"`, a `Replace`, or its wire form."""
    if value is None:
        return None
    if isinstance(value, str) and value == "append":
        return "append"
    try:
        operation = msgspec.convert(msgspec.to_builtins(value), Replace)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise InvalidEvent(str(error), event_type=event_type, path="surfaceOp") from error
    return operation


SOURCES = msgspec.json.Decoder(tuple[Count, ...])
OPERATION: msgspec.json.Decoder[Any] = msgspec.json.Decoder(SurfaceOp)


def read_column(text: bytes | str, decoder: msgspec.json.Decoder[Any], path: str) -> Any:
    """Read the JSON text of an optional envelope field from a database's column."""
    try:
        return decoder.decode(text)
    except (msgspec.MsgspecError, ValueError) as error:
        raise InvalidEvent(str(error), path=path) from error


def one_line(line: bytes) -> bytes:
    """Drop the white space around a document, and the line breaks between its tokens."""
    return line.strip(b" \t\r\n").replace(b"\n", b" ").replace(b"\r", b" ")


def check_utf8(line: bytes) -> None:
    """Refuse bytes that are not UTF-8; a decoder that leaves `data` alone would not notice."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidEvent(f"not UTF-8: {error.reason} at byte {error.start}") from error


def check_json(raw: bytes, event_type: str | None = None) -> Any:
    """Read JSON in the patient way, or refuse it."""
    check_utf8(raw)
    try:
        return read_json(raw.decode("utf-8"))
    except ValueError as error:
        raise InvalidEvent(f"not JSON: {error}", event_type=event_type) from error


def read_patiently(line: bytes) -> Envelope:
    """Read what msgspec refused: JSON that only the patient reader takes, or an error that names the key."""
    wire = check_json(line)
    if not isinstance(wire, dict):
        raise InvalidEvent("no JSON object")
    for key in wire:
        if key not in _KEYS:
            raise InvalidEvent("unknown envelope key", path=key)
    for key in _KEYS[:4]:
        if key not in wire:
            raise InvalidEvent("missing", path=key)
    check_type(wire["type"])
    for key in ("seq", "time"):
        if not is_count(wire[key]):
            raise InvalidEvent("not a whole number from 0 to 2^63-1", event_type=wire["type"], path=key)
    if not isinstance(wire["data"], dict):
        raise InvalidEvent("no JSON object", event_type=wire["type"], path="data")
    sources = _part(wire, "sourceEventSeqs", tuple[Count, ...])
    operation = _part(wire, "surfaceOp", SurfaceOp)
    start, end = data_span(line)
    return Envelope(
        type=wire["type"],
        seq=wire["seq"],
        time=wire["time"],
        data=msgspec.Raw(line[start:end]),
        source_event_seqs=msgspec.UNSET if sources is None else sources,
        surface_op=msgspec.UNSET if operation is None else operation,
    )


def _part(wire: dict[str, Any], key: str, kind: Any) -> Any:
    """Read an optional envelope field; None without it."""
    if key not in wire:
        return None
    try:
        return msgspec.convert(wire[key], kind)
    except (msgspec.ValidationError, ValueError) as error:  # it can quote a key that UTF-8 cannot carry
        raise InvalidEvent(str(error), event_type=wire["type"], path=key) from error


def data_span(line: bytes) -> tuple[int, int]:
    """Find where the data stands in a line that msgspec cannot read but the patient reader can."""
    text = line.decode("utf-8")
    start, end = member_span(text, "data")
    return len(text[:start].encode()), len(text[:end].encode())
