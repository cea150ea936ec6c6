"""How a live session comes to own its id on the medium.

Owns the four cases of announcing a live session and the one collision rule for every backend: the `cwd` is equal
and the live events reproduce the stored prefix in full. Refuses to close an open turn: the live session is the
authority. Flow: live session, slot -> case -> bound slot, or `SessionIdCollision`.
Source: the RFC on session persistence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from dsh_session import SessionEvent, SessionHeader
from dsh_session_persistence.errors import SessionIdCollision
from dsh_session_persistence.medium import Medium
from dsh_session_persistence.slots import Slot
from dsh_session_persistence.write_behind import WriteBehind

__all__ = ["bind"]

_ON_LOOP_LIMIT = 2_000  # comparing more events than this would hold up the event loop


async def bind(medium: Medium, slot: Slot, live: WriteBehind) -> None:
    """Bind a live session to its id, unless it is bound already.

    Raises:
        SessionIdCollision: The id belongs to another live session or to another history.
        ConcurrentWriter: Another process or instance owns the stored session.
        CorruptSession: What is stored cannot be read.
        StorageFailure: The medium failed.
    """
    if slot.live is live:
        return
    if slot.live is not None:
        if slot.materialized or slot.live.session.events:
            raise SessionIdCollision(slot.session_id, "another live session uses it")
        slot.live.displaced = True
        slot.forget()
    if slot.header is None:
        await _adopt(medium, slot, live)
    else:
        await _claim(medium, slot, live)
    live.displaced = False
    slot.live = live


async def _claim(medium: Medium, slot: Slot, live: WriteBehind) -> None:
    """Take what a public `create` or `load` left tracked without an owner."""
    header, prefix = slot.header, slot.loaded
    if header is None:
        message = "only a tracked slot can be claimed"
        raise AssertionError(message)
    if prefix is None and slot.cursor:
        stored = await medium.take(slot)
        prefix = stored.events if stored is not None else ()
    await _check_same_history(slot, live, header, prefix or ())
    slot.loaded = None


async def _adopt(medium: Medium, slot: Slot, live: WriteBehind) -> None:
    """Take what is stored, if it is this session's past; register lazily if nothing is."""
    stored = await medium.take(slot)
    if stored is None:
        slot.track(live.session.header, cursor=0, materialized=False)
        return
    try:
        await _check_same_history(slot, live, stored.header, stored.events)
    except SessionIdCollision:
        await medium.give_up(slot)
        raise
    if stored.torn_marker is not None:
        await medium.repair(slot, stored.header, stored.torn_marker, ())
    slot.track(stored.header, cursor=len(stored.events), materialized=True)


async def _check_same_history(
    slot: Slot, live: WriteBehind, header: SessionHeader, stored: Sequence[SessionEvent]
) -> None:
    if header.cwd != live.session.header.cwd:
        raise SessionIdCollision(
            slot.session_id, f"it is stored for cwd {header.cwd!r}, not {live.session.header.cwd!r}"
        )
    own = live.session.events[: len(stored)]
    if len(stored) > _ON_LOOP_LIMIT:
        same = await asyncio.to_thread(_equal, own, stored)
    else:
        same = _equal(own, stored)
    if not same:
        raise SessionIdCollision(slot.session_id, "the live events do not reproduce what is stored")


def _equal(own: Sequence[SessionEvent], stored: Sequence[SessionEvent]) -> bool:
    """Return whether two logs mean the same; the same object or the same bytes are the quick answers."""
    return len(own) == len(stored) and all(
        a is b or a.line == b.line or a == b for a, b in zip(own, stored, strict=True)
    )
