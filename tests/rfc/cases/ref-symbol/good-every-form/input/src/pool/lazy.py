"""Lazy."""


def __getattr__(name):
    """Load."""
