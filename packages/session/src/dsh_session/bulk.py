"""Many events at once: from lines, from rows, and to rows.

Owns how a run of events is read in a few calls, instead of a few for each. Refuses what is not in the compact form:
that is for the reader of a single event to judge. Flow in: lines or rows -> a check of all -> the decoder ->
events. Flow out: events -> rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice, repeat
from operator import attrgetter, itemgetter
from sys import intern
from typing import Any

import msgspec

from dsh_session.collector import gc_paused
from dsh_session.envelope import (
    OPERATION,
    SOURCES,
    Skipped,
    check_json,
    check_type,
    check_utf8,
    decode_object,
    is_count,
    one_line,
    read_column,
)
from dsh_session.errors import InvalidEvent
from dsh_session.event import (
    DATA_KEY,
    DATA_KEY_BYTES,
    WRITTEN_HERE,
    Draft,
    SessionEvent,
    build,
    decode_line,
    decoder,
)
from dsh_session.header import MAX_INTEGER

__all__ = ["column_rows", "decode_block", "decode_many", "from_columns", "from_rows"]

_LINES_AT_ONCE = 4096
_TYPES_REMEMBERED = 1024
_checked_types: set[str] = set()  # what is in there was checked when it came
_OPENING, _CLOSING, _NEWLINE, _RETURN = b"{}\n\r"
_encode = msgspec.json.Encoder().encode
_decode_lines = decoder.decode_lines
_decode_objects = msgspec.json.Decoder(Skipped).decode_lines
_first, _last, _get_type = itemgetter(0), itemgetter(-1), attrgetter("type")
_set_line: Callable[[Draft, bytes], None] = Draft.__dict__["line"].__set__
_set_type: Callable[[Draft, str], None] = Draft.__dict__["type"].__set__
_set_class: Callable[[Draft, type], None] = object.__dict__["__class__"].__set__
_exhaust = deque[None](maxlen=0).extend  # runs an iterator to its end, without a loop of bytecode


def decode_many(lines: Iterable[bytes]) -> list[SessionEvent]:
    """Read many events with the garbage collector paused.

    Raises:
        InvalidEvent: As `decode_line`; its `index` is the position of the line.
    """
    events: list[SessionEvent] = []
    remaining = iter(lines)
    with gc_paused():
        while some := list(islice(remaining, _LINES_AT_ONCE)):
            joined = b"\n".join(some)
            are_lines = set(map(type, some)) == {bytes} and joined.count(b"\n") == len(some) - 1
            events += (_decode_joined(joined, some) if are_lines else None) or _decode_singly(some, len(events))
    return events


def _decode_singly(lines: list[bytes], index: int) -> list[SessionEvent]:
    events: list[SessionEvent] = []
    try:
        for line in lines:
            events.append(decode_line(line))  # noqa: PERF401 # as many as there are is told
    except InvalidEvent as error:
        error.index = index + len(events)
        raise
    return events


def decode_block(block: bytes) -> list[SessionEvent] | None:
    """Read whole lines of a log in one go, each of them an event with its newline.

    Returns:
        The events; None if a line is anything but one event in the compact form, for `decode_line` to say more.
    """
    block = bytes(block)  # a view, or a buffer that is used again, does not reach an event
    lines = block.split(b"\n")
    return None if lines.pop() else _decode_joined(block, lines)


def _decode_joined(joined: bytes, lines: list[bytes]) -> list[SessionEvent] | None:
    """Read lines that are joined by newlines.

    Where a line ends with a brace and the next begins with one, a document has ended: inside of one, a comma or
    another closing brace would follow. So as many events as lines means one in each.
    """
    try:
        if set(map(_first, lines)) != {_OPENING} or set(map(_last, lines)) != {_CLOSING} or _RETURN in joined:
            return None
        if not joined.isascii():
            joined.decode("utf-8")
        drafts: list[Draft] = _decode_lines(joined)
    except (IndexError, msgspec.MsgspecError, RecursionError, ValueError):
        return None
    if len(drafts) != len(lines):
        return None
    _exhaust(map(_set_line, drafts, lines))
    _exhaust(map(_set_type, drafts, map(intern, map(_get_type, drafts))))
    return _sealed(drafts)


def _sealed(drafts: list[Draft]) -> list[SessionEvent]:
    _exhaust(map(_set_class, drafts, repeat(SessionEvent)))
    return drafts  # type: ignore[return-value] # their class has just become this one


def column_rows(key: str, events: Iterable[SessionEvent]) -> list[tuple[Any, ...]]:
    """Take events apart into rows: a key, then seq, type, time, and the JSON of the other three envelope fields.

    Args:
        key: Stands first in each row.
        events: The events.

    Returns:
        A tuple of seven for each; JSON is text (lone surrogates are escapes), None where a field is absent.
    """
    return [
        (
            key,
            event.seq,
            event.type,
            event.time,
            (line := event.line)[line.index(DATA_KEY) + DATA_KEY_BYTES : -1].decode(),
            None,
            None,
        )
        if event._data is WRITTEN_HERE and event.source_event_seqs is None and event.surface_op is None  # noqa: SLF001 # as `data_json`, in line: for most of what is ever stored
        else _column_row(key, event)
        for event in events
    ]


def _column_row(key: str, event: SessionEvent) -> tuple[Any, ...]:
    sources, operation = event.source_event_seqs_json, event.surface_op_json
    return (
        key,
        event.seq,
        event.type,
        event.time,
        event.data_json.decode(),
        None if sources is None else sources.decode(),
        None if operation is None else operation.decode(),
    )


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
    if type.__class__ is not str or type not in _checked_types:
        check_type(type)
        if len(_checked_types) < _TYPES_REMEMBERED:
            _checked_types.add(intern(type))
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
    return build(intern(type), seq, time, msgspec.Raw(raw), sources, operation)


def from_rows(rows: Sequence[tuple[Any, ...]]) -> list[SessionEvent] | None:
    """Build events from many rows in one go.

    Args:
        rows: Tuples of seq, type, time, data, `sourceEventSeqs` and `surfaceOp`, texts being bytes.

    Returns:
        The events; None if a row is not as it was written, for `from_columns` to say more.
    """
    plain = _from_plain_rows([row for row in rows if row[4] is None and row[5] is None])
    if plain is None:
        return None
    in_order = iter(plain)
    try:
        return [
            next(in_order)
            if sources is None and operation is None
            else from_columns(
                type=name.decode(), seq=seq, time=time, data=data, source_event_seqs=sources, surface_op=operation
            )
            for seq, name, time, data, sources, operation in rows
        ]
    except (AttributeError, InvalidEvent, UnicodeDecodeError):
        return None


def _from_plain_rows(rows: list[tuple[Any, ...]]) -> list[SessionEvent] | None:
    if not rows:
        return []
    seqs, names, times, datas, _, _ = zip(*rows, strict=True)
    counts, texts = {*map(type, seqs), *map(type, times)}, {*map(type, names), *map(type, datas)}
    if counts != {int} or texts != {bytes} or not _are_objects(datas):
        return None
    if min(*seqs, *times) < 0 or max(*seqs, *times) > MAX_INTEGER:
        return None
    try:
        types = {name: name.decode() for name in set(names)}
        for name in types.values():
            check_type(name)
    except (InvalidEvent, UnicodeDecodeError):
        return None
    heads = {name: b'{"type":%b,"seq":' % _encode(text) for name, text in types.items()}
    lines = [b'%b%d,"time":%d,"data":%b}' % (heads[name], seq, time, data) for seq, name, time, data, _, _ in rows]
    nothing = repeat(None)
    kinds = map({name: intern(text) for name, text in types.items()}.__getitem__, names)
    return _sealed(list(map(Draft, kinds, seqs, times, lines, nothing, nothing, repeat(WRITTEN_HERE))))


def _are_objects(texts: Sequence[bytes]) -> bool:
    """Tell whether each text is one JSON object in the compact form; see `_decode_joined`."""
    joined = b"\n".join(texts)
    try:
        if set(map(_first, texts)) != {_OPENING} or set(map(_last, texts)) != {_CLOSING} or _RETURN in joined:
            return False
        if not joined.isascii():
            joined.decode("utf-8")
        return len(_decode_objects(joined)) == len(texts) == joined.count(b"\n") + 1
    except (IndexError, msgspec.MsgspecError, RecursionError, ValueError):
        return False
