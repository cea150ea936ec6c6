"""The reference medium as a storage of the contract.

Owns how a `MemoryMedium` is written to behind everybody's back; shows what a storage of another medium looks like.
Flow: clause -> MemoryStorage -> MemoryMedium.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from dsh_session import SessionEvent, SessionHeader, SessionId
from dsh_session_persistence.errors import StorageFailure
from dsh_session_persistence.memory import MemoryMedium, MemoryPersistence
from dsh_session_persistence.service import SessionPersistence
from dsh_session_persistence.testing.faults import abandon, backend_of
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Breaking", "MemoryStorage"]


class MemoryStorage(Storage):
    """A medium in memory, and instances over it."""

    def __init__(self) -> None:
        self.medium = MemoryMedium()

    def open(self, **options: Any) -> SessionPersistence:
        return MemoryPersistence(self.medium, **options)

    def crash(self, instance: SessionPersistence) -> None:
        abandon(instance)
        backend = backend_of(instance)
        for session_id in [key for key, owner in self.medium.owners.items() if owner is backend]:
            del self.medium.owners[session_id]

    def tear(self, session_id: SessionId) -> None:
        self.medium.records[session_id].append(b'{"type":"assistant/chu')

    def damage(self, session_id: SessionId, seq: int) -> None:
        self.medium.records[session_id][seq + 1] = b"\x00 no record"

    def pad_with_nul(self, session_id: SessionId) -> None:
        self.medium.records[session_id].append(b"\x00" * 512)

    def drop(self, session_id: SessionId, seq: int) -> None:
        del self.medium.records[session_id][seq + 1]

    def repeat(self, session_id: SessionId, seq: int) -> None:
        records = self.medium.records[session_id]
        records.insert(seq + 2, records[seq + 1])

    def garble(self, session_id: SessionId, seq: int) -> None:
        records = self.medium.records[session_id]
        head, data, rest = records[seq + 1].partition(b'"data":')
        records[seq + 1] = head + data + rest.replace(b':"', b':"\xff\xfe', 1)

    def set_header(self, session_id: SessionId, **changes: Any) -> None:
        self._rewrite(session_id, 0, changes)

    def add_header_key(self, session_id: SessionId, key: str, value: Any) -> None:
        self._rewrite(session_id, 0, {key: value})

    def add_event_key(self, session_id: SessionId, seq: int, key: str, value: Any) -> None:
        self._rewrite(session_id, seq + 1, {key: value})

    def strip_events(self, session_id: SessionId) -> None:
        del self.medium.records[session_id][1:]

    def image(self, session_id: SessionId) -> object:
        return tuple(self.medium.records[session_id])

    def fail_in_the_middle(self, instance: SessionPersistence) -> None:
        backend: Any = backend_of(instance)
        append_batch = backend.append_batch

        async def fail(header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
            backend.append_batch = append_batch
            try:
                await append_batch(header, Breaking(events), materialized)
            except OSError as error:
                raise StorageFailure("writing", error) from error

        backend.append_batch = fail

    def disable_lock(self, instance: SessionPersistence) -> None:
        backend: Any = backend_of(instance)

        async def acquire(_: SessionId) -> None:
            """Own nothing, and believe to own everything."""

        backend.acquire = acquire

    def _rewrite(self, session_id: SessionId, index: int, changes: dict[str, Any]) -> None:
        records = self.medium.records[session_id]
        record = {**json.loads(records[index]), **changes}
        records[index] = json.dumps(record, separators=(",", ":")).encode()


class Breaking(tuple[SessionEvent, ...]):
    """A batch whose second event never arrives."""

    __slots__ = ()

    def __iter__(self) -> Iterator[SessionEvent]:
        """Give one event, then fail."""
        yield self[0]
        raise OSError("no space left (injected)")
