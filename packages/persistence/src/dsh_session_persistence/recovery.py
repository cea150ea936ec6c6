"""From what a medium holds to what must be done about it: pure, no I/O.

Owns the two judgements that every backend shares: which unreadable record is a torn tail and which is
corruption, and what a repair consists of. Refuses to read or write. Flow: records -> StoredPrefix -> Repair.
Source: the RFC on torn tails against corruption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dsh_session import SessionEvent, SessionHeader, SessionId
from dsh_session.repair import interrupted_turn_closers
from dsh_session_persistence.errors import CorruptSession
from dsh_session_persistence.stored import StoredPrefix

__all__ = ["Repair", "Unreadable", "check_header", "check_sequence", "judge_unreadable", "plan_repair"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Unreadable:
    """A record that could not be read.

    Attributes:
        reason: Why, in words.
        offset_bytes: Where in the file, for a medium made of bytes.
        row: Which row (its stored seq), for a medium made of rows.
    """

    reason: str
    offset_bytes: int | None = None
    row: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Repair:
    """What makes a stored session whole: where to cut (None: nowhere), and what to append."""

    torn_marker: Any
    closers: Sequence[SessionEvent]

    def __bool__(self) -> bool:
        """Return whether there is anything to do."""
        return self.torn_marker is not None or bool(self.closers)


def judge_unreadable(
    session_id: SessionId, unreadable: Unreadable, *, readable_before: int, records_after: int
) -> None:
    """Return if an unreadable record is a torn tail, which may be cut; raise if it is not.

    Only the last record can have been torn by a crash: a write that fails leaves whole leading events and then a
    fragment, and nothing is appended before a fragment is cut.

    Args:
        session_id: The stored session.
        unreadable: The first record that could not be read.
        readable_before: How many events were read before it, which is the seq that it should have had.
        records_after: How many records follow it, readable or not.

    Raises:
        CorruptSession: Something follows the record.
    """
    if records_after:
        raise CorruptSession(
            session_id,
            f"{unreadable.reason}; {records_after} more record(s) follow",
            seq=readable_before,
            offset_bytes=unreadable.offset_bytes,
            row=unreadable.row,
        )


def check_sequence(session_id: SessionId, events: Sequence[SessionEvent]) -> None:
    """Raise unless `events[i].seq == i` for all of them.

    Raises:
        CorruptSession: A gap, a repetition or another start than 0.
    """
    for index, event in enumerate(events):
        if event.seq != index:
            raise CorruptSession(session_id, f"found seq {event.seq} where {index} was due", seq=index)


def check_header(session_id: SessionId, header: SessionHeader) -> None:
    """Raise unless a stored header names the id that it was found under.

    Raises:
        CorruptSession: It names another id.
    """
    if header.id != session_id:
        raise CorruptSession(session_id, f"the stored header names session {header.id!r}")


def plan_repair(stored: StoredPrefix) -> Repair:
    """Compute what makes a stored session balanced: the cut of a torn tail, the closers of an open turn."""
    return Repair(torn_marker=stored.torn_marker, closers=interrupted_turn_closers(stored.events))
