"""From rows to events and headers, and back.

Owns the columns' meaning and the judgement of rows that cannot be read. Refuses SQL connections' lifetimes.
Flow: event -> row; cursor -> StoredPrefix. Source: the RFC on torn tails against corruption.
"""

from __future__ import annotations

import json
import sqlite3
from operator import attrgetter
from typing import Any

from dsh_session import InvalidEvent, InvalidHeader, SessionEvent, SessionHeader, SessionId
from dsh_session.bulk import from_columns, from_rows
from dsh_session.collector import gc_paused
from dsh_session_persistence import CorruptSession, StoredPrefix
from dsh_session_persistence.recovery import Unreadable, judge_unreadable

__all__ = [
    "DELETE_EVENTS",
    "INSERT_EVENT",
    "INSERT_HEADER",
    "SELECT_EVENTS",
    "SELECT_HEADER",
    "SELECT_LISTED",
    "SELECT_ORPHAN",
    "SELECT_TAIL",
    "event_from_row",
    "header_from_row",
    "header_row",
    "read_prefix",
]

_HEADER_COLUMNS = "id, version, created_at, cwd, parent_session, seed_length"
_EVENT_COLUMNS = "seq, type, time, data, source_event_seqs, surface_op"

# Texts that UTF-8 cannot carry (a path with lone surrogates) arrive as bytes, hence the casts.
INSERT_HEADER = f"INSERT INTO sessions ({_HEADER_COLUMNS}) VALUES (?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), ?)"  # noqa: S608 - constants
INSERT_EVENT = f"INSERT INTO events (session_id, {_EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - constants
"""Its parameters are those of `dsh_session.event.column_rows`."""
SELECT_HEADER = f"SELECT {_HEADER_COLUMNS} FROM sessions WHERE id = ?"  # noqa: S608 - constants
SELECT_EVENTS = f"SELECT {_EVENT_COLUMNS} FROM events WHERE session_id = ? AND seq >= ? ORDER BY seq"  # noqa: S608 - constants
SELECT_TAIL = (
    "SELECT (SELECT max(seq) FROM events WHERE session_id = ?1), EXISTS (SELECT 1 FROM sessions WHERE id = ?1)"
)
SELECT_ORPHAN = "SELECT 1 FROM events WHERE session_id = ? LIMIT 1"
DELETE_EVENTS = "DELETE FROM events WHERE session_id = ? AND seq >= ?"
SELECT_LISTED = (
    f"SELECT {_HEADER_COLUMNS}, {_EVENT_COLUMNS} FROM sessions JOIN events ON session_id = id AND seq = 0"  # noqa: S608 - constants
    " ORDER BY created_at, id"
)

_ROWS_A_STEP = 1000
_seq = attrgetter("seq")


def header_row(header: SessionHeader) -> tuple[Any, ...]:
    """Return a header as the parameters of `INSERT_HEADER`."""
    return (
        header.id,
        header.version,
        header.created_at,
        _loose(header.cwd),
        _loose(header.parent_session),
        header.seed_length,
    )


def header_from_row(row: tuple[Any, ...]) -> SessionHeader:
    """Return a header from its row, texts being bytes.

    Raises:
        InvalidHeader: A column has a value that the format refuses.
        UnsupportedVersion: It is of another format version.
    """
    return SessionHeader(
        id=SessionId(_decode(row[0], "id", "strict")),
        version=row[1],
        created_at=row[2],
        cwd=None if row[3] is None else _decode(row[3], "cwd", "surrogatepass"),
        parent_session=None if row[4] is None else _decode(row[4], "parentSession", "surrogatepass"),
        seed_length=row[5],
    )


def _decode(text: bytes, key: str, errors: str) -> str:
    try:
        return text.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise InvalidHeader("not UTF-8", key=key) from error


def event_from_row(row: tuple[Any, ...]) -> SessionEvent:
    """Return an event from its row, texts being bytes.

    Raises:
        InvalidEvent: A column has a value that the format refuses.
    """
    seq, kind, time, data, sources, operation = row
    try:
        name = kind.decode()
    except UnicodeDecodeError as error:
        raise InvalidEvent("not UTF-8", path="type") from error
    return from_columns(type=name, seq=seq, time=time, data=data, source_event_seqs=sources, surface_op=operation)


def read_prefix(connection: sqlite3.Connection, session_id: SessionId) -> StoredPrefix | None:
    """Read what is stored under an id, in one snapshot; the torn marker is the seq to delete from.

    Raises:
        CorruptSession: It cannot be read without losing work.
        UnsupportedVersion: The header is of another format version.
        sqlite3.Error: SQLite failed.
    """
    connection.execute("BEGIN")
    try:
        row = connection.execute(SELECT_HEADER, (session_id,)).fetchone()
        if row is None:
            if connection.execute(SELECT_ORPHAN, (session_id,)).fetchone():
                raise CorruptSession(session_id, "there are events, and no header under this id")
            return None
        try:
            header = header_from_row(row)
        except InvalidHeader as error:
            raise CorruptSession(session_id, f"the header cannot be read: {error}") from error
        with gc_paused():
            events, torn_at = _read_events(connection, session_id)
        return StoredPrefix(header=header, events=events, torn_marker=torn_at)
    finally:
        if connection.in_transaction:  # an error may have ended it, and is the one to tell
            connection.execute("ROLLBACK")


def _read_events(connection: sqlite3.Connection, session_id: SessionId) -> tuple[list[SessionEvent], int | None]:
    cursor = connection.execute(SELECT_EVENTS, (session_id, -1))
    events: list[SessionEvent] = []
    while rows := cursor.fetchmany(_ROWS_A_STEP):
        at_once = from_rows(rows)
        start = len(events)
        if at_once is not None and list(map(_seq, at_once)) == list(range(start, start + len(rows))):
            events += at_once
            continue
        for index, row in enumerate(rows):
            try:
                event = event_from_row(row)
            except InvalidEvent as error:
                after = len(rows) - index - 1 + sum(1 for _ in cursor)
                _judge(session_id, row, error, readable_before=len(events), after=after)
                return events, row[0]
            if event.seq != len(events):
                reason = f"found seq {event.seq} where {len(events)} was due"
                raise CorruptSession(session_id, reason, seq=len(events), row=event.seq)
            events.append(event)
    return events, None


def _judge(
    session_id: SessionId, row: tuple[Any, ...], error: InvalidEvent, *, readable_before: int, after: int
) -> None:
    """Return if an unreadable row is a torn tail; raise if it is not."""
    if row[0] != readable_before or (not after and _is_whole(row)):
        raise CorruptSession(session_id, str(error), seq=readable_before, row=row[0]) from error
    judge_unreadable(
        session_id,
        Unreadable(reason=str(error), row=row[0]),
        readable_before=readable_before,
        records_after=after,
    )


def _is_whole(row: tuple[Any, ...]) -> bool:
    """Return whether every column is well formed, so that the row was written as it is."""
    try:
        parsed = [json.loads(text) for text in row[3:] if text is not None]
        row[1].decode()
    except (ValueError, RecursionError):
        return False
    return isinstance(parsed[0], dict)


def _loose(text: str | None) -> str | bytes | None:
    """Return a text as SQLite can bind it: as bytes if it holds lone surrogates."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass")
