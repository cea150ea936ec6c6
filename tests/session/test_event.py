"""The envelope and its codec."""

import gc
import json

import pytest

from dsh_session import InvalidEvent, Replace, SessionEvent
from dsh_session.bulk import decode_many, from_columns
from dsh_session.collector import gc_paused
from dsh_session.event import decode_line

PLAIN = b'{"type":"note","seq":3,"time":7,"data":{"b":1,"a":[1.0,-0.0]}}'
FULL = (
    b'{"type":"user/message","seq":3,"time":7,"data":{"content":[]},'
    b'"sourceEventSeqs":[1,2],"surfaceOp":{"op":"replace","start":1,"end":2}}'
)


@pytest.mark.parametrize("line", [PLAIN, FULL, FULL.replace(b'{"op":"replace","start":1,"end":2}', b'"append"')])
def test_a_line_is_kept_byte_for_byte(line):
    """What another program wrote must not change because it was read here."""
    event = decode_line(line)
    assert event.line == line
    rebuilt = SessionEvent(
        type=event.type,
        seq=event.seq,
        time=event.time,
        data=dict(event.data),
        source_event_seqs=event.source_event_seqs,
        surface_op=event.surface_op,
    )
    assert rebuilt == event
    assert rebuilt.line == line


def test_the_attributes_are_those_of_the_wire():
    """Everybody reads events through these names."""
    event = decode_line(FULL)
    assert (event.type, event.seq, event.time) == ("user/message", 3, 7)
    assert event.data == {"content": []}
    assert event.source_event_seqs == (1, 2)
    assert event.surface_op == Replace(start=1, end=2)
    assert event.source_event_seqs_json == b"[1,2]"
    assert json.loads(event.surface_op_json) == {"op": "replace", "start": 1, "end": 2}
    assert decode_line(PLAIN).surface_op_json is None
    assert decode_line(PLAIN).source_event_seqs_json is None
    assert decode_line(PLAIN).data_json == b'{"b":1,"a":[1.0,-0.0]}'


REFUSED = {
    "unknown key": (PLAIN[:-1] + b',"durability":"x"}', "durability"),
    "unknown key in a replacement": (FULL.replace(b'"end":2', b'"end":2,"why":1'), "surfaceOp"),
    "unknown surface operation": (FULL.replace(b'"replace"', b'"remove"'), "surfaceOp"),
    "null surface operation": (PLAIN[:-1] + b',"surfaceOp":null}', "surfaceOp"),
    "null sources": (PLAIN[:-1] + b',"sourceEventSeqs":null}', "sourceEventSeqs"),
    "bool among the sources": (FULL.replace(b"[1,2]", b"[1,true]"), "sourceEventSeqs"),
    "missing seq": (PLAIN.replace(b'"seq":3,', b""), "seq"),
    "missing data": (b'{"type":"note","seq":3,"time":7}', "data"),
    "float seq": (PLAIN.replace(b'"seq":3', b'"seq":3.0'), "seq"),
    "bool seq": (PLAIN.replace(b'"seq":3', b'"seq":true'), "seq"),
    "negative seq": (PLAIN.replace(b'"seq":3', b'"seq":-1'), "seq"),
    "seq that no database holds": (PLAIN.replace(b'"seq":3', b'"seq":9223372036854775808'), "seq"),
    "text time": (PLAIN.replace(b'"time":7', b'"time":"7"'), "time"),
    "empty type": (PLAIN.replace(b'"note"', b'""'), "type"),
    "surrogate in the type": (PLAIN.replace(b'"note"', b'"\\ud800"'), "type"),
    "number as type": (PLAIN.replace(b'"note"', b"5"), "type"),
    "list as data": (b'{"type":"note","seq":3,"time":7,"data":[]}', "data"),
    "data within a list": (b'{"type":"note","seq":3,"time":7,"data":[{"data":{}}]}', "data"),
    "null data": (b'{"type":"note","seq":3,"time":7,"data":null}', "data"),
    "not an object": (b"[]", ""),
    "not JSON": (b"{", ""),
    "empty": (b"", ""),
    "NaN in the data": (PLAIN.replace(b"1.0", b"NaN"), ""),
    "trailing comma": (PLAIN.replace(b"-0.0", b"-0.0,"), ""),
    "two documents": (PLAIN + PLAIN, ""),
    "byte order mark": (b"\xef\xbb\xbf" + PLAIN, ""),
    "invalid UTF-8 in the data": (PLAIN.replace(b'"b"', b'"\xff"'), ""),
    "raw surrogate in the data": (PLAIN.replace(b'"b"', b'"\xed\xa0\x80"'), ""),
    "overlong UTF-8 in the data": (PLAIN.replace(b'"b"', b'"\xc0\xaf"'), ""),
    "raw control character": (PLAIN.replace(b'"b"', b'"\x01"'), ""),
    "header line": (b'{"type":"session","version":0,"id":"a","createdAt":0}', "version"),
}


@pytest.mark.parametrize(("line", "path"), REFUSED.values(), ids=REFUSED.keys())
def test_what_the_format_does_not_have_is_refused_by_name(line, path):
    """A build must not pretend to read what it cannot keep."""
    with pytest.raises(InvalidEvent) as caught:
        decode_line(line)
    assert caught.value.path == path


