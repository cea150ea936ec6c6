"""The header and the ids in it."""

import enum

import pytest

from dsh_session import (
    SESSION_FORMAT_VERSION,
    InvalidHeader,
    InvalidSessionId,
    SessionHeader,
    UnsupportedVersion,
)
from dsh_session.header import decode_header
from dsh_session.ids import new_session_id, parse_session_id

FULL = b'{"type":"session","version":0,"id":"a","createdAt":5,"cwd":"/x","parentSession":"p","seedLength":3}'


def test_a_header_round_trips_with_every_field_and_with_none():
    """Absent fields are left out, never null."""
    assert decode_header(FULL).line == FULL
    assert decode_header(FULL) == SessionHeader(
        id="a", created_at=5, cwd="/x", parent_session="p", seed_length=3, version=0
    )
    bare = SessionHeader(id="a", created_at=0)
    assert bare.line == b'{"type":"session","version":0,"id":"a","createdAt":0}'
    assert decode_header(bare.line) == bare


def test_a_parent_without_a_seed_length_is_valid():
    """Older writers noted the parent alone."""
    header = SessionHeader(id="a", created_at=0, parent_session="p")
    assert decode_header(header.line) == header


def test_a_folder_name_that_is_no_utf8_survives():
    """POSIX names are bytes; `surrogateescape` turns them into lone surrogates."""
    header = SessionHeader(id="a", created_at=0, cwd="/caf\udce9")
    assert decode_header(header.line).cwd == "/caf\udce9"


@pytest.mark.parametrize("found", ["1", "-1", '"0"', "0.0", "false", "null"])
def test_another_version_is_refused_before_anything_else_is_judged(found):
    """A newer build's header has keys that this build does not know; the version is the true reason."""
    line = FULL.replace(b'"version":0', b'"version":' + found.encode()).replace(b'"cwd"', b'"future"')
    with pytest.raises(UnsupportedVersion) as caught:
        decode_header(line)
    assert caught.value.supported == SESSION_FORMAT_VERSION


def test_a_header_without_a_version_is_refused():
    """Nothing is assumed."""
    with pytest.raises(UnsupportedVersion) as caught:
        decode_header(b'{"type":"session","id":"a","createdAt":5}')
    assert caught.value.found is None


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (FULL[:-1] + b',"model":"x"}', "model"),
        (FULL.replace(b'"id":"a",', b""), "id"),
        (FULL.replace(b'"createdAt":5,', b""), "createdAt"),
        (FULL.replace(b'"createdAt":5', b'"createdAt":5.0'), "createdAt"),
        (FULL.replace(b'"createdAt":5', b'"createdAt":-5'), "createdAt"),
        (FULL.replace(b'"createdAt":5', b'"createdAt":true'), "createdAt"),
        (FULL.replace(b'"id":"a"', b'"id":""'), "id"),
        (FULL.replace(b'"id":"a"', b'"id":"\\ud800"'), "id"),
        (FULL.replace(b'"id":"a"', b'"id":5'), "id"),
        (FULL.replace(b'"/x"', b"null"), "cwd"),
        (FULL.replace(b'"/x"', b"5"), "cwd"),
        (FULL.replace(b'"p"', b"5"), "parentSession"),
        (FULL.replace(b":3}", b":true}"), "seedLength"),
        (FULL.replace(b":3}", b":-1}"), "seedLength"),
        (FULL.replace(b'"session"', b'"turn/start"'), ""),
        (b"[]", ""),
        (b"{", ""),
        (b"", ""),
        (FULL.replace(b"/x", b"\xff"), ""),
    ],
)
def test_a_malformed_header_is_refused_and_the_key_named(line, key):
    """The header is closed, as the envelope is."""
    with pytest.raises(InvalidHeader) as caught:
        decode_header(line)
    assert caught.value.key == key


def test_a_header_made_by_hand_is_checked():
    """What cannot be read back must not be written."""
    with pytest.raises(InvalidHeader):
        SessionHeader(id="a", created_at=True)
    with pytest.raises(InvalidHeader):
        SessionHeader(id="a", created_at=0, cwd="/\ud83d\ude00")
    with pytest.raises(UnsupportedVersion):
        SessionHeader(id="a", created_at=0, version=1)
    with pytest.raises(InvalidSessionId):
        SessionHeader(id="", created_at=0)
    with pytest.raises(AttributeError):
        SessionHeader(id="a", created_at=0).id = "b"


@pytest.mark.parametrize("text", ["x", "../etc", "a b", "\x00", "ü", "😀", "x" * 5_000, ".", "CON"])
def test_any_text_is_an_id(text):
    """What a medium cannot hold is the backend's to refuse."""
    assert parse_session_id(text) == text


def test_an_id_is_the_text_of_a_member_and_not_its_name():
    """A member of a text enumeration equals its value, and shows as something else; the value was meant."""

    class Job(str, enum.Enum):  # noqa: UP042 # a `StrEnum` shows as its value
        NIGHTLY = "nightly"

    found = parse_session_id(Job.NIGHTLY)
    assert (type(found), found) == (str, "nightly")


@pytest.mark.parametrize("value", ["", "\ud800", "a\udfffb", None, 5, b"x"])
def test_what_is_no_text_is_no_id(value):
    """Every medium writes ids as UTF-8."""
    with pytest.raises(InvalidSessionId) as caught:
        parse_session_id(value)
    assert caught.value.session_id == value


def test_new_ids_differ():
    """Two sessions must never share a file."""
    assert len({new_session_id() for _ in range(100)}) == 100
