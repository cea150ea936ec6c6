"""Where agents come from: a new session, a stored one, or a part of another.

Owns the three ways to begin and what each guarantees. Refuses to run turns. Flow: `create`, `resume`, `fork` ->
session in the store -> `Agent`. Source: the RFC on resume as a factory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dsh_agent.agent import Agent
from dsh_agent.hooks import Hooks
from dsh_agent.limits import Limits
from dsh_agent.models.protocol import Model
from dsh_agent.scope import Setup
from dsh_agent.tools import Tool, index_tools
from dsh_session import DuplicateSession, Session, SessionId, SessionStore
from dsh_session_persistence import PersistenceUnavailable, SessionPersistence

__all__ = ["Agents"]


class Agents:
    """Makes agents over one store.

    Args:
        store: Where their sessions live.
        persistence: What makes them durable; it is attached to the store. None for sessions that end with the
            process.
        on_error: Told of failures that are no events, such as a flush that failed; they are logged as well.

    Example:
        >>> agents = Agents(SessionStore())
    """

    def __init__(
        self,
        store: SessionStore,
        persistence: SessionPersistence | None = None,
        *,
        on_error: Callable[[BaseException], None] | None = None,
    ) -> None:
        self._store = store
        self._persistence = persistence
        self._on_error = on_error
        self._resuming: set[str] = set()
        if persistence is not None:
            persistence.attach(store)

    def create(
        self,
        *,
        model: Model,
        tools: Sequence[Tool] = (),
        cwd: str | None = None,
        session_id: str | None = None,
        hooks: Hooks | None = None,
        limits: Limits | None = None,
    ) -> Agent:
        """Begin a new session.

        Args:
            model: What answers.
            tools: What it may call.
            cwd: The working folder that the session belongs to, absolute; None for none.
            session_id: The session's id; a UUID if None.
            hooks: Code that looks at turns.
            limits: How far a turn may go.

        Raises:
            DuplicateSession: The id is live in the store.
            InvalidTool: The tools cannot be offered.
        """
        setup = _setup(model, tools, hooks, limits)
        return self._agent(self._store.create(id=session_id, cwd=cwd), setup)

    async def resume(
        self,
        session_id: str,
        *,
        model: Model,
        tools: Sequence[Tool] = (),
        hooks: Hooks | None = None,
        limits: Limits | None = None,
    ) -> Agent:
        """Continue a stored session under its id, with its stored header and events.

        A turn that was interrupted by the end of its process is closed, durably, before this returns. Turn numbers
        continue from the log. Model and tools are code and not data, so they are given again.

        Args:
            session_id: The stored session.
            model: What answers.
            tools: What it may call.
            hooks: Code that looks at turns.
            limits: How far a turn may go.

        Raises:
            PersistenceUnavailable: These agents have no persistence.
            DuplicateSession: The session is live in the store, or is being resumed; nothing was touched.
            SessionNotFound: Nothing is stored under the id.
            ConcurrentWriter: Another process or instance owns the session; nothing was touched.
            CorruptSession, UnsupportedVersion: What is stored cannot be read; nothing was touched.
            InvalidTool: The tools cannot be offered.
        """
        if self._persistence is None:
            raise PersistenceUnavailable(
                "there is nothing to resume from: pass a persistence, as in Agents(store, persistence)"
            )
        setup = _setup(model, tools, hooks, limits)
        if self._store.get(session_id) is not None or session_id in self._resuming:
            raise DuplicateSession(session_id)
        self._resuming.add(session_id)
        try:
            stored = await self._persistence.load(SessionId(session_id))
            session = self._store.create(header=stored.header, seed=stored.events)
        finally:
            self._resuming.discard(session_id)
        return self._agent(session, setup)

    def fork(
        self,
        agent: Agent,
        upto: int | None = None,
        *,
        session_id: str | None = None,
        model: Model | None = None,
        tools: Sequence[Tool] | None = None,
        hooks: Hooks | None = None,
        limits: Limits | None = None,
    ) -> Agent:
        """Begin a new session with the events of an agent's session. A turn that is open there is closed in it.

        Args:
            agent: Whose session is forked; it goes on undisturbed.
            upto: The seq of the last event to take over; None for all.
            session_id: The new session's id; a UUID if None.
            model: What answers; the agent's own if None.
            tools: What it may call; the agent's own if None.
            hooks: Code that looks at turns; the agent's own if None.
            limits: How far a turn may go; the agent's own if None.

        Raises:
            InvalidSeed: The log has no event `upto`.
            DuplicateSession: The id is live in the store.
        """
        own = agent.setup
        setup = Setup(
            model=model or own.model,
            tools=own.tools if tools is None else index_tools(tools),
            hooks=hooks or own.hooks,
            limits=limits or own.limits,
        )
        return self._agent(self._store.fork(agent.session, upto=upto, id=session_id), setup)

    def _agent(self, session: Session, setup: Setup) -> Agent:
        return Agent(self._store, session, setup, self._on_error)


def _setup(model: Model, tools: Sequence[Tool], hooks: Hooks | None, limits: Limits | None) -> Setup:
    return Setup(model=model, tools=index_tools(tools), hooks=hooks or Hooks(), limits=limits or Limits())
