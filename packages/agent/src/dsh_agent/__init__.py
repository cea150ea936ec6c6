"""A small event-sourced agent loop: resume, replay and fork on dsh sessions."""

__version__ = "0.1.0"

__all__ = ["__version__"]
