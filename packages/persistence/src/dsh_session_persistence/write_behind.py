"""When a live session's new events are written without anybody asking: after a window, or past a size.

Owns one timer and one byte count a session. Refuses to hold events (the session's own log is the buffer, what is
pending is the part behind the cursor) and to acknowledge anything. Flow: event -> count, timer -> `write`.
Source: the RFC on the write-behind window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from dsh_session import Session

__all__ = ["WriteBehind"]


class WriteBehind:
    """The pending tail of one live session.

    Args:
        session: The live session, whose log is the buffer.
        write: Starts a background write of everything pending; must not raise.
        max_delay_s: A fixed window from the first pending event, in seconds.
        max_pending_bytes: Past this many bytes the write starts at once.
    """

    __slots__ = (
        "_loop",
        "_max_delay_s",
        "_max_pending_bytes",
        "_pending_bytes",
        "_timer",
        "_write",
        "displaced",
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
        self._write = write
        self._max_delay_s = max_delay_s
        self._max_pending_bytes = max_pending_bytes
        self._pending_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, size_bytes: int) -> None:
        """Count an event that was just appended. Without a running loop nothing is written early."""
        self._pending_bytes += size_bytes
        if self._pending_bytes > self._max_pending_bytes:
            self._fire_if_running()
        elif self._timer is None or (self._loop is not None and self._loop.is_closed()):
            self._arm()  # a timer whose loop ended before its window did will never fire

    def settle(self) -> None:
        """Forget the window: everything pending is being written now."""
        self._pending_bytes = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._loop = loop
        self._timer = loop.call_later(self._max_delay_s, self._fire)

    def _fire_if_running(self) -> None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        self._fire()

    def _fire(self) -> None:
        self.settle()
        self._write(self)
