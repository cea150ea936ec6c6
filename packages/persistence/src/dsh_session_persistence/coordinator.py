"""What every backend shares: order, cursors, write-behind, adoption, collisions, repair, disposal.

Owns the policy between a service's methods and a backend's primitives, once for all backends. Refuses storage.
A backend composes a coordinator and never subclasses one. Flow: call or event -> one operation at a time for an
id -> backend -> acknowledgement -> cursor. Source: the RFC on session persistence.
"""

from __future__ import annotations

import asyncio
import builtins
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from math import isfinite
from typing import Any, TypeVar

from dsh_session import (
    Session,
    SessionEvent,
    SessionHeader,
    SessionId,
    SessionStore,
    UnsupportedVersion,
)
from dsh_session.ids import parse_session_id
from dsh_session_persistence.backend import PersistenceBackend
from dsh_session_persistence.binding import bind
from dsh_session_persistence.errors import (
    ConcurrentWriter,
    CorruptSession,
    PersistenceUnavailable,
    SequenceMismatch,
    SessionExists,
    SessionIdCollision,
    SessionNotFound,
)
from dsh_session_persistence.medium import Medium
from dsh_session_persistence.recovery import plan_repair
from dsh_session_persistence.slots import Slot, Slots
from dsh_session_persistence.stored import StoredSession
from dsh_session_persistence.threads import Job
from dsh_session_persistence.write_behind import WriteBehind, running_loop

__all__ = ["PersistenceCoordinator"]

R = TypeVar("R")

_log = logging.getLogger("dsh_session_persistence")

_OPERATIONS_AT_ONCE = 64
_CANCELLED_WAIT_S = 1.0


