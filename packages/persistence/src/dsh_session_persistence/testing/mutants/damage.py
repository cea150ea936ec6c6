"""Mutants that take corruption for a torn tail, a torn tail for corruption, or write where they may not."""

# ruff: noqa: ARG002 - what a mutant ignores is its fault

from __future__ import annotations

import builtins
import json
from collections.abc import Sequence
from itertools import pairwise

from dsh_session import InvalidEvent, SessionEvent, SessionHeader, SessionId, UnsupportedVersion
from dsh_session.event import decode_line
from dsh_session.header import decode_header
from dsh_session_persistence.coordinator import PersistenceCoordinator
from dsh_session_persistence.errors import CorruptSession
from dsh_session_persistence.medium import Medium
from dsh_session_persistence.memory import MemoryBackend
from dsh_session_persistence.recovery import check_sequence
from dsh_session_persistence.slots import Slot
from dsh_session_persistence.stored import StoredPrefix
from dsh_session_persistence.testing.mutants.recovery import Closes
from dsh_session_persistence.testing.mutants.registry import breaks

__all__: list[str] = []


class Reads(MemoryBackend):
    """Reads the records in its own way; each step can be broken."""

    def torn(self, session_id: SessionId, records: list[bytes], index: int) -> bool:
        """Return whether an unreadable record (and all behind it) may be cut."""
        return index == len(records) - 1

    def event(self, record: bytes) -> SessionEvent:
        """Read a record."""
        return decode_line(record)

    def header(self, record: bytes) -> SessionHeader:
        """Read the header."""
        return decode_header(record)

    def checked(self, session_id: SessionId, events: list[SessionEvent]) -> list[SessionEvent]:
        """Check the order of what was read."""
        check_sequence(session_id, events)
        return events

    async def load_stored(self, session_id: SessionId) -> StoredPrefix | None:
        records = self._medium.records.get(session_id)
        if records is None:
            return None
        events: list[SessionEvent] = []
        marker: int | None = None
        for index, record in enumerate(records[1:]):
            try:
                events.append(self.event(record))
            except InvalidEvent as error:
                if not self.torn(session_id, records[1:], index):
                    raise CorruptSession(session_id, str(error), seq=index) from error
                marker = index + 1
                break
        events = self.checked(session_id, events)
        return StoredPrefix(header=self.header(records[0]), events=tuple(events), torn_marker=marker)


def readable(record: bytes) -> SessionEvent | None:
    """Return the event of a record, or None."""
    try:
        return decode_line(record)
    except InvalidEvent:
        return None


# ---------------------------------------------------------------- torn tails


@breaks("test_a_torn_tail_is_cut")
class RefusesEveryTear(Reads):
    """Takes any fragment for corruption."""

    def torn(self, session_id: SessionId, records: list[bytes], index: int) -> bool:
        return False


@breaks("test_a_torn_tail_behind_a_closed_turn_is_cut")
class ExpectsTearsWithinTurns(Reads):
    """Takes a fragment directly behind the end of a turn for corruption."""

    def torn(self, session_id: SessionId, records: list[bytes], index: int) -> bool:
        before = readable(records[index - 1]) if index else None
        return super().torn(session_id, records, index) and (before is None or before.type != "turn/end")


@breaks("test_the_cut_is_durable")
class CutsWhatItReturns(Closes):
    """Leaves the fragment where it is if there is nothing to close."""

    async def repair(self, slot: Slot, stored: StoredPrefix, added: list[SessionEvent]) -> None:
        if added:
            await super().repair(slot, stored, added)


