"""What the coordinator knows of each session id, and the order of operations on it.

Owns the bookkeeping: header, cursor, ownership, the live session that the id is bound to, and a lock that makes
operations on one id run one after another. Refuses I/O. Flow: coordinator -> Slot -> coordinator.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from dsh_session import SessionEvent, SessionHeader, SessionId
from dsh_session_persistence.write_behind import WriteBehind

__all__ = ["Slot", "Slots"]


class Slot:
    """One session id.

    Attributes:
        session_id: The id.
        lock: First come, first served.
        users: Operations that run or wait.
        header: The header that is, or will be, stored; None while the id is not tracked.
        cursor: How many events are stored, which is the seq of the next.
        materialized: Whether the header is stored.
        owned: Whether this instance holds the session's lock on the medium.
        loaded: What `load` handed out, until a live session claims it.
        live: The live session that is bound to the id.
    """

    __slots__ = ("cursor", "header", "live", "loaded", "lock", "materialized", "owned", "session_id", "users")

    def __init__(self, session_id: SessionId) -> None:
        self.session_id = session_id
        self.lock = asyncio.Lock()
        self.users = 0
        self.header: SessionHeader | None = None
        self.cursor = 0
        self.materialized = False
        self.owned = False
        self.loaded: Sequence[SessionEvent] | None = None
        self.live: WriteBehind | None = None

    def track(
        self,
        header: SessionHeader,
        *,
        cursor: int,
        materialized: bool,
        loaded: Sequence[SessionEvent] | None = None,
    ) -> None:
        """Know what is stored under the id."""
        self.header = header
        self.cursor = cursor
        self.materialized = materialized
        self.loaded = loaded

    def forget(self) -> None:
        """Know nothing of the id any more, except whether its lock is held."""
        self.header = None
        self.cursor = 0
        self.materialized = False
        self.loaded = None
        self.live = None

    @property
    def vacant(self) -> bool:
        """Whether nothing would be lost if the slot were dropped."""
        return self.header is None and self.live is None and not self.owned and not self.users


class Slots:
    """All slots, and which of the owned ones were idle the longest."""

    def __init__(self) -> None:
        self._slots: dict[SessionId, Slot] = {}
        self._owned: dict[SessionId, Slot] = {}  # in order of use, the longest unused first

    def get(self, session_id: SessionId) -> Slot:
        """Return the slot of an id, a new one if there is none."""
        slot = self._slots.get(session_id)
        if slot is None:
            slot = self._slots[session_id] = Slot(session_id)
        elif not slot.users:
            slot.lock = asyncio.Lock()  # one that was contended in another event loop would refuse this one
        return slot

    def peek(self, session_id: SessionId) -> Slot | None:
        """Return the slot of an id, if there is one."""
        return self._slots.get(session_id)

    def drop_if_vacant(self, slot: Slot) -> None:
        """Let go of a slot that knows nothing."""
        if slot.vacant and self._slots.get(slot.session_id) is slot:
            del self._slots[slot.session_id]

    def mark_owned(self, slot: Slot) -> None:
        """Record that a slot's lock is held and was used just now."""
        slot.owned = True
        self._owned.pop(slot.session_id, None)
        self._owned[slot.session_id] = slot

    def mark_disowned(self, slot: Slot) -> None:
        """Record that a slot's lock is no longer held."""
        slot.owned = False
        self._owned.pop(slot.session_id, None)

    def idle_beyond(self, limit: int) -> list[Slot]:
        """Return the owned slots, longest idle first, that should be given up to own at most `limit`."""
        excess = len(self._owned) - limit
        if excess <= 0:
            return []
        return [slot for slot in self._owned.values() if not slot.users][:excess]
