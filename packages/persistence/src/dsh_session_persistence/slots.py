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
        loop: The event loop of those operations.
        header: The header that is, or will be, stored; None while the id is not tracked.
        cursor: How many events are stored, which is the seq of the next.
        materialized: Whether the header is stored.
        owned: Whether this instance holds the session's lock on the medium.
        loaded: What `load` handed out, until a live session claims it.
        live: The live session that is bound to the id.
    """

    __slots__ = (
        "cursor",
        "header",
        "live",
        "loaded",
        "lock",
        "loop",
        "materialized",
        "owned",
        "session_id",
        "users",
    )

    def __init__(self, session_id: SessionId) -> None:
        self.session_id = session_id
        self.lock = asyncio.Lock()
        self.users = 0
        self.loop: asyncio.AbstractEventLoop | None = None
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

    def is_ready(self, live: WriteBehind) -> bool:
        """Return whether the events of a live session can be stored at once: bound, owned, and nobody at work."""
        return self.live is live and self.owned and self.materialized and not self.users

    @property
    def vacant(self) -> bool:
        """Whether nothing would be lost if the slot were dropped."""
        return self.header is None and self.live is None and not self.owned and not self.users


class Slots:
    """All slots, and which of the owned ones were idle the longest."""

    def __init__(self) -> None:
        self._slots: dict[SessionId, Slot] = {}
        self._owned: dict[SessionId, Slot] = {}  # in order of use, the longest unused first

    def enter(self, session_id: SessionId, loop: asyncio.AbstractEventLoop) -> Slot:
        """Return the slot of an id, a new one if there is none, with one user more."""
        slot = self._slots.get(session_id)
        if slot is None:
            slot = self._slots[session_id] = Slot(session_id)
        elif slot.loop is not loop and (not slot.users or slot.loop is None or slot.loop.is_closed()):
            slot.lock = asyncio.Lock()  # one that was contended in another event loop would refuse this one
            if slot.users:  # that loop was closed in the middle of them: what came of them is not known
                slot.users = 0
                slot.forget()
        slot.loop = loop
        slot.users += 1
        return slot

    def peek(self, session_id: SessionId) -> Slot | None:
        """Return the slot of an id, if there is one."""
        return self._slots.get(session_id)

    def drop_if_vacant(self, slot: Slot) -> None:
        """Let go of a slot that knows nothing."""
        if slot.vacant and self._slots.get(slot.session_id) is slot:
            del self._slots[slot.session_id]

    @property
    def owned_count(self) -> int:
        """How many slots' locks are held."""
        return len(self._owned)

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