@pytest.mark.parametrize("data", ['{"a":"\\ud800"}', '{"\\udc00":[1]}', '{"a":"\\ud800é\\udc00"}'])
def test_lone_surrogates_are_readable_and_kept(data):
    """They come from file names and broken tool output, and the quick decoder refuses them."""
    line = (f'{{"type":"note","seq":0,"time":0,"data":{data},"sourceEventSeqs":[]}}').encode()
    event = decode_line(line)
    assert event.line == line
    assert event.data_json == data.encode()
    assert event.data == json.loads(data)
    assert event.source_event_seqs == ()


def test_a_number_beyond_every_float_is_an_error_when_it_is_read():
    """It is JSON, and the line is kept; but there is no value to hand out."""
    event = decode_line(b'{"type":"note","seq":0,"time":0,"data":{"a":1e999}}')
    with pytest.raises(InvalidEvent):
        _ = event.data


def test_white_space_around_and_inside_a_document_is_accepted():
    """A pretty-printed event becomes one line; a line's own spacing stays."""
    spaced = PLAIN.replace(b":", b" : ")
    assert decode_line(spaced).line == spaced
    pretty = json.dumps(json.loads(PLAIN), indent=2).replace("\n", "\r\n").encode()
    event = decode_line(b"\n" + pretty + b"\r\n")
    assert event == decode_line(PLAIN)
    assert len(event.line.splitlines()) == 1
    assert decode_line(event.line) == event


def test_a_buffer_that_is_reused_does_not_reach_the_event():
    """A reader hands out views of its buffer; what is kept must be a copy."""
    buffer = bytearray(PLAIN)
    event = decode_line(memoryview(buffer))
    buffer[:] = b"x" * len(buffer)
    assert event.line == PLAIN
    assert event.data["b"] == 1


def test_many_lines_are_read_at_once_and_the_bad_one_is_named():
    """A scan has to know where the unreadable record stands."""
    assert decode_many([PLAIN, FULL]) == [decode_line(PLAIN), decode_line(FULL)]
    with pytest.raises(InvalidEvent) as caught:
        decode_many([PLAIN, FULL, b"{"])
    assert caught.value.index == 2


def test_the_collector_pauses_and_comes_back():
    """A pause that leaked would slow the whole process down for ever."""
    assert gc.isenabled()
    with gc_paused():
        assert not gc.isenabled()
        with gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(InvalidEvent), gc_paused():
        decode_line(b"")
    assert gc.isenabled()
    gc.disable()
    try:
        with gc_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("line", [PLAIN, FULL, PLAIN.replace(b'"b"', b'"\\ud800\xc3\xa9"')])
@pytest.mark.parametrize("as_text", [True, False])
def test_a_row_and_its_event_are_the_same(line, as_text):
    """A database keeps columns; the log must not tell the difference."""
    event = decode_line(line)
    columns = (event.data_json, event.source_event_seqs_json, event.surface_op_json)
    if as_text:
        columns = tuple(None if column is None else column.decode() for column in columns)
    data, sources, operation = columns
    row = from_columns(
        type=event.type, seq=event.seq, time=event.time, data=data, source_event_seqs=sources, surface_op=operation
    )
    assert row == event
    assert row.line == event.line


@pytest.mark.parametrize(
    "change",
    [
        {"data": "[]"},
        {"data": "{"},
        {"data": ""},
        {"data": " [] "},
        {"data": '{},"surfaceOp":"append"'},
        {"data": b'{"a":"\xff"}'},
        {"data": '{"a":"\ud800"}'},
        {"data": '{"a":NaN}'},
        {"seq": -1},
        {"seq": True},
        {"time": 1.5},
        {"type": ""},
        {"source_event_seqs": "[true]"},
        {"source_event_seqs": "5"},
        {"source_event_seqs": "null"},
        {"surface_op": '"remove"'},
        {"surface_op": '{"op":"replace","start":1,"end":2,"x":3}'},
        {"surface_op": "null"},
    ],
)
def test_a_row_is_held_to_the_same_rules(change):
    """A damaged column is as bad as a damaged line."""
    row = {"type": "note", "seq": 0, "time": 0, "data": "{}"} | change
    with pytest.raises(InvalidEvent):
        from_columns(**row)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"type": ""}, "type"),
        ({"type": "\ud800"}, "type"),
        ({"type": 5}, "type"),
        ({"seq": -1}, "seq"),
        ({"seq": True}, "seq"),
        ({"time": 1.5}, "time"),
        ({"time": 2**63}, "time"),
        ({"source_event_seqs": [0, -1]}, "sourceEventSeqs[1]"),
        ({"source_event_seqs": ["0"]}, "sourceEventSeqs[0]"),
        ({"surface_op": "remove"}, "surfaceOp"),
        ({"surface_op": {"op": "replace", "start": 1}}, "surfaceOp"),
        ({"surface_op": {"op": "replace", "start": 1, "end": 2, "x": 3}}, "surfaceOp"),
        ({"surface_op": 5}, "surfaceOp"),
        ({"surface_op": object()}, "surfaceOp"),
        ({"data": []}, "data"),
    ],
)
def test_an_event_made_by_hand_is_checked(change, path):
    """An importer's mistake must not become a file that no build reads."""
    with pytest.raises(InvalidEvent) as caught:
        SessionEvent(**({"type": "note", "seq": 0, "time": 0, "data": {}} | change))
    assert caught.value.path == path


def test_the_wire_form_of_a_replacement_is_accepted():
    """Importers read it from JSON."""
    event = SessionEvent(
        type="user/message", seq=5, time=0, data={}, surface_op={"op": "replace", "start": 1, "end": 2}
    )
    assert event.surface_op == Replace(start=1, end=2)
