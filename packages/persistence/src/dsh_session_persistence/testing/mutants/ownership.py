"""Mutants that let two writers in, or lock out those who may come in; ids that are mixed; ends that are none."""

from __future__ import annotations

import asyncio
import contextlib
import posixpath
import unicodedata
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from dsh_session import InvalidSessionId, SessionEvent, SessionHeader, SessionId
from dsh_session_persistence.coordinated import CoordinatedPersistence
from dsh_session_persistence.coordinator import PersistenceCoordinator
from dsh_session_persistence.errors import ConcurrentWriter, PersistenceUnavailable
from dsh_session_persistence.memory import MemoryBackend
from dsh_session_persistence.recovery import plan_repair
from dsh_session_persistence.service import SessionPersistence
from dsh_session_persistence.slots import Slot
from dsh_session_persistence.stored import StoredSession
from dsh_session_persistence.testing.faults import abandon, backend_of
from dsh_session_persistence.testing.mutants.registry import MutantStorage, breaks, enlist

__all__: list[str] = []


@breaks("test_a_loaded_session_belongs_to_its_instance", "test_a_session_that_belongs_elsewhere_is_not_adopted")
class NeverLocks(MemoryBackend):
    """Lets everybody in."""

    async def acquire(self, session_id: SessionId) -> None:
        """Take nothing."""


@breaks("test_a_session_belongs_to_who_appended_first")
class LocksWhatIsLoaded(MemoryBackend):
    """Creates without a lock."""

    async def append_batch(self, header: SessionHeader, events: Sequence[SessionEvent], materialized: bool) -> None:
        await super().append_batch(header, events, materialized)
        if not materialized:
            del self._medium.owners[header.id]


@breaks("test_appending_to_a_session_that_belongs_elsewhere_is_refused")
class AppendsWithoutOwning(PersistenceCoordinator):
    """Relies on the tail alone."""

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        stored = await self._backend.load_stored(slot.session_id) if slot.header is None else None
        if stored is None:
            await super()._append(slot, events)
        else:
            await self._backend.append_batch(stored.header, events, True)  # noqa: FBT003 - the seam's signature


@breaks("test_a_refused_load_repairs_nothing")
class RepairsBeforeItOwns(PersistenceCoordinator):
    """Asks for the lock after the work."""

    async def _take_over(self, slot: Slot) -> StoredSession:
        stored = await self._backend.load_stored(slot.session_id)
        if stored is not None and (repair := plan_repair(stored)):
            await self._backend.commit_repair(stored.header, repair.torn_marker, repair.closers)
        return await super()._take_over(slot)


@breaks("test_readers_are_free_beside_a_writer")
class ReadsUnderALock(PersistenceCoordinator):
    """Waits for its turn to look."""

    async def read(self, session_id: SessionId) -> StoredSession:
        await self._backend.acquire(session_id)
        stored = await super().read(session_id)
        await self._backend.release(session_id)
        return stored


@breaks("test_reading_takes_no_ownership")
class KeepsWhatItRead(PersistenceCoordinator):
    """Takes a lock by reading, if nobody holds it."""

    async def read(self, session_id: SessionId) -> StoredSession:
        with contextlib.suppress(ConcurrentWriter):
            await self._backend.acquire(session_id)
        return await super().read(session_id)


@breaks("test_creating_takes_no_ownership_of_other_sessions")
class LocksTheWholeMedium(MemoryBackend):
    """Has one lock for all."""

    async def acquire(self, session_id: SessionId) -> None:
        if any(owner is not self for owner in self._medium.owners.values()):
            raise ConcurrentWriter(session_id)
        await super().acquire(session_id)


@breaks("test_closing_gives_ownership_up")
class KeepsItsLocks(MemoryBackend):
    """Closes and leaves the door locked."""

    async def close(self) -> None:
        """Give up nothing."""


@breaks("test_a_crash_gives_ownership_up")
class LeavesLockFiles(MutantStorage):
    """Has locks that outlive their process."""

    def crash(self, instance: SessionPersistence) -> None:
        abandon(instance)


@breaks("test_a_search_for_a_missing_session_owns_nothing")
class LocksWhatIsMissing(MemoryBackend):
    """Makes a lock file for every id that it is asked for."""

    async def acquire(self, session_id: SessionId) -> None:
        self._check_owner(session_id)
        self._medium.owners[session_id] = self

    async def release(self, session_id: SessionId) -> None:
        """Give up nothing."""


