"""The agent, as its callers see it.

Owns what callers may ask for at any time. Refuses to run turns: its driver does.
Flow: `prompt` -> inbox -> driver -> turn -> reason -> `prompt` returns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from dsh_agent.driver import Driver
from dsh_agent.errors import AgentClosed
from dsh_agent.inbox import Aside, Content, Prompt, read_content
from dsh_agent.journal import Journal
from dsh_agent.scope import Setup
from dsh_session import (
    Reason,
    Session,
    SessionEvent,
    SessionId,
    SessionStore,
    Source,
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
        self._driver = Driver(self._journal, setup)
        self._subscriptions: list[Callable[[], None]] = []
        self.session = session
        self.setup = setup

    @property
    def session_id(self) -> SessionId:
        """The id of the session."""
        return self.session.id

    @property
    def is_running(self) -> bool:
        """Whether a turn runs, or one is about to."""
        return self._driver.is_running

    async def prompt(self, content: Content, *, source: Source | None = None) -> Reason:
        """Run a turn on a prompt to its end, and return why it ended.

        While a turn runs, a prompt waits for the next one; all that wait enter it together, and each call returns
        the reason of the turn that its content entered. A call that is cancelled while its prompt waits takes the
        prompt back; once the turn runs for nobody else, cancelling the call aborts the turn, and the cancellation
        takes effect when the aborted turn is stored.

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
        self._driver.inbox.prompts.append(prompt)
        self._driver.wake()
        try:
            return await outcome
        except asyncio.CancelledError:
            await self._driver.withdraw(prompt)
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
            self._driver.inbox.asides.append(Aside(kind="steer", content=snapshot, source=source))
            return
        self._driver.inbox.prompts.append(Prompt(content=snapshot, source=source))
        self._driver.wake()

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
            self._driver.inbox.asides.append(aside)
            return
        self._driver.enter_alone(aside)
        try:
            self._driver.wake()
        except RuntimeError:  # no loop runs: the next turn's flush covers it
            return

    def abort(self, reason: str | None = None) -> bool:
        """End the running turn; what it waits for is cancelled. Prompts that wait get their turn afterwards.

        Returns:
            Whether there was a turn to end.
        """
        return self._driver.abort(reason)

    def cancel_call(self, call_id: str, reason: str | None = None) -> bool:
        """Cancel one tool call that runs; the model sees an error result and the turn goes on.

        Returns:
            Whether the call ran.
        """
        cancelled = None if self._driver.scope is None else self._driver.scope.running.get(call_id)
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
        await self._driver.wait_idle()

    async def aclose(self) -> None:
        """End the running turn as `disposed`, refuse what waits, store everything and detach the session.

        Closing again does nothing, unless storing failed: then it is tried again.

        Raises:
            ExceptionGroup: What could not be stored; the session stays attached.
        """
        if not self._driver.is_closed:
            self._driver.is_closed = True
            if self._driver.scope is not None:
                self._driver.scope.interrupt.request("disposed")
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

    def _check_open(self) -> None:
        if self._driver.is_closed:
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
