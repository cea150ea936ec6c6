"""How what a turn waits for can be stopped: by an abort, by a timeout, by a cancellation of one call.

Owns the race between foreign code (a model, a tool, a hook) and the wish to stop. Foreign code runs in a task of
its own, so that the loop itself is never cancelled and always gets to balance the log. Refuses to know why.
Flow: coroutine -> `Interrupt.run` -> its result, or `Stopped`, `TimedOut`, `CallCancelled`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Literal, TypeVar

__all__ = ["CallCancelled", "Interrupt", "Stopped", "TimedOut"]

R = TypeVar("R")

_log = logging.getLogger("dsh_agent")
_abandoned: set[asyncio.Task[Any]] = set()  # tasks that did not stop; kept, so that they are not collected


class Stopped(Exception):
    """The turn is to end now."""


class TimedOut(Exception):
    """What was waited for took too long, and was told to stop.

    Attributes:
        timeout_s: The time it had, in seconds.
        code: Always `timeout`; it becomes the code of the turn's end.
    """

    code = "timeout"

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        super().__init__(f"no end after {timeout_s:g} s")


class CallCancelled(Exception):
    """One call was cancelled by a caller, or cancelled itself.

    Attributes:
        reason: Why, in words, or None.
    """

    def __init__(self, reason: str | None = None) -> None:
        self.reason = reason
        super().__init__(reason or "cancelled")


class Interrupt:
    """The wish to end one turn, and everything that has to hear of it.

    Args:
        grace_s: How long cancelled code may take to stop before it is left behind, in seconds.

    Attributes:
        kind: Who asked: `aborted` by a caller, `disposed` by closing the agent, None while nobody did.
        reason: Why, in words, or None.
    """

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        self._waiters: set[asyncio.Future[None]] = set()
        self.kind: Literal["aborted", "disposed"] | None = None
        self.reason: str | None = None

    def request(self, kind: Literal["aborted", "disposed"], reason: str | None = None) -> None:
        """Ask the turn to end. The first request counts."""
        if self.kind is None:
            self.kind = kind
            self.reason = reason
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(None)

    def check(self) -> None:
        """Raise `Stopped` if the turn is to end."""
        if self.kind is not None:
            raise Stopped

    async def run(
        self,
        coroutine: Coroutine[Any, Any, R],
        *,
        timeout_s: float | None = None,
        cancelled: asyncio.Future[str | None] | None = None,
    ) -> R:
        """Run foreign code to its end, unless something stops it first.

        Args:
            coroutine: What to run; it gets a task of its own.
            timeout_s: The time it has, in seconds; None for no limit.
            cancelled: Completed by whoever wants to stop just this; its result is the reason.

        Raises:
            Stopped: The turn is to end.
            TimedOut: The time is up.
            CallCancelled: `cancelled` was completed, or the code cancelled itself.
        """
        if self.kind is not None:
            coroutine.close()
            raise Stopped
        loop = asyncio.get_running_loop()
        task = loop.create_task(coroutine)
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiters.add(waiter)
        waited: set[asyncio.Future[Any]] = {task, waiter}
        if cancelled is not None:
            waited.add(cancelled)
        try:
            await asyncio.wait(waited, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._stop(task)
            raise
        finally:
            self._waiters.discard(waiter)
        if task.done():
            if task.cancelled():
                raise CallCancelled("it cancelled itself")
            return task.result()
        await self._stop(task)
        if waiter.done():
            raise Stopped
        if cancelled is not None and cancelled.done():
            raise CallCancelled(cancelled.result())
        raise TimedOut(timeout_s or 0)

    async def _stop(self, task: asyncio.Task[Any]) -> None:
        """Cancel a task and give it a moment; one that does not stop is left behind, and said so."""
        task.cancel()
        await asyncio.wait({task}, timeout=self._grace_s)
        if task.done():
            _settle(task)
            return
        _log.warning("%r did not stop within %g s and was left behind", task.get_name(), self._grace_s)
        _abandoned.add(task)
        task.add_done_callback(_settle)


def _settle(task: asyncio.Task[Any]) -> None:
    """Take note of how a stopped task ended; nobody waits for its result any more."""
    _abandoned.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.info("stopped code raised while it stopped: %r", error)
