"""The storage primitives that a backend supplies.

Owns the protocol between `PersistenceCoordinator` and a medium. Refuses policy: which session is whose, what is
buffered, what is repaired and when is the coordinator's. Flow: coordinator -> these methods -> medium.

All methods are coroutines, or return what can be awaited, and must not block the event loop
(`dsh_session_persistence.threads.Workers` runs blocking code for those that would). For one session id the
coordinator never runs two of `append_batch`, `commit_repair`, `acquire` and `release` at once; `load_stored` and
`list` may run at any time, beside a writer. Constructors open nothing.
"""

from __future__ import annotations

import builtins
from collections.abc import Awaitable, Sequence
from typing import Any, Protocol, runtime_checkable

from dsh_session import SessionEvent, SessionHeader, SessionId
from dsh_session_persistence.stored import StoredPrefix

__all__ = ["PersistenceBackend"]


@runtime_checkable
class PersistenceBackend(Protocol):
    """A medium that holds session logs."""

    async def load_stored(self, session_id: SessionId) -> StoredPrefix | None:
        """Read what is stored under an id; takes no lock and writes nothing.

        A record that was never fully written (at the very end, after the last `turn/end`) is left out and
        reported through `torn_marker`. A header without events is an empty session, not an absent one.

        Returns:
            The stored prefix, or None when nothing is stored.

        Raises:
            CorruptSession: Something is unreadable or out of sequence that is no torn tail; or the stored header
                names another id.
            UnsupportedVersion: The stored format version is not this build's.
            InvalidSessionId: The medium cannot hold this id.
            StorageFailure: The medium failed.
        """
        ...

    def append_batch(
        self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool
    ) -> Awaitable[None]:
        """Store events durably, all or none, and return only when they would survive a crash.

        A coroutine, or the `Job` that `Workers.write` gives: the job is on its way before anybody waits for it,
        and a flush needs no task of its own to keep it from being cancelled.

        Inside the same durable write the stored tail is compared: `events[0].seq` must follow it.

        Args:
            header: The session's header; it is written when `materialized` is False.
            events: At least one event; their seqs are contiguous.
            materialized: Whether the header is stored already. If False, the session is created, with ownership
                of it, in the same step.

        Raises:
            SessionExists: `materialized` is False and something is stored under the id.
            SequenceMismatch: The stored tail is not the one that `events[0]` follows.
            ConcurrentWriter: The medium was changed or replaced by somebody else.
            StorageFailure: The medium failed; nothing of the batch is stored.
        """
        ...

    async def commit_repair(self, header: SessionHeader, torn_marker: Any, closers: Sequence[SessionEvent]) -> None:
        """Cut a torn tail (if `torn_marker` is not None) and append the closers, durably, in this order.

        Raises:
            SequenceMismatch: The first closer does not follow the stored tail.
            ConcurrentWriter: The medium was changed or replaced by somebody else.
            StorageFailure: The medium failed. A repair that was half done is finished by the next load.
        """
        ...

    async def list(self) -> builtins.list[SessionHeader]:
        """Read the headers of all stored sessions that have at least one event, sorted by `created_at`, then id.

        What cannot be read is left out: one damaged session does not hide the others.
        """
        ...

    async def acquire(self, session_id: SessionId) -> None:
        """Take the ownership of a stored session, by a lock that the kernel holds and a dying process gives up.

        Nothing stored under the id is no error: ownership is then taken by the `append_batch` that creates it.
        Acquiring what this instance owns already does nothing.

        Raises:
            ConcurrentWriter: Another process or another instance owns it.
            InvalidSessionId: The medium cannot hold this id.
            StorageFailure: The lock could not be tried.
        """
        ...

    async def release(self, session_id: SessionId) -> None:
        """Give up the ownership and every descriptor of a session; releasing what is not owned does nothing.

        The backend may be asked to acquire the session again: what it knew of the stored tail (inode, size,
        last record) is compared with what it finds at the next write.
        """
        ...

    async def close(self) -> None:
        """Release everything; the instance is not used afterwards."""
        ...
