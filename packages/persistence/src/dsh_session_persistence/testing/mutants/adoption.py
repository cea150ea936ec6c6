"""Mutants that bind a live session to an id that is another's, or do not bind it to its own."""

# ruff: noqa: ARG002 - what a mutant ignores is its fault

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dsh_session import Session, SessionEvent, SessionStore
from dsh_session_persistence.binding import bind
from dsh_session_persistence.coordinator import PersistenceCoordinator
from dsh_session_persistence.errors import SessionIdCollision
from dsh_session_persistence.slots import Slot
from dsh_session_persistence.stored import StoredPrefix, StoredSession
from dsh_session_persistence.testing.mutants.registry import breaks
from dsh_session_persistence.testing.mutants.round_trip import changed_header
from dsh_session_persistence.write_behind import WriteBehind

__all__ = ["Binds"]


class Binds(PersistenceCoordinator):
    """Binds live sessions in its own way, when they are drained."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        """Bind a live session to its id."""
        await bind(self._medium, slot, live)

    def pending(self, slot: Slot, live: WriteBehind) -> Sequence[SessionEvent]:
        """Return what is to be stored."""
        return live.session.events[slot.cursor :]

    def created(self, session: Session) -> None:
        self._live[session] = WriteBehind(
            session,
            self._write_in_background,
            max_delay_s=self._max_delay_s,
            max_pending_bytes=self._max_pending_bytes,
        )

    async def _drain(self, slot: Slot, live: WriteBehind) -> None:
        await self.bind(slot, live)
        pending = self.pending(slot, live)
        if pending:
            await self._medium.store(slot, pending)

    def overwrite_header(self, live: WriteBehind) -> None:
        """Store a live session's header over the stored one."""
        backend: Any = self._backend
        records = backend._medium.records.get(live.session.id)
        if records:
            records[0] = live.session.header.line

    @staticmethod
    def is_free(slot: Slot, live: WriteBehind) -> bool:
        """Return whether no live session is bound to the id."""
        return slot.live is None and slot.live is not live


def collision(slot: Slot) -> SessionIdCollision:
    """Return the error."""
    return SessionIdCollision(slot.session_id, "a mutant says so")


# ---------------------------------------------------------------- tracked


@breaks("test_a_live_session_claims_what_was_created")
class ClaimsNothingNew(Binds):
    """Takes an announced id for a taken one."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if self.is_free(slot, live) and slot.header is not None and not slot.materialized:
            raise collision(slot)
        await super().bind(slot, live)


@breaks("test_a_live_session_claims_what_was_appended")
class StoresAClaimFromTheStart(Binds):
    """Forgets, when it claims, how much is stored."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        claims = self.is_free(slot, live) and slot.header is not None
        await super().bind(slot, live)
        if claims:
            slot.cursor = 0


@breaks("test_a_claim_with_another_cwd_collides")
class ClaimsAcrossDirectories(Binds):
    """Compares events only."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if self.is_free(slot, live) and slot.header is not None:
            slot.header = changed_header(slot.header, cwd=live.session.header.cwd)
        await super().bind(slot, live)


@breaks("test_a_claim_without_a_cwd_collides_with_one")
class TakesNoDirectoryForAny(Binds):
    """Compares directories where there are two."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if self.is_free(slot, live) and slot.header is not None and live.session.header.cwd is None:
            slot.header = changed_header(slot.header, cwd=None)
        await super().bind(slot, live)


@breaks("test_a_claim_with_other_events_collides")
class ClaimsOtherHistories(Binds):
    """Compares the number of events."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if self.is_free(slot, live) and slot.header is not None and len(live.session.events) >= slot.cursor:
            slot.live = live
        await super().bind(slot, live)


@breaks("test_a_claim_with_a_part_of_the_events_collides")
class ClaimsWithAPart(Binds):
    """Compares as far as both go."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        own = list(live.session.events)
        if self.is_free(slot, live) and slot.loaded and own == list(slot.loaded[: len(own)]):
            slot.live = live
        await super().bind(slot, live)


@breaks("test_a_claimed_session_keeps_its_stored_header")
class ClaimsTheHeaderToo(Binds):
    """Stores the live header over the stored one."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        claims = self.is_free(slot, live) and slot.header is not None
        await super().bind(slot, live)
        if claims:
            self.overwrite_header(live)


# ---------------------------------------------------------------- bound to another


@breaks("test_an_id_whose_live_session_has_nothing_is_free")
class KeepsIdsForIdlers(Binds):
    """Takes an id for taken as soon as somebody has said its name."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if slot.live is not None and slot.live is not live:
            raise collision(slot)
        await super().bind(slot, live)


