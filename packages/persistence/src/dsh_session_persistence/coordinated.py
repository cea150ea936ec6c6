"""A complete persistence from a backend.

Owns the delegation of the service's methods to a coordinator, once for all backends. Refuses policy and storage.
Flow: caller -> CoordinatedPersistence -> PersistenceCoordinator -> backend.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from dsh_session import SessionEvent, SessionHeader, SessionId, SessionStore
from dsh_session_persistence.backend import PersistenceBackend
from dsh_session_persistence.coordinator import PersistenceCoordinator
from dsh_session_persistence.service import SessionPersistence
from dsh_session_persistence.stored import StoredSession

__all__ = ["CoordinatedPersistence"]


class CoordinatedPersistence(SessionPersistence):
    """A `SessionPersistence` that composes a backend and a coordinator; what a backend's package subclasses.

    Args:
        backend: The storage primitives.
        write_batch_max_delay_ms: See `PersistenceCoordinator`.
        max_pending_bytes: See `PersistenceCoordinator`.
        max_open_sessions: See `PersistenceCoordinator`.
    """

    def __init__(
        self,
        backend: PersistenceBackend,
        *,
        write_batch_max_delay_ms: float = 200,
        max_pending_bytes: int = 8 * 1024 * 1024,
        max_open_sessions: int = 256,
    ) -> None:
        self._coordinator = PersistenceCoordinator(
            backend,
            write_batch_max_delay_ms=write_batch_max_delay_ms,
            max_pending_bytes=max_pending_bytes,
            max_open_sessions=max_open_sessions,
        )

    async def create(self, header: SessionHeader) -> None:
        """See `SessionPersistence.create`."""
        await self._coordinator.create(header)

    async def append(self, session_id: SessionId, events: Iterable[SessionEvent]) -> None:
        """See `SessionPersistence.append`."""
        await self._coordinator.append(session_id, events)

    async def load(self, session_id: SessionId) -> StoredSession:
        """See `SessionPersistence.load`."""
        return await self._coordinator.load(session_id)

    async def read(self, session_id: SessionId) -> StoredSession:
        """See `SessionPersistence.read`."""
        return await self._coordinator.read(session_id)

    async def list(self) -> builtins.list[SessionHeader]:
        """See `SessionPersistence.list`."""
        return await self._coordinator.list()

    def attach(self, store: SessionStore) -> None:
        """See `SessionPersistence.attach`."""
        self._coordinator.attach(store)

    async def aclose(self) -> None:
        """See `SessionPersistence.aclose`."""
        await self._coordinator.aclose()