@breaks("test_appending_to_an_unseen_torn_session_cuts_first")
class AppendsBehindFragments(PersistenceCoordinator):
    """Cuts in `load` alone."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        if slot.header is None and (stored := await self._medium.take(slot)):
            slot.track(stored.header, cursor=len(stored.events), materialized=True)
        await super()._append(slot, events)


@breaks("test_reading_leaves_a_torn_tail_where_it_is")
class CutsWhenItReads(MemoryBackend):
    """Writes in a read."""

    async def load_stored(self, session_id: SessionId) -> StoredPrefix | None:
        stored = await super().load_stored(session_id)
        if stored and stored.torn_marker is not None:
            del self._medium.records[session_id][stored.torn_marker :]
        return stored


@breaks("test_a_torn_session_is_listed")
class ListsWhatIsWhole(MemoryBackend):
    """Leaves out what needs a repair."""

    async def list(self) -> builtins.list[SessionHeader]:
        records = self._medium.records
        return [head for head in await super().list() if all(map(readable, records[head.id][1:]))]


@breaks("test_an_unreadable_last_record_behind_the_last_turn_end_is_torn")
class KnowsFragmentsOnly(Reads):
    """Takes a last record of full length and wrong content for corruption."""

    def torn(self, session_id: SessionId, records: list[bytes], index: int) -> bool:
        return super().torn(session_id, records, index) and records[index].startswith(b"{")


@breaks("test_a_tail_of_nul_bytes_is_torn")
class RefusesNul(Reads):
    """Takes a block of NUL bytes for corruption."""

    def torn(self, session_id: SessionId, records: list[bytes], index: int) -> bool:
        return super().torn(session_id, records, index) and bool(records[index].strip(b"\0"))


# ---------------------------------------------------------------- damage


@breaks(
    "test_damage_before_the_last_turn_end_is_corruption",
    "test_a_corrupt_session_is_left_as_it_is",
    "test_reading_a_corrupt_session_is_refused",
)
class CutsAtTheFirstDamage(Reads):
    """Keeps what it could read."""

    def torn(self, session_id: SessionId, records: list[bytes], index: int) -> bool:
        return True


@breaks("test_damage_of_the_first_event_is_corruption")
class TakesADamagedBeginningForNone(Reads):
    """Has an empty log where the first event cannot be read."""

    def torn(self, session_id: SessionId, records: list[bytes], index: int) -> bool:
        return index == 0 or super().torn(session_id, records, index)


@breaks(
    "test_damage_of_a_turn_end_that_events_follow_is_corruption",
    "test_damage_behind_the_last_turn_end_that_events_follow_is_corruption",
)
class LooksForALaterTurnEnd(Reads):
    """Cuts, with all that follows, what no readable end of a turn follows."""

    def torn(self, session_id: SessionId, records: list[bytes], index: int) -> bool:
        later = [event for record in records[index + 1 :] if (event := readable(record))]
        return all(event.type != "turn/end" for event in later)


@breaks("test_appending_to_a_corrupt_session_is_refused")
class AppendsWithoutReading(PersistenceCoordinator):
    """Takes the count of records for the end of a log."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        try:
            await super()._append(slot, events)
        except CorruptSession:
            header = next(head for head in await self._backend.list() if head.id == slot.session_id)
            slot.track(header, cursor=events[0].seq, materialized=True)
            await self._medium.store(slot, events)


@breaks("test_a_corrupt_session_is_not_created_anew")
class CreatesOverRuins(PersistenceCoordinator):
    """Takes what it cannot read for absent."""

    async def _create(self, slot: Slot, header: SessionHeader) -> None:
        try:
            await self._backend.load_stored(header.id)
        except CorruptSession:
            slot.track(header, cursor=0, materialized=False)
        else:
            await super()._create(slot, header)


@breaks("test_a_corrupt_session_does_not_hide_the_others")
class ListsByLoading(MemoryBackend):
    """Lists nothing if one session cannot be read."""

    async def list(self) -> builtins.list[SessionHeader]:
        for session_id in self._medium.records:
            await self.load_stored(session_id)
        return await super().list()


class KeepsTheLock(Medium):
    """Gives up only what it could use."""

    async def take(self, slot: Slot) -> StoredPrefix | None:
        await self.own(slot)
        return await self._backend.load_stored(slot.session_id)


@breaks("test_a_refused_load_keeps_no_lock")
class OwnsWhatItCannotRead(PersistenceCoordinator):
    """Takes a lock before a failure and keeps it after."""

    def __init__(self, backend: MemoryBackend, **options: int) -> None:
        super().__init__(backend, **options)
        self._medium = KeepsTheLock(backend, self._slots)


