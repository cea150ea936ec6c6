"""The seam that makes dsh sessions durable: a service, the primitives of a backend, and what lies between."""

from dsh_session.errors import (
    DuplicateSession,
    InvalidEvent,
    InvalidSeed,
    InvalidSessionId,
    NestingViolation,
    NotJsonSerializable,
    UnsupportedVersion,
)
from dsh_session_persistence.backend import PersistenceBackend
from dsh_session_persistence.coordinated import CoordinatedPersistence
from dsh_session_persistence.coordinator import PersistenceCoordinator
from dsh_session_persistence.errors import (
    ConcurrentWriter,
    CorruptSession,
    PersistenceUnavailable,
    SequenceMismatch,
    SessionExists,
    SessionIdCollision,
    SessionNotFound,
    StorageFailure,
)
from dsh_session_persistence.memory import MemoryBackend, MemoryMedium, MemoryPersistence
from dsh_session_persistence.service import SessionPersistence
from dsh_session_persistence.stored import StoredPrefix, StoredSession
from dsh_session_persistence.url import open_persistence

__version__ = "0.1.0"

__all__ = [
    "ConcurrentWriter",
    "CoordinatedPersistence",
    "CorruptSession",
    "DuplicateSession",
    "InvalidEvent",
    "InvalidSeed",
    "InvalidSessionId",
    "MemoryBackend",
    "MemoryMedium",
    "MemoryPersistence",
    "NestingViolation",
    "NotJsonSerializable",
    "PersistenceBackend",
    "PersistenceCoordinator",
    "PersistenceUnavailable",
    "SequenceMismatch",
    "SessionExists",
    "SessionIdCollision",
    "SessionNotFound",
    "SessionPersistence",
    "StorageFailure",
    "StoredPrefix",
    "StoredSession",
    "UnsupportedVersion",
    "__version__",
    "open_persistence",
]
