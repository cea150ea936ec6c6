"""The reference: sessions in the memory of this process.

Owns the smallest backend that keeps every promise of the seam. Refuses to outlive the process. A `MemoryMedium`
plays the disk: several instances over one medium see each other's sessions and locks.
Flow: coordinator -> MemoryBackend -> MemoryMedium.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Sequence
from typing import Any

from dsh_session import InvalidEvent, InvalidHeader, SessionEvent, SessionHeader, SessionId
from dsh_session.event import decode_line
from dsh_session.header import decode_header
from dsh_session_persistence.coordinated import CoordinatedPersistence
from dsh_session_persistence.errors import (
    ConcurrentWriter,
    CorruptSession,
    SequenceMismatch,
    SessionExists,
)
from dsh_session_persistence.recovery import Unreadable, check_header, check_sequence, judge_unreadable
from dsh_session_persistence.stored import StoredPrefix

__all__ = ["MemoryBackend", "MemoryMedium", "MemoryPersistence"]


class MemoryMedium:
    """What several instances share, as a disk would be.

    Attributes:
        records: For each session its header line and then one line an event, without newlines.
        owners: Which backend instance holds which session.
    """

    def __init__(self) -> None:
        self.records: dict[SessionId, list[bytes]] = {}
        self.owners: dict[SessionId, object] = {}


class MemoryBackend:
    """Storage primitives over a `MemoryMedium`."""

    def __init__(self, medium: MemoryMedium) -> None:
        self._medium = medium

    async def load_stored(self, session_id: SessionId) -> StoredPrefix | None:
        """See `PersistenceBackend.load_stored`; the torn marker is the number of records to keep."""
        records = self._medium.records.get(session_id)
        if records is None:
            return None
        try:
            header = decode_header(records[0])
        except InvalidHeader as error:
            raise CorruptSession(session_id, f"the header cannot be read: {error}") from error
        check_header(session_id, header)
        events: list[SessionEvent] = []
        torn_marker: int | None = None
        for index, record in enumerate(records[1:]):
            try:
                events.append(decode_line(record))
            except InvalidEvent as error:
                if record is records[-1] and _is_whole(record):  # by a build that knows more: no torn tail
                    raise CorruptSession(session_id, str(error), seq=index, row=index) from error
                judge_unreadable(
                    session_id,
                    Unreadable(reason=str(error), row=index),
                    readable_before=len(events),
                    records_after=len(records) - index - 2,
                )
                torn_marker = index + 1
        check_sequence(session_id, events)
        return StoredPrefix(header=header, events=tuple(events), torn_marker=torn_marker)

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        """See `PersistenceBackend.append_batch`."""
        records = self._medium.records.get(header.id)
        if not materialized:
            if records is not None:
                raise SessionExists(header.id)
            self._check_owner(header.id)
            records = [header.line]
        if records is None:
            raise ConcurrentWriter(header.id, "what was stored is gone")
        expected = len(records) - 1
        if events[0].seq != expected:
            raise SequenceMismatch(expected, events[0].seq)
        self._medium.records[header.id] = [*records, *(event.line for event in events)]
        self._medium.owners[header.id] = self

    async def commit_repair(self, header: SessionHeader, torn_marker: Any, closers: Sequence[SessionEvent]) -> None:
        """See `PersistenceBackend.commit_repair`."""
        records = self._medium.records[header.id]
        kept = records if torn_marker is None else records[:torn_marker]
        if closers and closers[0].seq != len(kept) - 1:
            raise SequenceMismatch(len(kept) - 1, closers[0].seq)
        self._medium.records[header.id] = [*kept, *(event.line for event in closers)]

    async def list(self) -> builtins.list[SessionHeader]:
        """See `PersistenceBackend.list`."""
        headers: list[SessionHeader] = []
        for session_id in list(self._medium.records):
            records = self._medium.records[session_id]
            try:
                header = decode_header(records[0])
            except Exception:  # noqa: BLE001, S112 - one damaged session does not hide the others
                continue
            if len(records) > 1:
                headers.append(header)
        return sorted(headers, key=lambda header: (header.created_at, header.id))

    async def acquire(self, session_id: SessionId) -> None:
        """See `PersistenceBackend.acquire`."""
        if session_id in self._medium.records:
            self._check_owner(session_id)
            self._medium.owners[session_id] = self

    async def release(self, session_id: SessionId) -> None:
        """See `PersistenceBackend.release`."""
        if self._medium.owners.get(session_id) is self:
            del self._medium.owners[session_id]

    async def close(self) -> None:
        """See `PersistenceBackend.close`."""
        for session_id in [key for key, owner in self._medium.owners.items() if owner is self]:
            del self._medium.owners[session_id]

    def _check_owner(self, session_id: SessionId) -> None:
        if self._medium.owners.get(session_id, self) is not self:
            raise ConcurrentWriter(session_id, "another instance in this process")


def _is_whole(record: bytes) -> bool:
    """Return whether a record is a JSON object, which no fragment of one can be."""
    try:
        return isinstance(json.loads(record), dict)
    except (ValueError, RecursionError):
        return False


class MemoryPersistence(CoordinatedPersistence):
    """Sessions in memory: the reference that the contract is written against, and a stand-in for tests.

    Args:
        medium: What is shared with other instances; a new one if None.
        options: Those of `PersistenceCoordinator`.
    """

    def __init__(self, medium: MemoryMedium | None = None, **options: Any) -> None:
        super().__init__(MemoryBackend(medium or MemoryMedium()), **options)

    @classmethod
    def from_url(cls, rest: str) -> MemoryPersistence:
        """Open `memory:`; nothing may follow the colon.

        Raises:
            ValueError: Something does.
        """
        if rest:
            message = f"memory: takes no path, got {rest!r}"
            raise ValueError(message)
        return cls()
