"""The agent: who asks for turns, and in what order they run.

Owns the one driver that runs turns one after another, and what callers may ask for at any time. Refuses to know
what happens inside a turn. Flow: `prompt` -> inbox -> driver -> `Turn` -> reason -> `prompt` returns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from dsh_agent.errors import AgentClosed
from dsh_agent.inbox import Aside, Content, Inbox, Prompt, read_content
from dsh_agent.interrupt import Interrupt
from dsh_agent.journal import Journal
from dsh_agent.scope import Scope, Setup
from dsh_agent.turn import Turn, aside_event
from dsh_session import (
    Completed,
    InjectionTrigger,
    Reason,
    Session,
    SessionEvent,
    SessionId,
    SessionStore,
    Source,
    TurnEnd,
    TurnStart,
)

__all__ = ["Agent"]

_USER = "user"


class Agent:
    """A session with a model and tools. `Agents` makes one.

    Attributes:
        session: The session; read it freely, it is the whole state.
        setup: The model, tools, hooks and limits.
    """

    def __init__(
        self,
        store: SessionStore,
        session: Session,
        setup: Setup,
        on_error: Callable[[BaseException], None] | None = None,
    ) -> None:
        self._store = store
        self._journal = Journal(store, session, on_error)
        self._inbox = Inbox()
        self._driver: asyncio.Task[None] | None = None
        self._scope: Scope | None = None
        self._batch: list[Prompt] = []
        self._subscriptions: list[Callable[[], None]] = []
        self._has_unflushed = False
        self._is_closed = False
        self.session = session
        self.setup = setup

    @property
    def session_id(self) -> SessionId:
        """The id of the session."""
        return self.session.id

    @property
    def is_running(self) -> bool:
        """Whether a turn runs, or one is about to."""
        return self._driver is not None and not self._driver.done()

    async def prompt(self, content: Content, *, source: Source | None = None) -> Reason:
        """Run a turn on a prompt to its end, and return why it ended.

        While a turn runs, a prompt waits for the next one; all that wait enter it together, and each call returns
        the reason of the turn that its content entered. A call that is cancelled while its prompt waits takes the
        prompt back; once the turn runs for nobody else, cancelling the call aborts the turn.

        Args:
            content: A text, or blocks.
            source: Who it comes from; the user if None.

        Returns:
            The reason as it stands in `turn/end`, for instance `Completed()`; the log is flushed by then.

        Raises:
            AgentClosed: The agent is closed, or was before the prompt's turn began.
            InvalidEvent, NotJsonSerializable: The content cannot enter a log.
        """
        self._check_open()
        source = source or Source(kind=_USER)
        outcome: asyncio.Future[Reason] = asyncio.get_running_loop().create_future()
        prompt = Prompt(content=read_content(content, source), source=source, outcome=outcome)
        self._inbox.prompts.append(prompt)
        self._wake()
        try:
            return await outcome
        except asyncio.CancelledError:
            self._withdraw(prompt)
            raise

    def steer(self, content: Content, *, source: Source | None = None) -> None:
        """Say something to the running turn; it enters between two steps, and the turn goes on for it.

        Without a running turn it is a prompt that nobody waits for.

        Args:
            content: A text, or blocks.
            source: Who it comes from; the user if None.

        Raises:
            AgentClosed: The agent is closed.
            InvalidEvent, NotJsonSerializable: The content cannot enter a log.
        """
        self._check_open()
        source = source or Source(kind=_USER)
        snapshot = read_content(content, source)
        if self.is_running:
            self._inbox.asides.append(Aside(kind="steer", content=snapshot, source=source))
            return
        self._inbox.prompts.append(Prompt(content=snapshot, source=source))
        self._wake()

    def inject(self, content: Content, source: Source) -> None:
        """Add context to the session, without asking the model for anything.

        While a turn is open it enters that turn, between two steps. Otherwise it gets a turn of its own, with the
        trigger `injection` and no step, which is in the log when this returns.

        Args:
            content: A text, or blocks.
            source: Where it comes from, for instance `Source(kind="plugin", plugin="clock")`.

        Raises:
            AgentClosed: The agent is closed.
            InvalidEvent, NotJsonSerializable: The content cannot enter a log.
        """
        self._check_open()
        aside = Aside(kind="inject", content=read_content(content, source), source=source)
        if self.is_running:
            self._inbox.asides.append(aside)
            return
        self._enter_alone(aside)
        try:
            self._wake()
        except RuntimeError:  # no loop runs: the next turn's flush covers it
            return

    def abort(self, reason: str | None = None) -> bool:
        """End the running turn; what it waits for is cancelled. Prompts that wait get their turn afterwards.

        Returns:
            Whether there was a turn to end.
        """
        if self._scope is None or self.session.open_turn is None:
            return False
        self._scope.interrupt.request("aborted", reason)
        return True

    def cancel_call(self, call_id: str, reason: str | None = None) -> bool:
        """Cancel one tool call that runs; the model sees an error result and the turn goes on.

        Returns:
            Whether the call ran.
        """
        cancelled = None if self._scope is None else self._scope.running.get(call_id)
        if cancelled is None or cancelled.done():
            return False
        cancelled.set_result(reason)
        return True

    def subscribe(self, listener: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Tell a function of every event of this session, after it was appended.

        A listener that raises is reported to `on_error` and changes nothing.

        Returns:
            A function that ends the subscription.
        """
        unsubscribe = self._store.subscribe(_Subscriber(self._journal, listener))
        self._subscriptions.append(unsubscribe)
        return unsubscribe

    async def wait_idle(self) -> None:
        """Wait until no turn runs and none waits."""
        while self._driver is not None and not self._driver.done():
            await asyncio.wait({self._driver})

    async def aclose(self) -> None:
        """End the running turn as `disposed`, refuse what waits, store everything and detach the session.

        Closing again does nothing, unless storing failed: then it is tried again.

        Raises:
            ExceptionGroup: What could not be stored; the session stays attached.
        """
        if not self._is_closed:
            self._is_closed = True
            if self._scope is not None:
                self._scope.interrupt.request("disposed")
        await self.wait_idle()
        await self._journal.release()
        for unsubscribe in self._subscriptions:
            unsubscribe()
        self._subscriptions.clear()

    async def __aenter__(self) -> Self:
        """Return the agent itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the agent."""
        await self.aclose()

    # ------------------------------------------------------------ the driver

    def _wake(self) -> None:
        """Start the driver unless it runs."""
        if not self.is_running:
            loop = asyncio.get_running_loop()
            self._driver = loop.create_task(self._drive(), name=f"agent of session {self.session.id}")

    async def _drive(self) -> None:
        """Run turns until nothing waits. Nothing is awaited between the last look and the end."""
        while True:
            self._enter_leftovers()
            if self._has_unflushed:
                self._has_unflushed = False
                await self._journal.flush()
                continue
            if self._is_closed:
                self._refuse_waiting()
            if not self._inbox.prompts:
                return
            await self._run_turn(self._inbox.take_prompts())

    async def _run_turn(self, batch: list[Prompt]) -> None:
        self._batch = batch
        self._scope = Scope(
            setup=self.setup,
            journal=self._journal,
            inbox=self._inbox,
            interrupt=Interrupt(self.setup.limits.stop_grace_s),
            turn=self.session.last_turn + 1,
        )
        waiting = [prompt.outcome for prompt in batch if prompt.outcome is not None]
        try:
            reason = await Turn(self._scope, batch).run()
        except asyncio.CancelledError:
            for outcome in waiting:
                outcome.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - the log could not be balanced: whoever waits must hear of it
            self._journal.report(error)
            for outcome in waiting:
                if not outcome.done():
                    outcome.set_exception(error)
        else:
            for outcome in waiting:
                if not outcome.done():
                    outcome.set_result(reason)
        finally:
            self._scope = None
            self._batch = []

    def _enter_leftovers(self) -> None:
        """Give what arrived after the end of a turn a place: a turn of its own, or the next turn's prompts."""
        while self._inbox.asides:
            aside = self._inbox.asides.popleft()
            if aside.kind == "inject":
                self._enter_alone(aside)
            else:
                self._inbox.prompts.append(Prompt(content=aside.content, source=aside.source))

    def _enter_alone(self, aside: Aside) -> None:
        turn = self.session.last_turn + 1
        self._journal.append(TurnStart(turn=turn, trigger=InjectionTrigger(source=aside.source)))
        self._journal.append(*aside_event(aside, turn))
        self._journal.append(TurnEnd(turn=turn, reason=Completed()))
        self._has_unflushed = True

    def _withdraw(self, prompt: Prompt) -> None:
        """Take back a prompt that waits; abort a turn that now runs for nobody."""
        if prompt in self._inbox.prompts:
            self._inbox.prompts.remove(prompt)
        elif prompt in self._batch and all(entry.outcome and entry.outcome.cancelled() for entry in self._batch):
            self.abort("the caller was cancelled")

    def _refuse_waiting(self) -> None:
        for prompt in self._inbox.take_prompts():
            error = AgentClosed(self.session.id)
            if prompt.outcome is None:
                self._journal.report(error)
            elif not prompt.outcome.done():
                prompt.outcome.set_exception(error)

    def _check_open(self) -> None:
        if self._is_closed:
            raise AgentClosed(self.session.id)


class _Subscriber:
    """Passes the events of one session on."""

    def __init__(self, journal: Journal, listener: Callable[[SessionEvent], None]) -> None:
        self._journal = journal
        self._listener = listener

    def event(self, session: Session, event: SessionEvent) -> None:
        """See `dsh_session.SessionListener.event`."""
        if session is not self._journal.session:
            return
        try:
            self._listener(event)
        except Exception as error:  # noqa: BLE001 - a listener is foreign code: it cannot undo an append
            self._journal.report(error)
