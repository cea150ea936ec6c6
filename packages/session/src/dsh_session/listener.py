"""Listeners: what a store tells, and how it calls those who want to know.

Owns the protocol and the calls. A listener has any of the methods; whatever it lacks is not called.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from dsh_session.event import SessionEvent
from dsh_session.session import Session

LOG = logging.getLogger("dsh_session")


class SessionListener:
    """What a store tells; a listener has any of these methods, and need not be a subclass.

    Example:
        >>> class Printer(SessionListener):
        ...     def event(self, session, event):
        ...         print(event.type)
    """

    def created(self, session: Session) -> None:
        """A session was created or forked; its seed is already in `session.events`. To raise refuses it."""

    def withdrawn(self, session: Session) -> None:
        """A session that was announced is no more, because another listener refused it."""

    def event(self, session: Session, event: SessionEvent) -> None:
        """An event was appended. A failure is logged and raised by the next flush."""

    async def flush(self, session: Session) -> None:
        """Make everything durable that the session holds now."""

    async def released(self, session: Session) -> None:
        """The session has been flushed and is about to be detached."""


class Subscription:
    """One subscription; the same listener may have several."""

    __slots__ = ("event", "listener")

    def __init__(self, listener: object) -> None:
        self.listener = listener
        self.event: Callable[[Session, SessionEvent], None] | None = getattr(listener, "event", None)


def call(listener: object, method: str, session: Session) -> Any:
    """Call a method of a listener, if it has it."""
    function = getattr(listener, method, None)
    return None if function is None else function(session)


def withdraw(listener: object, session: Session) -> None:
    """Tell a listener that a session it was told of is no more; a failure is logged."""
    try:
        call(listener, "withdrawn", session)
    except Exception:  # the refusal that caused it is what the caller hears
        LOG.exception("a listener failed to let go of session %r", session.id)


async def await_all(subscriptions: tuple[Subscription, ...], method: str, session: Session) -> list[Exception]:
    """Await a method of every listener, one after another; failures are collected."""
    failures: list[Exception] = []
    for subscription in subscriptions:
        try:
            waiting: Awaitable[None] | None = call(subscription.listener, method, session)
            if waiting is not None:
                await waiting
        except Exception as error:  # noqa: BLE001 # raised in a group by the caller
            failures.append(error)
    return failures
