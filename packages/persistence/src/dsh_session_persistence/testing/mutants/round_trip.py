"""Mutants that lose something between writing and reading."""

# ruff: noqa: ARG002 - what a mutant ignores is its fault

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dsh_session import SessionEvent, SessionHeader, SessionId
from dsh_session_persistence.coordinated import CoordinatedPersistence
from dsh_session_persistence.memory import MemoryBackend, MemoryMedium
from dsh_session_persistence.stored import StoredPrefix
from dsh_session_persistence.testing.mutants.registry import breaks

__all__ = ["changed_header"]

KNOWN = {"turn", "step", "user", "assistant", "tool", "context", "steering", "prompt", "todo"}


def changed_event(event: SessionEvent, **changes: Any) -> SessionEvent:
    """Return an event with some fields changed."""
    fields: dict[str, Any] = {
        "type": event.type,
        "seq": event.seq,
        "time": event.time,
        "data": event.data,
        "surface_op": event.surface_op,
        "source_event_seqs": event.source_event_seqs,
    }
    return SessionEvent(**{**fields, **changes})


def changed_header(header: SessionHeader, **changes: Any) -> SessionHeader:
    """Return a header with some fields changed."""
    fields: dict[str, Any] = {
        "version": header.version,
        "id": header.id,
        "created_at": header.created_at,
        "cwd": header.cwd,
        "parent_session": header.parent_session,
        "seed_length": header.seed_length,
    }
    return SessionHeader(**{**fields, **changes})


class Rewrites(MemoryBackend):
    """Changes events or headers on their way to the medium."""

    def event(self, event: SessionEvent) -> SessionEvent:
        """Return what is stored instead of an event."""
        return event

    def header(self, header: SessionHeader) -> SessionHeader:
        """Return what is stored instead of a header."""
        return header

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        await super().append_batch(self.header(header), [self.event(event) for event in events], materialized)