# ---------------------------------------------------------------- order


@breaks("test_a_gap_before_the_last_turn_end_is_corruption")
class ChecksNoOrder(Reads):
    """Trusts the medium."""

    def checked(self, session_id: SessionId, events: list[SessionEvent]) -> list[SessionEvent]:
        return events


@breaks("test_a_gap_behind_the_last_turn_end_is_corruption")
class ChecksOrderToTheLastTurnEnd(Reads):
    """Thinks that order ends with the last turn."""

    def checked(self, session_id: SessionId, events: list[SessionEvent]) -> list[SessionEvent]:
        ends = [index + 1 for index, event in enumerate(events) if event.type == "turn/end"]
        check_sequence(session_id, events[: max(ends, default=0)])
        return events


@breaks("test_a_missing_first_event_is_corruption")
class StartsAnywhere(Reads):
    """Compares neighbours only."""

    def checked(self, session_id: SessionId, events: list[SessionEvent]) -> list[SessionEvent]:
        if any(after.seq != event.seq + 1 for event, after in pairwise(events)):
            raise CorruptSession(session_id, "a gap")
        return events


@breaks("test_a_repeated_event_is_corruption")
class DropsStoredRepetitions(Reads):
    """Keeps one of each seq."""

    def checked(self, session_id: SessionId, events: list[SessionEvent]) -> list[SessionEvent]:
        return super().checked(session_id, list({event.seq: event for event in events}.values()))


# ---------------------------------------------------------------- format


@breaks("test_invalid_utf8_within_data_is_corruption")
class ReplacesInvalidBytes(Reads):
    """Decodes with replacement."""

    def event(self, record: bytes) -> SessionEvent:
        return super().event(record.decode("utf-8", "replace").encode())


@breaks("test_an_unknown_envelope_key_is_refused_by_name")
class DropsUnknownKeys(Reads):
    """Reads the keys that it knows."""

    def event(self, record: bytes) -> SessionEvent:
        try:
            wire = json.loads(record)
        except ValueError:
            return super().event(record)
        wire.pop("flavour", None)
        return super().event(json.dumps(wire).encode())


@breaks("test_a_last_event_with_an_unknown_envelope_key_is_not_cut")
class CutsWhatItDoesNotKnow(Reads):
    """Takes a whole record of a newer build for a fragment."""


@breaks("test_an_unknown_header_key_is_refused_by_name")
class DropsUnknownHeaderKeys(Reads):
    """Reads the keys that it knows."""

    def header(self, record: bytes) -> SessionHeader:
        wire = json.loads(record)
        wire.pop("flavour", None)
        return super().header(json.dumps(wire).encode())


@breaks("test_an_unknown_format_version_is_refused")
class ReadsEveryVersion(Reads):
    """Takes every version for its own."""

    def header(self, record: bytes) -> SessionHeader:
        return super().header(json.dumps({**json.loads(record), "version": 0}).encode())


@breaks("test_a_session_of_an_unknown_version_is_left_as_it_is")
class ClosesBeforeItLooks(MemoryBackend):
    """Repairs the events, then reads the header."""

    async def load_stored(self, session_id: SessionId) -> StoredPrefix | None:
        try:
            return await super().load_stored(session_id)
        except UnsupportedVersion:
            self._medium.records[session_id].append(b'{"type":"turn/end"}')
            raise


@breaks("test_a_stored_header_with_another_id_is_corruption")
class BelievesTheFileName(PersistenceCoordinator):
    """Never compares the stored id."""

    def __init__(self, backend: MemoryBackend, **options: int) -> None:
        reading = Reads(backend._medium)
        super().__init__(reading, **options)
        self._medium = TakesAnyHeader(reading, self._slots)


class TakesAnyHeader(Medium):
    """Owns and reads, and compares nothing."""

    async def take(self, slot: Slot) -> StoredPrefix | None:
        await self.own(slot)
        return await self._backend.load_stored(slot.session_id)
