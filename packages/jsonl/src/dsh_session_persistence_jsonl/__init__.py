"""dsh sessions as JSON Lines files: one append-only file a session."""

__version__ = "0.1.0"

__all__ = ["__version__"]
