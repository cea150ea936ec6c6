"""dsh sessions in SQLite: one row an event."""

__version__ = "0.1.0"

__all__ = ["__version__"]
