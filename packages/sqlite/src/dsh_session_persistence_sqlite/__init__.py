"""dsh sessions in SQLite: one row an event."""

from dsh_session_persistence_sqlite.backend import SqliteBackend
from dsh_session_persistence_sqlite.persistence import SqlitePersistence
from dsh_session_persistence_sqlite.schema import SCHEMA_VERSION, JournalMode, UnsupportedSchema

__version__ = "0.1.0"

__all__ = [
    "SCHEMA_VERSION",
    "JournalMode",
    "SqliteBackend",
    "SqlitePersistence",
    "UnsupportedSchema",
    "__version__",
]
