"""Event-sourced agent sessions: an append-only log of typed events is the state."""

__version__ = "0.1.0"

__all__ = ["__version__"]
