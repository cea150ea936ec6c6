"""A backend's primitives together with what they mean for a slot.

Owns that cursor, ownership and store never disagree: each primitive is followed by its bookkeeping, also when it
fails or is cancelled. Refuses to decide what is stored when. Flow: operation -> Medium -> backend -> slot.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

from dsh_session import SessionEvent, SessionHeader
from dsh_session_persistence.backend import PersistenceBackend
from dsh_session_persistence.errors import StorageFailure
from dsh_session_persistence.recovery import check_header
from dsh_session_persistence.slots import Slot, Slots
from dsh_session_persistence.stored import StoredPrefix

__all__ = ["Medium"]


class Medium:
    """The backend as the coordinator's operations use it; the slot's lock is held during each call."""

    def __init__(self, backend: PersistenceBackend, slots: Slots) -> None:
        self._backend = backend
        self._slots = slots

    async def own(self, slot: Slot) -> None:
        """Hold the session's lock, taking it if it was never taken or was given up while idle."""
        if not slot.owned:
            await self._backend.acquire(slot.session_id)
        self._slots.mark_owned(slot)

    async def give_up(self, slot: Slot) -> None:
        """Release the session's lock, if it is held."""
        if slot.owned:
            self._slots.mark_disowned(slot)
            await self._backend.release(slot.session_id)

    async def take(self, slot: Slot) -> StoredPrefix | None:
        """Own a session and read it. If nothing can be read, the lock is given up again."""
        await self.own(slot)
        try:
            stored = await self._backend.load_stored(slot.session_id)
            if stored is not None:
                check_header(slot.session_id, stored.header)
        except BaseException:
            slot.forget()
            await self.give_up(slot)
            raise
        if stored is None:
            await self.give_up(slot)
        return stored

    async def store(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        """Append durably and move the cursor. A failure moves nothing.

        After a failure that leaves it open what is stored (a foreign writer, a cancelled loop), the slot forgets
        what it knew and the next operation looks again.
        """
        await self.own(slot)
        await self.finish(slot, len(events), self.begin(slot, events))

    def begin(self, slot: Slot, events: Sequence[SessionEvent]) -> Awaitable[None]:
        """Hand events to the backend of a slot that is owned; `finish` takes what is returned."""
        if slot.header is None:
            message = "a slot is tracked before anything is stored through it"
            raise AssertionError(message)
        return self._backend.append_batch(slot.header, events, slot.materialized)

    async def finish(self, slot: Slot, count: int, storing: Awaitable[None]) -> None:
        """Wait until `count` events are stored, and move the cursor; see `store`."""
        try:
            await storing
        except StorageFailure:
            raise  # nothing of the batch is stored: the cursor is right
        except GeneratorExit:
            raise  # the loop is gone, and nothing can be waited for
        except BaseException:
            slot.forget()
            await self.give_up(slot)
            raise
        slot.cursor += count
        slot.materialized = True
        slot.loaded = None

    async def repair(
        self, slot: Slot, header: SessionHeader, torn_marker: Any, closers: Sequence[SessionEvent]
    ) -> None:
        """Cut and close durably; the slot forgets what it knew if that fails."""
        try:
            await self._backend.commit_repair(header, torn_marker, closers)
        except BaseException:
            slot.forget()
            await self.give_up(slot)
            raise
