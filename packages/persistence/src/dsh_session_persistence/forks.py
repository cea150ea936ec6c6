"""What a forked child must not keep: descriptors that carry a lock of its parent.

Owns the one hook. A lock of the kernel belongs to an open file, and a fork shares it: as long as the child lives,
the parent's death does not give it up. Flow: fork -> each registered holder, in the child.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol

__all__ = ["LockHolder", "let_go_in_children"]


class LockHolder(Protocol):
    """Whoever holds descriptors that carry locks."""

    def let_go(self) -> None:
        """Close them without unlocking: the parent's own descriptors keep the locks."""


_holders: weakref.WeakSet[LockHolder] = weakref.WeakSet()


def let_go_in_children(holder: LockHolder) -> None:
    """Have a holder let go in every process that is forked from now on, for as long as the holder lives."""
    _holders.add(holder)


def _after_fork() -> None:
    for holder in list(_holders):
        holder.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
