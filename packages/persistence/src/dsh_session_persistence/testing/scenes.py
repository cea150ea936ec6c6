"""What clauses do before and after what they are about.

Owns the steps that many clauses share: store a log, look at the medium with fresh eyes. Refuses to assert.
Flow: clause -> scene -> `Storage`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from dsh_session import Session, SessionEvent, SessionHeader, SessionId, SessionStore
from dsh_session_persistence.errors import SessionNotFound
from dsh_session_persistence.stored import StoredSession
from dsh_session_persistence.testing.samples import header
from dsh_session_persistence.testing.storage import Storage

__all__ = ["errors_of", "is_stored", "listed", "load_fresh", "played", "read_fresh", "store_log", "until"]


async def store_log(
    storage: Storage, events: Sequence[SessionEvent], head: SessionHeader | None = None
) -> SessionId:
    """Store a log through an instance that is closed afterwards; return its id."""
    head = header() if head is None else head
    async with storage.open() as persistence:
        await persistence.create(head)
        await persistence.append(head.id, events)
    return head.id


async def read_fresh(storage: Storage, session_id: SessionId) -> StoredSession:
    """Read what is stored, through a fresh instance."""
    async with storage.open() as persistence:
        return await persistence.read(session_id)


async def load_fresh(storage: Storage, session_id: SessionId) -> StoredSession:
    """Load a session through a fresh instance."""
    async with storage.open() as persistence:
        return await persistence.load(session_id)


async def listed(storage: Storage) -> list[SessionHeader]:
    """List what is stored, through a fresh instance."""
    async with storage.open() as persistence:
        return await persistence.list()


async def is_stored(storage: Storage, session_id: SessionId) -> bool:
    """Return whether a fresh instance finds anything under an id, by reading and by listing."""
    try:
        await read_fresh(storage, session_id)
    except SessionNotFound:
        return session_id in [head.id for head in await listed(storage)]
    return True


def played(session: Session, events: Sequence[SessionEvent]) -> list[SessionEvent]:
    """Append the types and data of events to a live session; return its whole log."""
    for event in events:
        session.append(event.type, event.data)
    return list(session.events)


async def errors_of(store: SessionStore, session: Session) -> list[Exception]:
    """Flush a live session and return what that raised, flattened."""
    try:
        await store.flush(session)
    except ExceptionGroup as group:
        return flat(group)
    return []


def flat(group: ExceptionGroup[Any]) -> list[Exception]:
    """Return the leaves of an exception group."""
    leaves: list[Exception] = []
    for error in group.exceptions:
        leaves += flat(error) if isinstance(error, ExceptionGroup) else [error]
    return leaves


async def until(condition: Callable[[], bool], *, limit_s: float = 10.0) -> bool:
    """Wait until a condition holds; return whether it did within the limit."""
    deadline = asyncio.get_running_loop().time() + limit_s
    while not condition():
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.005)
    return True
