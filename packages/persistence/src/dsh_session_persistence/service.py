"""The service that makes sessions durable, as callers see it.

Owns the abstract surface. Refuses storage and policy. Flow: caller -> `SessionPersistence` -> coordinator ->
backend.
"""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from dsh_session import SessionEvent, SessionHeader, SessionId, SessionStore
from dsh_session_persistence.stored import StoredSession

__all__ = ["SessionPersistence"]


class SessionPersistence(ABC):
    """Stores sessions as the events that they are. Construction opens nothing and needs no running loop.

    Operations on one session id run one after another, in the order of the calls; different sessions do not wait
    for each other. What is passed in is taken as it is at the call.
    """

    @abstractmethod
    async def create(self, header: SessionHeader) -> None:
        """Announce a session; nothing is stored before its first event.

        Raises:
            SessionExists: The id was created in this instance or is stored.
            InvalidSessionId: The medium cannot hold this id.
        """

    @abstractmethod
    async def append(self, session_id: SessionId, events: Iterable[SessionEvent]) -> None:
        """Store events durably, all or none; returning is the acknowledgement. No events, no operation.

        A stored session that this instance has not seen is taken over first, with the repair that `load` does.

        Raises:
            SessionNotFound: The id was neither created here nor stored.
            InvalidSessionId: The id is none.
            SequenceMismatch: The events do not follow what is stored.
            ConcurrentWriter: Another process or instance owns the session.
            SessionIdCollision: A live session owns the id; its events are stored by its own flush.
            CorruptSession: What is stored cannot be taken over.
            StorageFailure: The medium failed; nothing of the batch is stored.
        """

    @abstractmethod
    async def load(self, session_id: SessionId) -> StoredSession:
        """Take a stored session over: cut a torn tail, close an interrupted turn, return the balanced log.

        For a session that is live in an attached store nothing is repaired: its log is the authority.

        Raises:
            SessionNotFound: Nothing is stored under the id.
            InvalidSessionId: The id is none.
            ConcurrentWriter: Another process or instance owns the session; nothing was written.
            CorruptSession: What is stored cannot be read without losing work; nothing was written.
            UnsupportedVersion: It is of another format version.
            StorageFailure: The medium failed.
        """

    @abstractmethod
    async def read(self, session_id: SessionId) -> StoredSession:
        """Read what is stored, unrepaired: takes no lock and writes nothing.

        Raises:
            SessionNotFound: Nothing is stored under the id.
            InvalidSessionId: The id is none.
            CorruptSession: What is stored cannot be read.
            UnsupportedVersion: It is of another format version.
            StorageFailure: The medium failed.
        """

    @abstractmethod
    async def list(self) -> builtins.list[SessionHeader]:
        """Return the headers of all stored sessions that have events, sorted by `created_at`, then id."""

    @abstractmethod
    def attach(self, store: SessionStore) -> None:
        """Make every session of a store durable from now on, those that exist already included."""

    @abstractmethod
    async def aclose(self) -> None:
        """Store what is buffered, give up every session and close the medium.

        Afterwards every method raises `PersistenceUnavailable`; closing again does nothing. A store that was
        attached is on its own from then on: its `flush` makes nothing durable until another one is attached.

        Raises:
            ExceptionGroup: Everything that could not be stored or closed.
        """

    async def __aenter__(self) -> Self:
        """Return the service itself; nothing is opened."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the service."""
        await self.aclose()
