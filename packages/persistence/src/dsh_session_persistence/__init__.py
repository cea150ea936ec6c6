"""The seam that makes dsh sessions durable: service, coordinator and a contract suite for backends."""

__version__ = "0.1.0"

__all__ = ["__version__"]
