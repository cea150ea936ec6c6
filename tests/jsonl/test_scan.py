"""From bytes to a log: lines, tears, corruption, and where it is."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_session import SessionEvent
from dsh_session_persistence import CorruptSession
from dsh_session_persistence.testing.samples import Log, header, sid, turns
from dsh_session_persistence_jsonl.scan import read_end, scan

HEAD = header().line + b"\n"


@pytest.fixture
def scanned(tmp_path):
    """Give a function that scans bytes as a file."""

    def scan_bytes(content):
        path = tmp_path / "log"
        path.write_bytes(content)
        fd = os.open(path, os.O_RDONLY)
        try:
            return scan(fd, sid("sample"))
        finally:
            os.close(fd)

    return scan_bytes


def _lines(events):
    return b"".join(event.line + b"\n" for event in events)


def test_only_the_byte_0a_ends_a_line(scanned):
    """U+2028, U+0085 and a lone carriage return are text within a line."""
    text = "a\u2028b\u2029c\x85d"
    events = Log().turn_start().user(text).turn_end().events
    raw = events[1].line.decode()
    assert text in raw
    stored = scanned(HEAD + _lines(events))
    assert stored.events[1].data["content"][0]["text"] == text
    assert stored.torn_marker is None


def test_an_event_longer_than_a_piece_is_read(scanned):
    """The size of a read is no limit for an event."""
    events = Log().turn_start().user("x" * 5_000_000).turn_end().events
    stored = scanned(HEAD + _lines(events))
    assert list(stored.events) == events


def test_a_lone_surrogate_is_readable(scanned):
    """Another implementation may have split a pair between two chunks."""
    line = b'{"type":"note","seq":0,"time":0,"data":{"text":"\\ud83d"}}\n'
    (event,) = scanned(HEAD + line).events
    assert event.data["text"] == "\ud83d"
    assert event.line + b"\n" == line


@pytest.mark.parametrize(
    "tail",
    [
        b"{",
        b'{"type":"turn/start","seq":10',
        turns(2)[len(turns())].line,
        b"\x00",
        bytes(4096),
        bytes(64) + b"\n",
        b"garbage\n",
        b"\n",
        b'{"type":"note","seq":10,"time":0,"data":{"text":"\xff"}}\n',
        b"garbage\n" + bytes(512),
        b'garbage\n{"type":"no',
    ],
    ids=["brace", "fragment", "no-newline", "nul", "nuls", "nul-line", "garbage", "empty", "utf8", "both", "two"],
)
def test_a_torn_tail_begins_behind_the_last_readable_line(scanned, tail):
    """Nothing of it was ever acknowledged, and the marker says where to cut."""
    whole = HEAD + _lines(turns())
    stored = scanned(whole + tail)
    assert list(stored.events) == turns()
    assert stored.torn_marker == len(whole)


@pytest.mark.parametrize(
    "tail",
    [
        b"garbage\n" + turns(2)[len(turns())].line + b"\n",
        b"garbage\n" + turns(2)[len(turns())].line,
        b"garbage\nmore garbage\n",
        turns()[3].line + b"\n",
        turns(2)[len(turns()) + 1].line + b"\n",
    ],
    ids=["event-follows", "event-without-newline-follows", "two-lines", "repeated", "gap"],
)
def test_what_no_crash_leaves_is_corruption(scanned, tail):
    """Cutting it could cut real work, so nothing is cut."""
    whole = HEAD + _lines(turns())
    with pytest.raises(CorruptSession) as caught:
        scanned(whole + tail)
    assert caught.value.seq == len(turns())
    assert caught.value.offset_bytes == len(whole)


@pytest.mark.parametrize(
    "line",
    [
        {"type": "note", "seq": 10, "time": 0, "data": {}, "flavour": 1},
        {"type": "note", "seq": 10, "time": 0},
        {"type": "note", "seq": -1, "time": 0, "data": {}},
    ],
)
def test_a_whole_record_that_this_build_does_not_understand_is_not_torn(scanned, line):
    """It was fully written, so somebody meant it."""
    with pytest.raises(CorruptSession):
        scanned(HEAD + _lines(turns()) + json.dumps(line).encode() + b"\n")


@pytest.mark.parametrize("content", [b"", b"\n", b"{}", b"\x00" * 9, header().line, header().line[:-1] + b"\n"])
def test_a_file_without_a_whole_header_is_corrupt(scanned, content):
    """The first write is atomic, so no crash leaves half a header."""
    with pytest.raises(CorruptSession) as caught:
        scanned(content)
    assert caught.value.offset_bytes == 0


def test_a_damage_far_into_a_log_is_located(scanned):
    """The place is exact although the file is read in pieces."""
    events = [SessionEvent(type="note", seq=seq, time=0, data={"n": "x" * 200}) for seq in range(20_000)]
    lines = [event.line for event in events]
    lines[15_000] = b"?" * 7
    with pytest.raises(CorruptSession) as caught:
        scanned(HEAD + b"\n".join(lines) + b"\n")
    assert caught.value.seq == 15_000
    assert caught.value.offset_bytes == len(HEAD) + sum(len(line) + 1 for line in lines[:15_000])


@given(st.integers(min_value=0), st.data())
@settings(max_examples=60)
def test_a_crash_at_any_byte_keeps_whole_leading_events(tmp_path_factory, cut, data):
    """Whatever prefix of a batch reached the disk, what is read is a prefix of the log."""
    whole = HEAD + _lines(turns())
    cut = len(HEAD) + cut % (len(whole) - len(HEAD) + 1)
    path = tmp_path_factory.mktemp("cut") / "log"
    path.write_bytes(whole[:cut] + bytes(data.draw(st.integers(0, 3)) * 100))
    fd = os.open(path, os.O_RDONLY)
    try:
        stored = scan(fd, sid("sample"))
    finally:
        os.close(fd)
    assert list(stored.events) == turns()[: len(stored.events)]
    kept = len(HEAD) + len(_lines(stored.events))
    assert stored.torn_marker == (None if kept == path.stat().st_size else kept)
    assert cut - kept < len(turns()[min(len(stored.events), len(turns()) - 1)].line) + 1


@pytest.mark.parametrize("length", [1, 100, 4_094, 4_095, 4_096, 4_097, 20_000, 70_000])
def test_the_end_of_a_log_is_read_from_its_tail(tmp_path, length):
    """The check before a write must not read the whole file."""
    event = SessionEvent(type="note", seq=1, time=0, data={"n": "x" * length})
    path = tmp_path / "log"
    path.write_bytes(HEAD + SessionEvent(type="note", seq=0, time=0, data={}).line + b"\n" + event.line + b"\n")
    fd = os.open(path, os.O_RDONLY)
    try:
        end = read_end(fd, path.stat().st_size)
        assert end is not None
        assert (end.line, end.next_seq) == (event.line, 2)
        assert read_end(fd, path.stat().st_size - 1) is None
        header_end = read_end(fd, len(HEAD))
        assert header_end is not None
        assert header_end.next_seq == 0
        assert read_end(fd, 0) is None
    finally:
        os.close(fd)
