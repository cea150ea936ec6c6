"""Gates for a record of design decisions."""

__version__ = "0.1.0"

__all__ = ["__version__"]
