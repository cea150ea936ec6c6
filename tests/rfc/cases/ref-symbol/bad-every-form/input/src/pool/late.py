"""Loaded late."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pool.keeper import Keeper as Late

__all__ = ["Late"]


def __getattr__(name):
    """Load."""
