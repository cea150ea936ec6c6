"""What is read from a medium: a stored session as callers see it, and as a backend found it.

Owns two values and nothing else. Flow: backend -> StoredPrefix -> recovery -> StoredSession -> caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dsh_session import SessionEvent, SessionHeader

__all__ = ["StoredPrefix", "StoredSession"]


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredSession:
    """A stored session: its header and its events, in order, `events[i].seq == i`."""

    header: SessionHeader
    events: Sequence[SessionEvent]


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredPrefix:
    """What a backend found on its medium: everything readable, and where a torn tail begins.

    Attributes:
        header: The stored header.
        events: All whole events, in order, `events[i].seq == i`.
        torn_marker: Where to cut, in the backend's own terms, or None when nothing is torn. It is opaque to
            everybody else: the coordinator hands it back to `commit_repair`.
    """

    header: SessionHeader
    events: Sequence[SessionEvent]
    torn_marker: Any = None
