"""dsh sessions as JSON Lines files: one append-only file a session."""

from dsh_session_persistence_jsonl.backend import JsonlBackend
from dsh_session_persistence_jsonl.persistence import JsonlPersistence

__version__ = "0.1.0"

__all__ = ["JsonlBackend", "JsonlPersistence", "__version__"]
