"""The store: the live sessions of a process, and those who listen to them.

Owns registration, forks, notification and the durability checkpoint. Stores nothing itself.
Flow: `create` or `fork` -> `created` -> events -> `event` -> `flush` (awaited) -> `release`.
"""

import ntpath
import posixpath
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress

from dsh_session.errors import DuplicateSession, InvalidCwd, InvalidHeader, InvalidSeed, NotAttached
from dsh_session.event import SessionEvent
from dsh_session.header import SessionHeader
from dsh_session.ids import new_session_id, parse_session_id
from dsh_session.listener import LOG, Subscription, await_all, call, withdraw
from dsh_session.repair import interrupted_turn_closers
from dsh_session.session import Clock, Session, wall_clock


class _Attached:
    """A live session's place in the store: who is told of its events, and in which order."""

    __slots__ = ("failures", "interruption", "is_telling", "session", "store", "waiting")

    def __init__(self, store: "SessionStore", session: Session) -> None:
        self.store = store
        self.session = session
        self.failures: list[Exception] = []
        self.interruption: BaseException | None = None
        self.waiting: deque[SessionEvent] = deque()  # appended while others are told of an earlier event
        self.is_telling = True  # what a listener appends in `created` is told after all have been told of it

    def tell(self, session: Session, event: SessionEvent) -> None:
        """Tell of an event, in the order of the log, also when a listener appends while it is told."""
        if self.is_telling:
            self.waiting.append(event)
            return
        self.is_telling = True
        try:
            for hear in self.store._hearing:  # noqa: SLF001 # those of this moment
                try:
                    hear(session, event)
                except BaseException as error:  # noqa: BLE001 # once everybody has been told
                    self._failed(event, error)
            if self.waiting or self.interruption is not None:
                self.go_on()
        finally:
            self.is_telling = False

    def go_on(self) -> None:
        """Tell what waits; then raise what interrupted it."""
        while self.waiting:
            event = self.waiting.popleft()
            for hear in self.store._hearing:  # noqa: SLF001 # as above
                try:
                    hear(self.session, event)
                except BaseException as error:  # noqa: BLE001 # as above
                    self._failed(event, error)
        self.is_telling = False
        interruption, self.interruption = self.interruption, None
        if interruption is not None:
            raise interruption

    def _failed(self, event: SessionEvent, error: BaseException) -> None:
        """Keep a failure for the next flush, and an interruption until everybody has been told."""
        if isinstance(error, Exception):
            self.failures.append(error)
            with suppress(Exception):  # no handler of a log's keeps the others from being told
                LOG.exception("a listener failed on %s of session %r", event.type, self.session.id)
        elif self.interruption is None:
            self.interruption = error