@breaks("test_an_id_whose_live_session_is_stored_collides")
class GivesToTheLast(Binds):
    """Binds an id to whoever asked last."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if slot.live is not None:
            slot.live = live
        await super().bind(slot, live)


@breaks("test_an_id_whose_live_session_has_pending_events_collides")
class CountsWhatIsStored(Binds):
    """Does not look into the buffer of the other."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if slot.live is not None and slot.live is not live and not slot.materialized:
            slot.live = None
            slot.header = None
        await super().bind(slot, live)


# ---------------------------------------------------------------- stored


class Adopts(Binds):
    """Adopts what is stored by a rule of its own."""

    def is_same(self, live: WriteBehind, stored: StoredPrefix) -> bool:
        """Return whether a stored session is the live one's past."""
        own = list(live.session.events[: len(stored.events)])
        return own == list(stored.events) and stored.header.cwd == live.session.header.cwd

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if slot.live is not live and slot.header is None and (stored := await self._medium.take(slot)):
            if not self.is_same(live, stored):
                await self.turn_away(slot)
            if stored.torn_marker is not None:
                await self._medium.repair(slot, stored.header, stored.torn_marker, ())
            slot.track(stored.header, cursor=len(stored.events), materialized=True)
            slot.live = live
        await super().bind(slot, live)

    async def turn_away(self, slot: Slot) -> None:
        """Refuse."""
        await self._medium.give_up(slot)
        raise collision(slot)


@breaks("test_a_stored_session_is_adopted_by_its_continuation")
class AdoptsNothing(Adopts):
    """Takes what is stored for another's."""

    def is_same(self, live: WriteBehind, stored: StoredPrefix) -> bool:
        return False


@breaks("test_an_adopted_session_keeps_its_stored_header")
class AdoptsTheHeaderToo(Adopts):
    """Stores the live header over the stored one."""

    def is_same(self, live: WriteBehind, stored: StoredPrefix) -> bool:
        self.overwrite_header(live)
        return super().is_same(live, stored)


@breaks("test_the_open_turn_of_an_adopted_session_stays_open")
class ClosesWhatItAdopts(Adopts):
    """Adopts as `load` takes over."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if slot.live is None and slot.header is None and await self._backend.load_stored(slot.session_id):
            await self._take_over(slot)
            slot.forget()
        await super().bind(slot, live)


@breaks("test_the_torn_tail_of_an_adopted_session_is_cut")
class AdoptsFragments(Adopts):
    """Adopts events and leaves what is behind them."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if slot.live is None and slot.header is None and (stored := await self._medium.take(slot)):
            slot.track(stored.header, cursor=len(stored.events), materialized=True)
            slot.live = live
        await super().bind(slot, live)


@breaks("test_a_stored_session_with_another_cwd_collides")
class AdoptsAcrossDirectories(Adopts):
    """Compares events only."""

    def is_same(self, live: WriteBehind, stored: StoredPrefix) -> bool:
        return list(live.session.events[: len(stored.events)]) == list(stored.events)


@breaks("test_a_stored_session_with_other_events_collides")
class AdoptsOtherHistories(Adopts):
    """Compares directories only."""

    def is_same(self, live: WriteBehind, stored: StoredPrefix) -> bool:
        return len(live.session.events) >= len(stored.events)


@breaks("test_a_stored_session_that_is_longer_collides")
class AdoptsLongerOnes(Adopts):
    """Compares as far as both go."""

    def is_same(self, live: WriteBehind, stored: StoredPrefix) -> bool:
        own = list(live.session.events)
        return own == list(stored.events[: len(own)]) or super().is_same(live, stored)


@breaks("test_an_empty_live_session_collides_with_a_stored_one")
class LooksAtTheFirstEvent(Adopts):
    """Looks an id up when there is something to store."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if live.session.events:
            await super().bind(slot, live)


@breaks("test_a_collision_that_no_flush_reported_is_reported_by_closing")
class ForgivesCollisions(PersistenceCoordinator):
    """Closes in silence over what it could not store."""

    async def _last_drain(self, live: WriteBehind) -> Exception | None:
        error = await super()._last_drain(live)
        return None if isinstance(error, SessionIdCollision) else error


@breaks("test_a_collision_does_not_harm_other_sessions")
class GivesUpAltogether(Binds):
    """Stops at the first collision."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if self.__dict__.get("stopped"):
            raise collision(slot)
        try:
            await super().bind(slot, live)
        except SessionIdCollision:
            self.__dict__["stopped"] = True
            raise


