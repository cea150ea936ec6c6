"""When a live session's new events are written without anybody asking: after a window, or past a size.

Owns one timer and one byte count a session. Refuses to hold events (the session's own log is the buffer, what is
pending is the part behind the cursor) and to acknowledge anything. Flow: event -> count, timer -> `write`.
Source: the RFC on the write-behind window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from dsh_session import Session

__all__ = ["WriteBehind", "running_loop"]

_NOWHERE = object()

running_loop = asyncio._get_running_loop  # noqa: SLF001 - it tells of none without an exception


class WriteBehind:
    """The pending tail of one live session.

    Args:
        session: The live session, whose log is the buffer.
        write: Starts a background write of everything pending; must not raise.
        max_delay_s: A fixed window from the first pending event, in seconds.
        max_pending_bytes: Past this many bytes the write starts at once.
    """

    __slots__ = (
        "_due_s",
        "_max_delay_s",
        "_max_pending_bytes",
        "_timer",
        "_write",
        "armed_in",
        "displaced",
        "pending_bytes",
        "reported",
        "session",
    )

    def __init__(
        self,
        session: Session,
        write: Callable[[WriteBehind], None],
        *,
        max_delay_s: float,
        max_pending_bytes: int,
    ) -> None:
        self.session = session
        self.reported = False  # whether a caller has seen that this session cannot be stored under its id
        self.displaced = False  # whether another session has taken the id while this one was empty
        self.pending_bytes = 0  # counted by whoever is told of an event, for nothing is called as often
        self.armed_in: asyncio.AbstractEventLoop | object = _NOWHERE  # the loop in which a window runs
        self._write = write
        self._max_delay_s = max_delay_s
        self._max_pending_bytes = max_pending_bytes
        self._due_s: float | None = None  # when the window ends, by the clock of its loop
        self._timer: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None

    def look(self) -> None:
        """Start the window, or end it if too much is pending. Without a running loop nothing is written early."""
        loop = running_loop()
        if loop is None:
            return
        if self.pending_bytes > self._max_pending_bytes:
            self._end_window()
        elif self._due_s is None or self._is_over():
            self.armed_in = loop
            self._due_s = loop.time() + self._max_delay_s
            if self._timer is None or self._timer[0] is not loop:
                self._timer = loop, loop.call_at(self._due_s, self._tick)

    def settle(self) -> None:
        """Forget the window: everything pending is being written now. The timer is left for the next one."""
        self.pending_bytes = 0
        self._due_s = None
        self.armed_in = _NOWHERE

    def stop(self) -> None:
        """Forget the window and its timer."""
        self.settle()
        if self._timer is not None:
            self._timer[1].cancel()
            self._timer = None

    def _is_over(self) -> bool:
        """Return whether the window will never end, because its loop was closed before."""
        return isinstance(self.armed_in, asyncio.AbstractEventLoop) and self.armed_in.is_closed()

    def _tick(self) -> None:
        """End the window, or wait for its end: it may be a later one than that for which the timer was set."""
        timer, self._timer = self._timer, None
        if self._due_s is None or timer is None:
            return
        loop, handle = timer
        if self._due_s > handle.when():
            self._timer = loop, loop.call_at(self._due_s, self._tick)
        else:
            self._end_window()

    def _end_window(self) -> None:
        self.settle()
        self._write(self)