class PersistenceCoordinator:
    """Makes one backend a complete persistence.

    Args:
        backend: The storage primitives.
        write_batch_max_delay_ms: Fixed window from the first pending event of a live session to its background
            write, in milliseconds.
        max_pending_bytes: Past this many pending bytes of a live session the background write starts at once.
        max_open_sessions: How many idle sessions may be owned at once; beyond, the longest idle are given up and
            taken again when they are used. Sessions in use are owned besides, as many as are worked on at once.

    Raises:
        ValueError: An option is no number, or out of range.
    """

    def __init__(
        self,
        backend: PersistenceBackend,
        *,
        write_batch_max_delay_ms: float = 200,
        max_pending_bytes: int = 8 * 1024 * 1024,
        max_open_sessions: int = 256,
    ) -> None:
        _check_number("write_batch_max_delay_ms", write_batch_max_delay_ms, least=0)
        _check_number("max_pending_bytes", max_pending_bytes, least=0)
        _check_number("max_open_sessions", max_open_sessions, least=1)
        self._backend = backend
        self._slots = Slots()
        self._medium = Medium(backend, self._slots)
        self._max_delay_s = write_batch_max_delay_ms / 1000
        self._max_pending_bytes = max_pending_bytes
        self._max_open_sessions = max_open_sessions
        self._live: dict[Session, WriteBehind] = {}
        self._stores: dict[SessionStore, Callable[[], None]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None  # of the latest operation
        self._room = asyncio.Semaphore(_OPERATIONS_AT_ONCE)
        self._closing: asyncio.Task[None] | None = None
        self._has_ended = False  # whether closing has come as far as the backend
        self._process: int | None = None  # where the first operation ran

    # ------------------------------------------------------------ the service's methods

    async def create(self, header: SessionHeader) -> None:
        """See `SessionPersistence.create`."""
        self._check_open()
        await self._run(header.id, lambda slot: self._create(slot, header))

    async def append(self, session_id: SessionId, events: Iterable[SessionEvent]) -> None:
        """See `SessionPersistence.append`."""
        self._check_open()
        session_id = parse_session_id(session_id)
        batch = tuple(events)
        if batch:
            await self._run(session_id, lambda slot: self._append(slot, batch))

    async def load(self, session_id: SessionId) -> StoredSession:
        """See `SessionPersistence.load`."""
        self._check_open()
        return await self._run(parse_session_id(session_id), self._load)

    async def read(self, session_id: SessionId) -> StoredSession:
        """See `SessionPersistence.read`."""
        self._check_open()
        self._check_process()
        stored = await self._backend.load_stored(parse_session_id(session_id))
        if stored is None:
            raise SessionNotFound(session_id)
        return StoredSession(header=stored.header, events=tuple(stored.events))

    async def list(self) -> builtins.list[SessionHeader]:
        """See `SessionPersistence.list`."""
        self._check_open()
        self._check_process()
        return await self._backend.list()

    def attach(self, store: SessionStore) -> None:
        """See `SessionPersistence.attach`."""
        self._check_open()
        if store not in self._stores:
            self._stores[store] = store.subscribe(self)
            for session in store.list():
                self.created(session)

    async def aclose(self) -> None:
        """See `SessionPersistence.aclose`."""
        self._check_process()
        closing = self._closing
        if closing is None or closing.cancelled():  # the end of a loop cancels what runs in it: close in this one
            for unsubscribe in self._stores.values():
                unsubscribe()
            self._stores.clear()
            closing = self._closing = asyncio.get_running_loop().create_task(self._close())
        elif closing.done():
            return
        await asyncio.shield(closing)

    # ------------------------------------------------------------ what a store tells (SessionListener)

    def created(self, session: Session) -> None:
        """A session is live: look its id up as soon as a loop runs. What comes of it surfaces at a flush."""
        live = self._live[session] = WriteBehind(
            session,
            self._write_in_background,
            max_delay_s=self._max_delay_s,
            max_pending_bytes=self._max_pending_bytes,
        )
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        self._in_background(live, lambda slot: bind(self._medium, slot, live))
        if session.events:
            live.look()

    def withdrawn(self, session: Session) -> None:
        """A session that was announced is no more: its id is as free as before."""
        live = self._live.pop(session, None)
        if live is not None and self._slots.peek(session.id) is not None:
            live.stop()
            self._in_background(live, lambda slot: self._forget(slot, live))

    def event(self, session: Session, event: SessionEvent) -> None:
        """An event was appended: it is pending from now on."""
        live = self._live.get(session)
        if live is None:
            return
        live.pending_bytes += len(event.line)
        if live.armed_in is not running_loop() or live.pending_bytes > self._max_pending_bytes:
            live.look()

    async def flush(self, session: Session) -> None:
        """Store everything that the session holds; returning is the acknowledgement.

        Raises:
            SessionIdCollision: The id belongs to another history.
            ConcurrentWriter: Another process or instance owns the session.
            CorruptSession: What is stored under the id cannot be taken over.
            StorageFailure: The medium failed; the events stay pending.
        """
        live = self._live.get(session)
        if live is None:
            return
        slot = self._slots.peek(session.id)
        if slot is not None and slot.is_ready(live):
            if slot.cursor != len(session.events):
                await self._store_directly(slot, live)
            return
        if self._is_stored(live):
            return
        live.settle()
        try:
            await self._run(session.id, lambda slot: self._drain(slot, live))
        except SessionIdCollision:
            live.reported = True
            raise

    async def released(self, session: Session) -> None:
        """A session leaves its store: store what is pending, then forget it and give up its lock."""
        live = self._live.get(session)
        if live is None:
            return
        await self.flush(session)
        live.stop()
        self._live.pop(session, None)  # what is appended from now on is not stored any more
        await self._run(session.id, lambda slot: self._forget(slot, live))

    # ------------------------------------------------------------ operations, each with its slot's lock held

    async def _create(self, slot: Slot, header: SessionHeader) -> None:
        if slot.header is not None or slot.live is not None:
            raise SessionExists(header.id)
        try:
            stored = await self._backend.load_stored(header.id)
        except (CorruptSession, UnsupportedVersion) as error:
            raise SessionExists(header.id) from error
        if stored is not None:
            raise SessionExists(header.id)
        slot.track(header, cursor=0, materialized=False)

    async def _append(self, slot: Slot, events: Sequence[SessionEvent]) -> None:
        if slot.live is not None:
            raise SessionIdCollision(slot.session_id, "a live session owns it and stores its own events")
        if slot.header is None:
            await self._take_over(slot)
        for index, event in enumerate(events):
            if event.seq != slot.cursor + index:
                raise SequenceMismatch(slot.cursor + index, event.seq, index)
        await self._medium.store(slot, events)

    async def _load(self, slot: Slot) -> StoredSession:
        if slot.live is None:
            return await self._take_over(slot)
        await self._drain(slot, slot.live)
        stored = await self._backend.load_stored(slot.session_id)
        if stored is None:
            raise SessionNotFound(slot.session_id)
        return StoredSession(header=stored.header, events=tuple(stored.events))

    async def _take_over(self, slot: Slot) -> StoredSession:
        """Own a stored session, repair it, and track it without a live session."""
        stored = await self._medium.take(slot)
        if stored is None:
            raise SessionNotFound(slot.session_id)
        repair = await asyncio.to_thread(plan_repair, stored)
        if repair:
            await self._medium.repair(slot, stored.header, repair.torn_marker, repair.closers)
        events = (*stored.events, *repair.closers)
        slot.track(stored.header, cursor=len(events), materialized=True, loaded=events)
        return StoredSession(header=stored.header, events=events)

    async def _drain(self, slot: Slot, live: WriteBehind) -> None:
        """Bind the session if it is not, then store everything behind the cursor."""
        if self._live.get(live.session) is not live:
            return  # it was released before it was this operation's turn
        try:
            await self._store_pending(slot, live)
        except SessionExists:  # somebody has stored it since it was looked up: look again
            await self._store_pending(slot, live)

    async def _store_pending(self, slot: Slot, live: WriteBehind) -> None:
        await bind(self._medium, slot, live)
        pending = live.session.events[slot.cursor :]
        if pending:
            await self._medium.store(slot, pending)

    async def _forget(self, slot: Slot, live: WriteBehind) -> None:
        if slot.live is live:
            slot.forget()
            await self._medium.give_up(slot)

    async def _give_up_idle(self, slot: Slot) -> None:
        """Release the lock of an idle session; one without a live session is forgotten with it."""
        if slot.users > 1:  # somebody else waits for it: not idle
            return
        if slot.live is None:
            slot.forget()
        await self._medium.give_up(slot)

    # ------------------------------------------------------------ how operations run

    def _is_stored(self, live: WriteBehind) -> bool:
        if live.displaced and not live.session.events:
            return True  # another session has the id, and this one has nothing to store
        slot = self._slots.peek(live.session.id)
        return slot is not None and slot.live is live and slot.cursor == len(live.session.events)

    async def _run(self, session_id: SessionId, operation: Callable[[Slot], Awaitable[R]]) -> R:
        """Run one operation on an id after those before it; a cancelled waiter does not cancel it."""
        return await _shielded(self._spawn(session_id, operation))

    def _spawn(
        self,
        session_id: SessionId,
        operation: Callable[[Slot], Awaitable[R]],
        *,
        makes_room: bool = False,
    ) -> asyncio.Task[R]:
        self._check_process()
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._room = asyncio.Semaphore(_OPERATIONS_AT_ONCE)  # one that was waited for belongs to its loop
            self._tasks = {task for task in self._tasks if not task.get_loop().is_closed()}
        slot = self._slots.enter(session_id, loop)
        task = loop.create_task(self._serialized(slot, operation if makes_room else self._in_room(operation)))
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._settled(done, slot))
        return task

    async def _serialized(self, slot: Slot, operation: Callable[[Slot], Awaitable[R]]) -> R:
        async with slot.lock:
            return await operation(slot)

    def _in_room(self, operation: Callable[[Slot], Awaitable[R]]) -> Callable[[Slot], Awaitable[R]]:
        """Have an operation, once it is its turn, wait until not too many others run."""
        room = self._room

        async def run(slot: Slot) -> R:
            async with room:
                return await operation(slot)

        return run

    async def _store_directly(self, slot: Slot, live: WriteBehind) -> None:
        """Store what is pending of a session that is ready: the way of most flushes, without a task in between.

        The write is on its way before anything waits for it. If its waiter is cancelled, a task sees to the rest;
        the waiter is let go when that is done, or after a while, so that a loop that is about to close does not
        close in the middle.
        """
        self._check_process()
        self._slots.enter(slot.session_id, asyncio.get_running_loop())
        await slot.lock.acquire()  # it is free: this does not wait
        try:
            pending = live.session.events[slot.cursor :]
            storing = self._medium.begin(slot, pending)
        except BaseException:
            self._leave(slot)
            raise
        live.settle()
        self._slots.mark_owned(slot)
        if not isinstance(storing, Job):
            await _shielded(self._hand_over(slot, len(pending), storing))
            return
        try:
            await storing.ended()
        except asyncio.CancelledError:
            await self._wait_a_while(slot, len(pending), storing)
            raise
        try:
            await self._medium.finish(slot, len(pending), storing)
        finally:
            self._leave(slot)

    async def _wait_a_while(self, slot: Slot, count: int, storing: Job[None]) -> None:
        """Have the end of a write seen to, and wait for it as long as a cancelled waiter may be kept."""
        over = asyncio.get_running_loop().create_future()

        def is_over(task: asyncio.Task[None]) -> None:
            _log_abandoned(task)
            if not over.done():
                over.set_result(None)

        def see_to_it() -> None:
            self._hand_over(slot, count, storing).add_done_callback(is_over)

        storing.call_on_end(see_to_it)
        await asyncio.wait([over], timeout=_CANCELLED_WAIT_S)

    def _hand_over(self, slot: Slot, count: int, storing: Awaitable[None]) -> asyncio.Task[None]:
        """Have a task finish what was begun with the slot's lock held."""

        def settled(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if task.cancelled():  # perhaps before it had begun
                slot.forget()
                if isinstance(storing, Coroutine):
                    storing.close()
            self._leave(slot)

        task = asyncio.get_running_loop().create_task(self._medium.finish(slot, count, storing))
        self._tasks.add(task)
        task.add_done_callback(settled)
        return task

    def _leave(self, slot: Slot) -> None:
        slot.lock.release()
        self._vacate(slot)

    def _settled(self, task: asyncio.Task[Any], slot: Slot) -> None:
        self._tasks.discard(task)
        self._vacate(slot)

    def _vacate(self, slot: Slot) -> None:
        """Count an operation as over, and give up what is idle by now."""
        slot.users -= 1
        if slot.live is None:
            self._slots.drop_if_vacant(slot)
        if self._slots.owned_count > self._max_open_sessions and not self._has_ended:
            for idle in self._slots.idle_beyond(self._max_open_sessions):
                released = self._spawn(idle.session_id, self._give_up_idle, makes_room=True)
                released.add_done_callback(_log_failure)

    def _in_background(self, live: WriteBehind, operation: Callable[[Slot], Awaitable[None]]) -> None:
        self._spawn(live.session.id, operation).add_done_callback(_log_failure)

    def _write_in_background(self, live: WriteBehind) -> None:
        if self._process in {None, os.getpid()}:  # in another process the flush says what is wrong
            self._in_background(live, lambda slot: self._drain(slot, live))

    def _check_open(self) -> None:
        if self._closing is not None:
            raise PersistenceUnavailable("this persistence is closed")

    def _check_process(self) -> None:
        """Refuse to go on in a fork: its threads are gone, and files, locks and connections are the parent's."""
        process = os.getpid()
        if self._process is None:
            self._process = process
        elif self._process != process:
            raise PersistenceUnavailable(f"this persistence belongs to process {self._process}; open another")

    async def _close(self) -> None:
        """Drain all, wait for everything that runs, close the backend; report all that failed together."""
        failures = [error for live in list(self._live.values()) if (error := await self._last_drain(live))]
        while running := [task for task in self._tasks if not task.get_loop().is_closed()]:
            await asyncio.wait(running)
        self._live.clear()
        try:
            if not self._has_ended:
                self._has_ended = True
                await self._backend.close()
        except Exception as error:  # noqa: BLE001 - whatever closing raised is reported beside the drains
            failures.append(error)
        if failures:
            raise ExceptionGroup("not everything could be stored and closed", failures)

    async def _last_drain(self, live: WriteBehind) -> Exception | None:
        live.stop()
        if self._is_stored(live):
            return None
        try:
            await self._run(live.session.id, lambda slot: self._drain(slot, live))
        except SessionIdCollision as error:
            return None if live.reported else error
        except Exception as error:  # noqa: BLE001 - one session's failure does not hide another's
            return error
        return None


def _check_number(name: str, value: object, *, least: int) -> None:
    """Refuse an option at the line that gives it, rather than in a callback that nobody waits for."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value) or value < least:
        msg = f"{name} is a finite number of at least {least}, not {value!r}"
        raise ValueError(msg)


async def _shielded(task: asyncio.Task[R]) -> R:
    """Wait for a task; a cancelled waiter does not cancel it."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_log_abandoned)
        raise


def _log_failure(task: asyncio.Task[Any]) -> None:
    """Log what a background operation raised; the next flush tries again and raises what is still wrong."""
    if not task.cancelled() and (error := task.exception()) is not None:
        expected = isinstance(error, (SessionIdCollision, ConcurrentWriter))
        _log.log(logging.WARNING if expected else logging.ERROR, "background storage failed: %s", error)


def _log_abandoned(task: asyncio.Task[Any]) -> None:
    """Log what an operation raised whose caller was cancelled."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("an operation whose caller was cancelled failed: %s", error)
