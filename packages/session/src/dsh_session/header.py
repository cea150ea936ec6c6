"""The header: what is known about a stored session beside its events.

Owns the fields, their wire form and the format version. It is metadata about storage and never an event.
Flow out: `SessionHeader.line`. Flow in: line -> `decode_header` (the version first, then the keys) -> header.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from dsh_session.errors import InvalidHeader, InvalidSessionId, UnsupportedVersion
from dsh_session.ids import SessionId, parse_session_id
from dsh_session.json_value import decode_json, encode_json, text_problem

SESSION_FORMAT_VERSION = 0
"""The one format version that this build reads and writes."""

MAX_INTEGER = 2**63 - 1
"""The largest number in an envelope or a header: what every medium can hold."""

_OPTIONAL = {"cwd": "cwd", "parentSession": "parent_session", "seedLength": "seed_length"}
_KEYS = {"type", "version", "id", "createdAt", *_OPTIONAL}


class SessionHeader(msgspec.Struct, frozen=True, kw_only=True):
    """Metadata of a session, fixed when it is created.

    Args:
        id: The session's id.
        created_at: When it was created, in milliseconds since the Unix epoch.
        version: The format version of the log.
        cwd: The working folder it belongs to, carried as it is.
        parent_session: The id of the session it was forked from.
        seed_length: How many events it took over from there.

    Raises:
        InvalidHeader: A field has the wrong type or range.
        InvalidSessionId: The id is not one.
        UnsupportedVersion: The version is not the one of this build.

    Example:
        >>> SessionHeader(id="a", created_at=0).line
        b'{"type":"session","version":0,"id":"a","createdAt":0}'
    """

    id: SessionId
    created_at: int
    version: int = SESSION_FORMAT_VERSION
    cwd: str | None = None
    parent_session: str | None = None
    seed_length: int | None = None

    def __post_init__(self) -> None:
        if type(self.version) is not int or self.version != SESSION_FORMAT_VERSION:
            raise UnsupportedVersion(self.version, SESSION_FORMAT_VERSION)
        parse_session_id(self.id)
        _check_count("createdAt", self.created_at)
        if self.seed_length is not None:
            _check_count("seedLength", self.seed_length)
        for key, value in (("cwd", self.cwd), ("parentSession", self.parent_session)):
            if value is not None and not isinstance(value, str):
                raise InvalidHeader("not a text", key=key)
            if value is not None and (problem := text_problem(value)):
                raise InvalidHeader(problem, key=key)

    @property
    def line(self) -> bytes:
        """The header's wire bytes, without a newline; absent fields are left out."""
        wire: dict[str, Any] = {
            "type": "session",
            "version": self.version,
            "id": self.id,
            "createdAt": self.created_at,
        }
        for key, name in _OPTIONAL.items():
            value = getattr(self, name)
            if value is not None:
                wire[key] = value
        return encode_json(wire, "session")


def _check_count(key: str, value: object) -> None:
    if type(value) is not int or not 0 <= value <= MAX_INTEGER:
        raise InvalidHeader("not a whole number from 0 to 2^63-1", key=key)


if TYPE_CHECKING:
    _Text = str | None
    _Number = int | None
else:
    _Text = str  # there are no nulls on the wire
    _Number = Annotated[int, msgspec.Meta(ge=0, le=MAX_INTEGER)]


class _Wire(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="type",
    tag="session",
    rename={name: key for key, name in _OPTIONAL.items()} | {"created_at": "createdAt"},
):
    """A header as almost every line has it; whatever does not fit is read key by key, to be named.

    Its fields are those of `SessionHeader`, whose class it is given once the decoder has filled it.
    """

    id: Annotated[str, msgspec.Meta(min_length=1)]
    created_at: Annotated[int, msgspec.Meta(ge=0, le=MAX_INTEGER)]
    version: Literal[0]
    cwd: _Text = None
    parent_session: _Text = None
    seed_length: _Number = None


_decode_wire = msgspec.json.Decoder(_Wire).decode
_set_class: Callable[[_Wire, type], None] = object.__dict__["__class__"].__set__


def decode_header(line: bytes) -> SessionHeader:
    """Read a header line.

    Args:
        line: UTF-8 JSON; surrounding white space is allowed.

    Raises:
        UnsupportedVersion: Another version, or none. This is judged before anything else in the header.
        InvalidHeader: Not a header, an unknown key, or a field of the wrong type.
    """
    try:
        header = _decode_wire(line)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return _decode_by_key(line)
    _set_class(header, SessionHeader)
    return header  # type: ignore[return-value] # its class has just become this one


def _decode_by_key(line: bytes) -> SessionHeader:
    try:
        wire = decode_json(bytes(line))
    except ValueError as error:
        raise InvalidHeader(f"not JSON: {error}") from error
    if not isinstance(wire, dict) or wire.get("type") != "session":
        raise InvalidHeader('not an object of type "session"')
    version = wire.get("version")
    if type(version) is not int or version != SESSION_FORMAT_VERSION:
        raise UnsupportedVersion(version, SESSION_FORMAT_VERSION)
    for key in wire:
        if key not in _KEYS:
            raise InvalidHeader("unknown key", key=key)
    for key in ("id", "createdAt"):
        if key not in wire:
            raise InvalidHeader("missing", key=key)
    for key in _OPTIONAL:
        if key in wire and wire[key] is None:
            raise InvalidHeader("null; an absent field is left out", key=key)
    try:
        return SessionHeader(
            id=wire["id"],
            created_at=wire["createdAt"],
            cwd=wire.get("cwd"),
            parent_session=wire.get("parentSession"),
            seed_length=wire.get("seedLength"),
        )
    except InvalidSessionId as error:
        raise InvalidHeader(error.reason, key="id") from error