class SessionStore:
    """The live sessions of a process.

    Construction opens nothing and needs no event loop.

    Args:
        clock: Gives the time in milliseconds since the Unix epoch; the system's clock unless given.

    Example:
        >>> store = SessionStore()
        >>> session = store.create(cwd="/project")
        >>> store.get(session.id) is session
        True
    """

    def __init__(self, *, clock: Clock = wall_clock) -> None:
        self._clock = clock
        self._attached: dict[str, _Attached] = {}
        self._subscriptions: tuple[Subscription, ...] = ()
        self._hearing: tuple[Callable[[Session, SessionEvent], None], ...] = ()  # the listeners' `event` methods

    def create(
        self,
        *,
        id: str | None = None,  # noqa: A002 # the name that the header has
        cwd: str | None = None,
        seed: Iterable[SessionEvent] | None = None,
        parent_session: str | None = None,
        seed_length: int | None = None,
        created_at: int | None = None,
        header: SessionHeader | None = None,
    ) -> Session:
        """Create a session, or bring a stored one back to life.

        Args:
            id: Its id; a UUID unless given.
            cwd: The working folder. It must be absolute (POSIX or Windows) unless a seed or a header is given:
                what was stored is carried as it is.
            seed: The events it begins with.
            parent_session: The session it comes from.
            seed_length: How many events it took over from there.
            created_at: Milliseconds since the Unix epoch; now unless given.
            header: All of the above at once, as it was stored.

        Raises:
            DuplicateSession: The id is live in this store.
            InvalidSessionId, InvalidCwd, InvalidHeader: A field is not usable.
            InvalidSeed: The seed is no log.
            Exception: Whatever a listener's `created` raises; the session is then not registered.
        """
        fields = (id, cwd, parent_session, seed_length, created_at)
        if header is not None and any(field is not None for field in fields):
            raise InvalidHeader("give either a header or its fields")
        if header is None:
            if cwd is not None and seed is None and not _is_absolute(cwd):
                raise InvalidCwd(cwd)
            header = SessionHeader(
                id=new_session_id() if id is None else parse_session_id(id),
                created_at=self._clock() if created_at is None else created_at,
                cwd=cwd,
                parent_session=parent_session,
                seed_length=seed_length,
            )
        if header.id in self._attached:
            raise DuplicateSession(header.id)
        return self._attach(Session(header, seed=() if seed is None else seed, clock=self._clock))

    def fork(
        self,
        session: Session,
        *,
        upto: int | None = None,
        id: str | None = None,  # noqa: A002 # as in `create`
    ) -> Session:
        """Create a session from the beginning of another one, with its lineage in the header.

        Args:
            session: The session to fork; it is not changed.
            upto: The seq of the last event to take over, inclusive; the whole log unless given. A turn that is
                open there is closed in the child; the closers do not count in `seed_length`.
            id: The child's id; a UUID unless given.

        Raises:
            InvalidSeed: The log has no event `upto`.
            DuplicateSession, InvalidSessionId: As `create`.
        """
        if upto is not None and not (type(upto) is int and 0 <= upto < len(session.events)):
            reason = f"upto={upto!r} names no event; the log has {len(session.events)}"
            raise InvalidSeed(-1 if type(upto) is not int else upto, reason)
        seed = session.events[:] if upto is None else session.events[: upto + 1]
        taken = len(seed)
        seed.extend(interrupted_turn_closers(seed))
        return self.create(
            id=id,
            cwd=session.header.cwd,
            seed=seed,
            parent_session=session.id,
            seed_length=taken,
        )

    def get(self, session_id: str) -> Session | None:
        """Look up a live session; None if there is none."""
        attached = self._attached.get(session_id)
        return None if attached is None else attached.session

    def list(self) -> "list[Session]":
        """List the live sessions, in the order of their creation."""
        return [attached.session for attached in self._attached.values()]

    def subscribe(self, listener: object) -> Callable[[], None]:
        """Tell a listener of everything that happens from now on.

        Args:
            listener: An object with any of the methods of `SessionListener`. Sessions that exist already are
                not announced; `list` has them.

        Returns:
            A function that ends the subscription; calling it again does nothing.
        """
        subscription = Subscription(listener)
        self._listen((*self._subscriptions, subscription))

        def unsubscribe() -> None:
            self._listen(tuple(kept for kept in self._subscriptions if kept is not subscription))

        return unsubscribe

    def _listen(self, subscriptions: tuple[Subscription, ...]) -> None:
        self._subscriptions = subscriptions
        self._hearing = tuple(each.event for each in subscriptions if each.event is not None)

    async def flush(self, session: Session) -> None:
        """Wait until every listener has made the session durable. Every listener runs.

        Raises:
            ExceptionGroup: Failures of this flush, and of notifications since the last one, together.
            NotAttached: The session is not live in this store.
        """
        attached = self._find(session)
        failures = await await_all(self._subscriptions, "flush", session)
        if attached.failures:
            failures = attached.failures + failures
            attached.failures = []
        if failures:
            raise ExceptionGroup(f"flush of session {session.id!r} failed", failures)

    async def release(self, session: Session) -> None:
        """Flush a session, then detach it: listeners hear no more of it, and its id is free.

        Raises:
            ExceptionGroup: The flush failed, and the session is still attached; or a listener failed to let go,
                and it is detached.
            NotAttached: The session is not live in this store.
        """
        await self.flush(session)
        attached = self._find(session)
        try:
            failures = await await_all(self._subscriptions, "released", session)
        finally:
            self._detach(attached)
        failures = attached.failures + failures
        if failures:
            raise ExceptionGroup(f"release of session {session.id!r} failed", failures)

    def _find(self, session: Session) -> _Attached:
        attached = self._attached.get(session.id)
        if attached is None or attached.session is not session:
            raise NotAttached(session.id)
        return attached

    def _attach(self, session: Session) -> Session:
        attached = self._attached[session.id] = _Attached(self, session)
        session._on_event = attached.tell  # noqa: SLF001 # the store's end of the wire
        told: list[object] = []
        try:
            for subscription in self._subscriptions:
                call(subscription.listener, "created", session)
                told.append(subscription.listener)
        except BaseException:
            self._detach(attached)
            for listener in reversed(told):
                withdraw(listener, session)
            raise
        attached.go_on()
        return session

    def _detach(self, attached: _Attached) -> None:
        session = attached.session
        session._on_event = None  # noqa: SLF001 # as above
        if self._attached.get(session.id) is attached:
            del self._attached[session.id]


def _is_absolute(cwd: object) -> bool:
    if not isinstance(cwd, str):
        return False
    drive, rest = ntpath.splitdrive(cwd)
    return posixpath.isabs(cwd) or (bool(drive) and rest[:1] in {"\\", "/"}) or (drive[:2] == "\\\\" and not rest)