@breaks("test_a_stopped_writer_can_load_and_go_on")
class RemembersItsFirstLoad(PersistenceCoordinator):
    """Answers from memory."""

    async def _load(self, slot: Slot) -> StoredSession:
        seen: dict[SessionId, StoredSession] = self.__dict__.setdefault("seen", {})
        if slot.session_id not in seen:
            seen[slot.session_id] = await super()._load(slot)
        return seen[slot.session_id]


@breaks("test_an_idle_session_is_given_up_when_too_many_are_open")
class OpensWithoutLimit(PersistenceCoordinator):
    """Ignores how many sessions it may own."""

    def __init__(self, backend: MemoryBackend, **options: Any) -> None:
        super().__init__(backend, **{**options, "max_open_sessions": 1_000_000})


# ---------------------------------------------------------------- ids


class FoldedRecords(dict[SessionId, list[bytes]]):
    """Records under keys that are not the ids."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        super().__init__()
        self._fold = fold

    def _key(self, session_id: Any) -> SessionId:
        return SessionId(self._fold(session_id))

    def __getitem__(self, key: SessionId) -> list[bytes]:
        return super().__getitem__(self._key(key))

    def __setitem__(self, key: SessionId, value: list[bytes]) -> None:
        super().__setitem__(self._key(key), value)

    def __contains__(self, key: object) -> bool:
        return super().__contains__(self._key(key))

    def get(self, key: SessionId, default: Any = None) -> Any:
        return super().get(self._key(key), default)


class FoldingStorage(MutantStorage):
    """A medium whose keys mix ids."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        super().__init__()
        self.medium.records = FoldedRecords(fold)


def within_root(text: str) -> str:
    """Return a path as a file system resolves it."""
    return posixpath.normpath(posixpath.join("/", text))


def as_number(text: str) -> str:
    """Return a key as a column of numeric affinity stores it."""
    return str(int(text)) if text.isdecimal() else text


FOLDS: dict[str, Callable[[str], str]] = {
    "test_ids_that_look_like_paths_stay_within_the_medium": within_root,
    "test_ids_with_nul_are_stored_apart_or_refused": lambda text: text.split("\0")[0],
    "test_ids_with_control_characters_are_stored_apart_or_refused": str.strip,
    "test_ids_of_emoji_are_stored_apart_or_refused": lambda text: unicodedata.normalize("NFKC", text),
    "test_ids_of_255_characters_and_more_are_stored_apart_or_refused": lambda text: text[:255],
    "test_ids_that_differ_only_in_case_are_stored_apart_or_refused": str.casefold,
    "test_ids_that_look_like_an_encoding_are_stored_apart_or_refused": lambda text: text.replace("/", "~002F"),
    "test_ids_that_mean_something_to_a_system_are_stored_apart_or_refused": as_number,
}


def folding(fold: Callable[[str], str]) -> Callable[[], FoldingStorage]:
    """Return a factory of storages that mix ids in one way."""
    return lambda: FoldingStorage(fold)


for _clause, _fold in FOLDS.items():
    enlist(folding(_fold), _clause)


@breaks("test_an_id_that_is_refused_leaves_nothing")
class RefusesTooLate(CoordinatedPersistence):
    """Finds out that an id is impossible after it began to write."""

    async def create(self, header: SessionHeader) -> None:
        await super().create(header)
        if "\0" in header.id:
            backend: Any = backend_of(self)
            backend._medium.records[header.id] = [header.line, header.line]
            raise InvalidSessionId(header.id, "impossible")


# ---------------------------------------------------------------- opening and closing


@breaks("test_an_instance_is_made_without_an_event_loop")
class WantsALoop(CoordinatedPersistence):
    """Asks for the running loop when it is made."""

    def __init__(self, backend: MemoryBackend, **options: Any) -> None:
        asyncio.get_running_loop()
        super().__init__(backend, **options)


@breaks("test_an_instance_closes_at_the_end_of_its_block")
class StaysOpen(CoordinatedPersistence):
    """Leaves its block as it entered it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close nothing."""


@breaks("test_closing_twice_does_nothing")
class ClosesOnce(PersistenceCoordinator):
    """Takes a second close for a mistake."""

    async def aclose(self) -> None:
        if self._closing is not None:
            raise PersistenceUnavailable("closed")
        await super().aclose()


@breaks(
    "test_a_closed_instance_writes_nothing",
    "test_a_closed_instance_reads_nothing",
    "test_a_closed_instance_attaches_to_nothing",
)
class ForgetsThatItIsClosed(PersistenceCoordinator):
    """Answers for ever."""

    def _check_open(self) -> None:
        """Let everything through."""
