"""Delays, failures and counts between a coordinator and its backend.

Owns the interception of one backend's methods, on the instance itself, so that the backend under test keeps its
identity. Refuses to touch the medium: a failed write here never reached it. Flow: coordinator -> `Faults` ->
backend.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Any, Self

from dsh_session import SessionEvent, SessionHeader, SessionId
from dsh_session_persistence.backend import PersistenceBackend
from dsh_session_persistence.coordinated import CoordinatedPersistence
from dsh_session_persistence.errors import StorageFailure
from dsh_session_persistence.service import SessionPersistence
from dsh_session_persistence.stored import StoredPrefix

__all__ = ["GATES", "Faults", "Gate", "abandon", "backend_of"]


def backend_of(instance: SessionPersistence) -> PersistenceBackend:
    """Return the backend that a `CoordinatedPersistence` composes.

    Raises:
        TypeError: The instance composes no coordinator.
    """
    if not isinstance(instance, CoordinatedPersistence):
        raise TypeError(f"{type(instance).__name__} is no CoordinatedPersistence; override Storage.faults")
    return instance._coordinator._backend


def abandon(instance: SessionPersistence) -> None:
    """Stop a `CoordinatedPersistence` where it stands: no drain, no close, its stores no longer heard.

    The first half of a `Storage.crash`; giving up the locks and descriptors of the backend is the second.

    Raises:
        TypeError: The instance composes no coordinator.
    """
    if not isinstance(instance, CoordinatedPersistence):
        raise TypeError(f"{type(instance).__name__} is no CoordinatedPersistence; override Storage.crash in full")
    coordinator = instance._coordinator
    for unsubscribe in coordinator._stores.values():
        unsubscribe()
    for live in coordinator._live.values():
        live.stop()
    coordinator._stores.clear()
    coordinator._live.clear()
    for task in coordinator._tasks:
        task.cancel()


GATES: ContextVar[builtins.list[Gate]] = ContextVar("gates")
"""The gates of the running clause, so that a clause that fails before it opens them can still end."""


class Gate:
    """Holds what arrives until it is opened; `reached` tells that something has arrived."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self._opened = asyncio.Event()
        GATES.get([]).append(self)

    async def pass_through(self) -> None:
        """Arrive, and wait until the gate is open."""
        self.reached.set()
        await self._opened.wait()

    def open(self) -> None:
        """Let everything through from now on."""
        self._opened.set()


class Faults:
    """Stands between the coordinator of one instance and its backend.

    Attributes:
        attempts: Every batch that was handed to the backend: session id and seqs, in order.
        written: Those of them that the backend acknowledged.
        running: How many writes of each session are under way.
        overlapped: Ids whose writes ran at the same time, which must never happen.
        closed: Whether the backend was closed.
    """

    def __init__(self, backend: PersistenceBackend) -> None:
        self.attempts: builtins.list[tuple[SessionId, tuple[int, ...]]] = []
        self.written: builtins.list[tuple[SessionId, tuple[int, ...]]] = []
        self.running: dict[SessionId, int] = {}
        self.overlapped: set[SessionId] = set()
        self.closed = False
        self._write_failures: builtins.list[SessionId | None] = []
        self._repair_failures = 0
        self._close_failure: BaseException | None = None
        self._write_gates: dict[SessionId, Gate] = {}
        self._load_gates: dict[SessionId, Gate] = {}
        self._append_batch = backend.append_batch
        self._commit_repair = backend.commit_repair
        self._load_stored = backend.load_stored
        self._close = backend.close

    @classmethod
    def of(cls, instance: SessionPersistence) -> Self:
        """Intercept the backend of a `CoordinatedPersistence`.

        Raises:
            TypeError: The instance composes no coordinator.
        """
        backend = backend_of(instance)
        faults = cls(backend)
        target: Any = backend
        target.append_batch = faults.append_batch
        target.commit_repair = faults.commit_repair
        target.load_stored = faults.load_stored
        target.close = faults.close
        return faults

    def fail_writes(self, times: int = 1, *, session_id: SessionId | None = None) -> None:
        """Let the next writes (of one session, or of any) fail before they reach the medium."""
        self._write_failures.extend([session_id] * times)

    def heal(self) -> None:
        """Forget the failures that were asked for and have not happened yet."""
        self._write_failures.clear()
        self._repair_failures = 0

    def fail_repairs(self, times: int = 1) -> None:
        """Let the next repairs fail with `StorageFailure` before they reach the medium."""
        self._repair_failures = times

    def fail_close(self, error: BaseException) -> None:
        """Let the closing of the backend raise, after it has closed."""
        self._close_failure = error

    def hold_writes(self, session_id: SessionId) -> Gate:
        """Hold every write of one session at a gate."""
        return self._write_gates.setdefault(session_id, Gate())

    def hold_loads(self, session_id: SessionId) -> Gate:
        """Hold every reading of one session at a gate."""
        return self._load_gates.setdefault(session_id, Gate())

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        """Stand in for the backend's method."""
        seqs = tuple(event.seq for event in events)
        self.attempts.append((header.id, seqs))

        async def write() -> None:
            if self._due(header.id):
                raise StorageFailure("writing", OSError("no space left (injected)"))
            await self._append_batch(header, events, materialized)

        await self._alone(header.id, write)
        self.written.append((header.id, seqs))

    async def commit_repair(self, header: SessionHeader, torn_marker: Any, closers: Sequence[SessionEvent]) -> None:
        """Stand in for the backend's method."""

        async def repair() -> None:
            if self._repair_failures:
                self._repair_failures -= 1
                raise StorageFailure("repairing", OSError("no space left (injected)"))
            await self._commit_repair(header, torn_marker, closers)

        await self._alone(header.id, repair)

    async def load_stored(self, session_id: SessionId) -> StoredPrefix | None:
        """Stand in for the backend's method."""
        if gate := self._load_gates.get(session_id):
            await gate.pass_through()
        return await self._load_stored(session_id)

    async def close(self) -> None:
        """Stand in for the backend's method."""
        await self._close()
        self.closed = True
        if self._close_failure is not None:
            raise self._close_failure

    def _due(self, session_id: SessionId) -> bool:
        """Return whether this write is one of those that shall fail, and strike it off."""
        for index, wanted in enumerate(self._write_failures):
            if wanted in {None, session_id}:
                del self._write_failures[index]
                return True
        return False

    async def _alone(self, session_id: SessionId, call: Callable[[], Awaitable[None]]) -> None:
        """Run a write, and note when another write of the same session is under way."""
        self.running[session_id] = self.running.get(session_id, 0) + 1
        if self.running[session_id] > 1:
            self.overlapped.add(session_id)
        try:
            if gate := self._write_gates.get(session_id):
                await gate.pass_through()
            await call()
        finally:
            self.running[session_id] -= 1