@breaks("test_a_collision_keeps_no_lock")
class KeepsTheLockOfAnother(Adopts):
    """Turns a session away and keeps its lock."""

    async def turn_away(self, slot: Slot) -> None:
        raise collision(slot)


# ---------------------------------------------------------------- attaching


@breaks("test_sessions_from_before_the_attachment_are_stored")
class SeesNewSessionsOnly(PersistenceCoordinator):
    """Hears what is announced from now on."""

    def attach(self, store: SessionStore) -> None:
        self._check_open()
        self._stores[store] = store.subscribe(self)


@breaks("test_attaching_twice_stores_once")
class HearsTwice(PersistenceCoordinator):
    """Takes a second attachment for a second store."""

    def attach(self, store: SessionStore) -> None:
        self._stores.pop(store, None)
        super().attach(store)


@breaks("test_a_session_without_events_writes_nothing")
class WritesEmptyBatches(Binds):
    """Stores whatever is pending, and be it nothing."""

    async def _drain(self, slot: Slot, live: WriteBehind) -> None:
        await self.bind(slot, live)
        header = live.session.header
        await self._backend.append_batch(header, self.pending(slot, live), slot.materialized)

    def _is_stored(self, live: WriteBehind) -> bool:
        return False


@breaks("test_a_seed_is_stored_once")
class SkipsTheSeed(Binds):
    """Stores what happens from now on."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        await super().bind(slot, live)
        if not slot.materialized:
            slot.cursor = live.session.seed_count


@breaks("test_a_seed_without_further_events_is_stored")
class WaitsForTheFirstAppend(Binds):
    """Stores a seed with the first event behind it."""

    def pending(self, slot: Slot, live: WriteBehind) -> Sequence[SessionEvent]:
        idle = len(live.session.events) == live.session.seed_count
        return () if idle else super().pending(slot, live)


@breaks("test_a_fork_is_stored_with_its_lineage")
class StoresNoLineage(Binds):
    """Makes a header of its own."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        await super().bind(slot, live)
        if slot.header is not None:
            slot.header = changed_header(slot.header, parent_session=None, seed_length=None)


@breaks("test_loading_a_live_session_closes_nothing")
class ClosesLiveTurns(PersistenceCoordinator):
    """Loads a live session as a dead one."""

    async def _load(self, slot: Slot) -> StoredSession:
        return await self._take_over(slot)


@breaks("test_appending_to_a_live_session_from_outside_is_refused")
class AppendsBesideTheSession(PersistenceCoordinator):
    """Has two sources for one log."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        live, slot.live = slot.live, None
        await super()._append(slot, events)
        slot.live = live


@breaks("test_a_released_session_is_drained")
class ForgetsAtOnce(PersistenceCoordinator):
    """Lets go without a last look."""

    async def released(self, session: Session) -> None:
        live = self._live.pop(session)
        await self._run(session.id, lambda slot: self._forget(slot, live))

    async def flush(self, session: Session) -> None:
        """Leave it to the window."""


@breaks("test_a_released_session_is_forgotten", "test_a_released_id_can_be_live_again")
class NeverForgets(PersistenceCoordinator):
    """Keeps a released session for ever."""

    async def released(self, session: Session) -> None:
        await self.flush(session)


@breaks("test_several_sessions_are_stored_side_by_side")
class KnowsOneSession(PersistenceCoordinator):
    """Stores the session that was announced last."""

    async def flush(self, session: Session) -> None:
        if session is list(self._live)[-1]:
            await super().flush(session)


@breaks("test_a_session_that_was_loaded_goes_on_live")
class KeepsWhatWasLoaded(Binds):
    """Takes a loaded session for one in use."""

    async def bind(self, slot: Slot, live: WriteBehind) -> None:
        if self.is_free(slot, live) and slot.loaded is not None:
            raise collision(slot)
        await super().bind(slot, live)


@breaks("test_a_flushed_session_is_durable")
class FlushesToTheWindow(PersistenceCoordinator):
    """Acknowledges what a window will store."""

    async def flush(self, session: Session) -> None:
        """Leave it to the window."""


@breaks("test_each_flush_stores_what_is_new")
class FlushesOnce(PersistenceCoordinator):
    """Takes a flushed session for a stored one."""

    async def flush(self, session: Session) -> None:
        flushed: set[str] = self.__dict__.setdefault("flushed", set())
        if session.id not in flushed:
            await super().flush(session)
        flushed.add(session.id)
