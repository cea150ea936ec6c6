"""Pools."""

from typing import TYPE_CHECKING

from pool.keeper import Keeper
from pool.elsewhere import Lost

if TYPE_CHECKING:
    from pool.keeper import Clock

__all__ = ["Keeper", "Lost"]