def texts_changed(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value whose strings, keys included, are changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): texts_changed(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [texts_changed(item, change) for item in value]
    return value


class ChangesTexts(Rewrites):
    """Changes the strings within data."""

    def text(self, text: str) -> str:
        """Return what is stored instead of a string."""
        return text

    def event(self, event: SessionEvent) -> SessionEvent:
        """Rebuild the event around its changed data."""
        data = json.loads(event.data_json)
        changed = texts_changed(data, self.text)
        return event if changed == data else changed_event(event, data=changed)


@breaks("test_events_come_back_equal_in_the_same_instance")
class RemembersThatNothingWasThere(MemoryBackend):
    """Keeps the first answer to each question."""

    def __init__(self, medium: MemoryMedium) -> None:
        super().__init__(medium)
        self._first: dict[SessionId, StoredPrefix | None] = {}

    async def load_stored(self, session_id: SessionId) -> StoredPrefix | None:
        if session_id not in self._first:
            self._first[session_id] = await super().load_stored(session_id)
        return self._first[session_id]


@breaks("test_events_come_back_equal_in_a_fresh_instance")
class KeepsToItself(MemoryBackend):
    """Stores in the instance instead of on the medium."""

    def __init__(self, medium: MemoryMedium) -> None:
        super().__init__(MemoryMedium())


@breaks("test_acknowledged_events_survive_a_crash")
class WritesWhenItCloses(MemoryBackend):
    """Acknowledges what is only in its own buffer."""

    def __init__(self, medium: MemoryMedium) -> None:
        self._disk = medium
        super().__init__(MemoryMedium())
        self._medium.records.update(medium.records)

    async def close(self) -> None:
        self._disk.records.update(self._medium.records)


@breaks("test_every_chunk_is_stored")
class DropsChunks(MemoryBackend):
    """Stores what a history is derived from, and no more."""

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        kept = [event for event in events if event.type != "assistant/chunk"]
        await super().append_batch(header, kept, materialized)


@breaks("test_a_type_that_nobody_knows_is_carried")
class EmptiesUnknownTypes(Rewrites):
    """Stores the fields that it knows."""

    def event(self, event: SessionEvent) -> SessionEvent:
        known = event.type.split("/")[0] in KNOWN
        return event if known else changed_event(event, data={})


@breaks("test_the_time_of_an_event_is_kept")
class KeepsSeconds(Rewrites):
    """Stores times in whole seconds."""

    def event(self, event: SessionEvent) -> SessionEvent:
        return changed_event(event, time=event.time // 1000 * 1000)


@breaks("test_numbers_keep_their_kind")
class MakesWholeFloatsIntegers(Rewrites):
    """Goes through a number type that does not tell 1.0 from 1."""

    def event(self, event: SessionEvent) -> SessionEvent:
        def number(text: str) -> float | int:
            value = float(text)
            return int(value) if value.is_integer() and abs(value) < 2**53 else value

        return changed_event(event, data=json.loads(event.data_json, parse_float=number))


@breaks("test_integers_of_any_size_are_exact")
class RoundsIntegers(Rewrites):
    """Goes through double precision."""

    def event(self, event: SessionEvent) -> SessionEvent:
        return changed_event(event, data=json.loads(event.data_json, parse_int=lambda text: int(float(text))))


@breaks("test_the_order_of_keys_is_kept")
class SortsKeys(Rewrites):
    """Stores data in a canonical form."""

    def event(self, event: SessionEvent) -> SessionEvent:
        data = json.loads(json.dumps(json.loads(event.data_json), sort_keys=True))
        return changed_event(event, data=data)


@breaks("test_lone_surrogates_survive")
class ReplacesSurrogates(ChangesTexts):
    """Encodes strings as UTF-8 and replaces what has no such form."""

    def text(self, text: str) -> str:
        return text.encode("utf-8", "replace").decode()


@breaks("test_control_and_separator_characters_survive")
class SplitsLines(ChangesTexts):
    """Takes separators for line ends."""

    def text(self, text: str) -> str:
        return "\n".join(text.splitlines())


@breaks("test_characters_outside_the_basic_plane_survive")
class KeepsTheBasicPlane(ChangesTexts):
    """Has three bytes for a character."""

    def text(self, text: str) -> str:
        return "".join(character if ord(character) < 0x10000 else "\ufffd" for character in text)


@breaks("test_a_large_event_survives")
class CutsLongTexts(ChangesTexts):
    """Has a column of limited length."""

    def text(self, text: str) -> str:
        return text[:65_535]


@breaks("test_how_an_event_enters_the_surface_is_kept")
class ForgetsTheSurface(Rewrites):
    """Stores every operation as the default one."""

    def event(self, event: SessionEvent) -> SessionEvent:
        return changed_event(event, surface_op="append")


@breaks("test_the_sources_of_an_event_are_kept")
class TakesNoSourcesForNone(Rewrites):
    """Tests for truth where it should test for presence."""

    def event(self, event: SessionEvent) -> SessionEvent:
        return changed_event(event, source_event_seqs=event.source_event_seqs or None)


@breaks("test_batches_are_joined_in_order")
class PutsNewBatchesFirst(MemoryBackend):
    """Joins batches the wrong way round."""

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        old = self._medium.records.get(header.id, [header.line])[1:]
        await super().append_batch(header, events, materialized)
        self._medium.records[header.id] = [header.line, *(event.line for event in events), *old]


@breaks("test_sessions_do_not_mix")
class KeepsOneLog(MemoryBackend):
    """Stores the events of all sessions in the log of the first."""

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        await super().append_batch(header, events, materialized)
        first = next(iter(self._medium.records))
        if first != header.id:
            added = self._medium.records[header.id][-len(events) :]
            self._medium.records[first].extend(added)


@breaks("test_a_batch_is_taken_as_it_is_at_the_call")
class LooksAtTheBatchLater(CoordinatedPersistence):
    """Waits before it copies."""

    async def append(self, session_id: SessionId, events: Iterable[SessionEvent]) -> None:
        await asyncio.sleep(0)
        await super().append(session_id, events)


@breaks("test_every_header_field_comes_back")
class ForgetsLineage(Rewrites):
    """Has no column for the length of the seed."""

    def header(self, header: SessionHeader) -> SessionHeader:
        return changed_header(header, seed_length=None)


@breaks("test_absent_header_fields_stay_absent")
class FillsInADirectory(Rewrites):
    """Has a default for the working directory."""

    def header(self, header: SessionHeader) -> SessionHeader:
        return changed_header(header, cwd=header.cwd or "/")


@breaks("test_zero_in_a_header_is_not_absent")
class TakesZeroForAbsent(Rewrites):
    """Tests for truth where it should test for presence."""

    def header(self, header: SessionHeader) -> SessionHeader:
        return changed_header(header, seed_length=header.seed_length or None)
