"""Many events at once are what each of them is alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_session import InvalidEvent, SessionEvent
from dsh_session.bulk import column_rows, decode_block, decode_many, from_columns, from_rows
from dsh_session.event import decode_line

LINES = [
    b'{"type":"note","seq":0,"time":0,"data":{}}',
    b'{"type":"note","seq":1,"time":5,"data":{"a":[1.0,-0.0,"\xc3\xa9\xe2\x80\xa8"],"b":{"c":null}}}',
    b'{"type":"user/message","seq":2,"time":5,"data":{"a":1},"sourceEventSeqs":[0,1],"surfaceOp":"append"}',
    b'{"data":{"x":1},"time":7,"seq":3,"type":"odd \\"order\\""}',
    b'{ "type": "spaced", "seq": 4, "time": 7, "data": { } }',
    b'{"type":"surrogate","seq":5,"time":7,"data":{"a":"\\ud800"}}',
    b'{"type":"huge","seq":6,"time":7,"data":{"a":1e999,"b":123456789012345678901234567890}}',
    b'{"type":"twice","seq":7,"time":7,"data":{"a":1},"data":{"b":2}}',
    b' {"type":"framed","seq":8,"time":7,"data":{}} ',
    b'{"type":"carriage","seq":9,\r"time":7,"data":{}}',
    b'{"type":"a,\\"data\\":{","seq":9,"time":7,"data":{}}',
]
BROKEN = [
    b"",
    b"{}",
    b"{",
    b"null",
    b'{"type":"note","seq":0,"time":0,"data":{}}{"type":"note","seq":0,"time":0,"data":{}}',
    b'{"type":"note","seq":0,"time":0,"data":{}',
    b'}{"type":"note","seq":0,"time":0,"data":{}}',
    b'{"type":"note","seq":0,"time":0,"data":[]}',
    b'{"type":"note","seq":-1,"time":0,"data":{}}',
    b'{"type":"note","seq":true,"time":0,"data":{}}',
    b'{"type":"","seq":0,"time":0,"data":{}}',
    b'{"type":"note","seq":0,"time":0,"data":{},"":{}}',
    b'{"type":"note","seq":0,"time":0,"data":{},"":null}',
    b'{"type":"note","seq":0,"time":0,"data":{},"line":"AAAA"}',
    b'{"type":"note","seq":0,"time":0,"data":{},"sourceEventSeqs":null}',
    b'{"type":"note","seq":0,"time":0,"data":{},"surfaceOp":null}',
    b'{"type":"note","seq":0,"time":0,"data":{"a":"\xff"}}',
    b'{"type":"note","seq":0,"time":0,"data":{"a":"\x00"}}',
    b'\xef\xbb\xbf{"type":"note","seq":0,"time":0,"data":{}}',
]


def singly(lines):
    """What the reader of a single event makes of each line; None if it refuses one."""
    try:
        return [decode_line(line) for line in lines]
    except InvalidEvent:
        return None


def facts(events):
    """What makes events the same, and their exact bytes."""
    return [
        (type(event), event.type, event.seq, event.time, event.line, event.source_event_seqs, event.surface_op)
        for event in events
    ]


@given(st.lists(st.sampled_from([*LINES, *BROKEN]), max_size=6))
def test_a_block_is_what_its_lines_are(lines):
    """Whether it is read in one go or not must not be seen in what comes of it."""
    expected = singly(lines)
    block = decode_block(b"".join(line + b"\n" for line in lines))
    if block is not None:
        assert expected is not None
        assert facts(block) == facts(expected)
        assert [event.data_json for event in block] == [event.data_json for event in expected]
    if expected is None:
        with pytest.raises(InvalidEvent) as caught:
            decode_many(lines)
        assert singly(lines[: caught.value.index]) is not None
        assert singly([lines[caught.value.index]]) is None
    else:
        assert facts(decode_many(lines)) == facts(expected)


def test_compact_lines_are_read_in_one_go():
    """Else the quick way would be no way at all."""
    lines = LINES[:4]
    block = decode_block(b"".join(line + b"\n" for line in lines))
    assert block is not None
    assert facts(block) == facts(singly(lines))


@pytest.mark.parametrize(
    "block",
    [
        b'{"type":"note","seq":0,"time":0,"data":{}}',  # without its newline
        b'{"type":"note","seq":0,\n"time":0,"data":{}}\n',
        b'{"type":"note","seq":0,"time":0,"data":{}\n}\n',
        b'{"type":"note","seq":0,"time":0,"data":{"a":{}\n,"b":{}}}\n',
        b'{"type":"note","seq":0,"time":0,"data":{}}{"type":"note","seq":1,"time":0,"data":{}}\n',
        b'\n{"type":"note","seq":0,"time":0,"data":{}}\n',
    ],
)
def test_a_document_that_is_not_one_line_is_left_to_the_other_reader(block):
    """As many documents as lines, each beginning and ending with a brace: only then is a line a document."""
    assert decode_block(block) is None


def test_a_line_that_holds_a_newline_is_no_line():
    """Two documents in one item and one in two make as many documents as items."""
    whole = b'{"type":"note","seq":0,"time":0,"data":{}}'
    lines = [whole + b"\n" + whole, b'{"type":"note","seq":0', b',"time":0,"data":{}}']
    with pytest.raises(InvalidEvent) as caught:
        decode_many(lines)
    assert caught.value.index == 0


COLUMNS = [
    (0, b"note", 0, b"{}", None, None),
    (1, b"note", 5, b'{"a":"\xc3\xa9\xe2\x80\xa8"}', None, None),
    (2, b"user/message", 5, b'{"a":1}', b"[0,1]", b'"append"'),
    (3, b"user/message", 5, b'{"a":1}', None, b'{"op":"replace","start":0,"end":1}'),
    (4, b'quote" \\ ,"data":', 6, b'{"a":1}', None, None),
    (5, b"note", 6, b' { "a" : 1 } ', None, None),
    (5, b"note", 6, b'{"a":{}\n}', None, None),
    (6, b"note", 6, b'{"a":"\\ud800"}', None, None),
    (2**63 - 1, b"note", 2**63 - 1, b'{"a":1e999}', None, None),
]
BROKEN_COLUMNS = [
    (0, b"note", 0, b'{},"surfaceOp":"append"', None, None),
    (0, b"note", 0, b'{},"data":{"b":2}', None, None),
    (0, b"note", 0, b'{},"seq":{}', None, None),
    (0, b"note", 0, b"{}\n{}", None, None),
    (0, b"note", 0, b"{}{}", None, None),
    (0, b"note", 0, b"{}}", None, None),
    (0, b"note", 0, b"[]", None, None),
    (0, b"note", 0, b"", None, None),
    (0, b"note", 0, b'{"a":"\xff"}', None, None),
    (0, b"", 0, b"{}", None, None),
    (0, b"\xff", 0, b"{}", None, None),
    (-1, b"note", 0, b"{}", None, None),
    (0, b"note", -1, b"{}", None, None),
    (0.0, b"note", 0, b"{}", None, None),
    (0, b"note", None, b"{}", None, None),
    (0, None, 0, b"{}", None, None),
    (0, b"note", 0, None, None, None),
    (0, b"note", 0, 5, None, None),
    (0, b"note", 0, b"{}", b"null", None),
    (0, b"note", 0, b"{}", None, b"null"),
    (2**63, b"note", 0, b"{}", None, None),
]


def row_singly(row):
    """What the reader of a single row makes of it; None if it refuses it."""
    seq, name, time, data, sources, operation = row
    try:
        return from_columns(
            type=name.decode(), seq=seq, time=time, data=data, source_event_seqs=sources, surface_op=operation
        )
    except (InvalidEvent, AttributeError, TypeError, UnicodeDecodeError):
        return None


@given(st.lists(st.sampled_from([*COLUMNS, *BROKEN_COLUMNS]), max_size=6))
def test_rows_are_what_each_row_is(rows):
    """A column that smuggles in more than it should hold is refused either way."""
    expected = [row_singly(row) for row in rows]
    events = from_rows(rows)
    if events is not None:
        assert None not in expected
        assert facts(events) == facts(expected)
        assert [event.data_json for event in events] == [event.data_json for event in expected]


@pytest.mark.parametrize("row", BROKEN_COLUMNS)
def test_a_broken_row_is_refused_either_way(row):
    """Each alone, for the search above may pass one by."""
    assert from_rows([row]) is None
    assert row_singly(row) is None


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_is_refused_either_way(line):
    """As above."""
    assert decode_block(line + b"\n") is None
    assert singly([line]) is None


def test_rows_as_they_are_written_are_read_in_one_go():
    """Else the quick way would be no way at all."""
    events = from_rows(COLUMNS[:5])
    assert events is not None
    assert facts(events) == facts([row_singly(row) for row in COLUMNS[:5]])


@given(st.lists(st.sampled_from(LINES), max_size=5), st.booleans())
def test_events_go_into_rows_and_come_back(lines, is_read):
    """Whether their lines were written here or elsewhere, and whether anybody has looked at their data."""
    written = [
        SessionEvent(type='a,"data":{', seq=0, time=1, data={"x": ',"data":{"y":1}'}),
        SessionEvent(type="note", seq=0, time=1, data={}, surface_op="append", source_event_seqs=[3]),
    ]
    events = [*(decode_line(line) for line in lines), *written]
    if is_read:
        for event in events:
            if event.type != "huge":
                assert event.data is event.data
    rows = column_rows("key", events)
    assert [row[0] for row in rows] == ["key"] * len(events)
    assert [row[1:4] for row in rows] == [(event.seq, event.type, event.time) for event in events]
    as_bytes = [
        (seq, name.encode(), time, *(None if text is None else text.encode() for text in texts))
        for _, seq, name, time, *texts in rows
    ]
    assert [row[3] for row in as_bytes] == [event.data_json for event in events]
    again = [row_singly(row) for row in as_bytes]
    assert [event.line for event in again[-2:]] == [event.line for event in written]
    assert [(event.source_event_seqs, event.surface_op) for event in again] == [
        (event.source_event_seqs, event.surface_op) for event in events
    ]
