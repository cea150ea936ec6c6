"""Which mutant must fail which clause.

Owns the table, and how a broken part becomes a storage. Refuses to run anything.
Flow: broken class -> `breaks` -> `MUTANTS` -> a test that expects the clause to fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dsh_session_persistence.coordinated import CoordinatedPersistence
from dsh_session_persistence.coordinator import PersistenceCoordinator
from dsh_session_persistence.memory import MemoryBackend
from dsh_session_persistence.service import SessionPersistence
from dsh_session_persistence.testing.memory_storage import MemoryStorage
from dsh_session_persistence.testing.storage import Storage

__all__ = ["MUTANTS", "MutantStorage", "breaks", "enlist"]

MUTANTS: dict[str, Callable[[], Storage]] = {}

Part = TypeVar("Part", bound=type)


class MutantStorage(MemoryStorage):
    """The reference with one or more of its parts replaced by broken ones."""

    def __init__(
        self,
        *,
        backend: type[MemoryBackend] = MemoryBackend,
        coordinator: type[PersistenceCoordinator] = PersistenceCoordinator,
        service: type[CoordinatedPersistence] = CoordinatedPersistence,
    ) -> None:
        super().__init__()
        self.backend = backend
        self.coordinator = coordinator
        self.service = service

    def open(self, **options: Any) -> SessionPersistence:
        backend = self.backend(self.medium)
        instance = self.service(backend, **options)
        instance._coordinator = self.coordinator(backend, **options)
        return instance


def enlist(make: Callable[[], Storage], *clauses: str) -> None:
    """Enter a mutant for clauses.

    Raises:
        ValueError: A clause has a mutant already.
    """
    for clause in clauses:
        if clause in MUTANTS:
            raise ValueError(f"{clause} has a mutant already")
        MUTANTS[clause] = make


def breaks(*clauses: str, **parts: Any) -> Callable[[Part], Part]:
    """Enter a broken backend, coordinator, service or storage class as the mutant of clauses.

    Args:
        clauses: Names of the clauses that it must fail.
        parts: Further broken parts that it needs beside it.
    """

    def enter(part: Part) -> Part:
        if issubclass(part, Storage):
            make: Callable[[], Storage] = part
        else:
            roles = {
                "backend": MemoryBackend,
                "coordinator": PersistenceCoordinator,
                "service": CoordinatedPersistence,
            }
            role = next(name for name, kind in roles.items() if issubclass(part, kind))
            chosen = {**parts, role: part}

            def make() -> Storage:
                return MutantStorage(**chosen)

        enlist(make, *clauses)
        return part

    return enter
