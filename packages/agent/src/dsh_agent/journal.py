"""The agent's pen: the session that it writes, the checkpoint that it awaits, and whom it tells of failures.

Owns what becomes of a failure that is no event: it is logged and handed to `on_error`, and the turn goes on.
Refuses to decide what is written. Flow: turn -> `append`; turn -> `flush` -> store -> persistence.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any

from dsh_agent.wording import describe
from dsh_session import Session, SessionEvent, SessionStore

__all__ = ["Journal"]

_log = logging.getLogger("dsh_agent")


class Journal:
    """One session, its store and its `on_error`."""

    def __init__(
        self, store: SessionStore, session: Session, on_error: Callable[[BaseException], None] | None
    ) -> None:
        self._store = store
        self._on_error = on_error
        self.session = session

    def append(self, *event: Any, **envelope: Any) -> SessionEvent:
        """Append an event; takes what `Session.append` takes. The store tells its listeners afterwards."""
        return self.session.append(*event, **envelope)

    async def flush(self) -> Exception | None:
        """Make the log durable, and return what failed, if something did; the events then stay buffered."""
        try:
            await self._store.flush(self.session)
        except Exception as error:  # noqa: BLE001 - a persistence is foreign code: its failure is reported, not raised
            self.report(error)
            return error
        return None

    async def release(self) -> None:
        """Flush the session and detach it from its store; a failure is the caller's."""
        if self._store.get(self.session.id) is self.session:
            await self._store.release(self.session)

    def report(self, error: BaseException) -> None:
        """Tell of a failure that is no event."""
        exc_info = error if _is_writable(error) else None
        _log.error("session %r: %s", self.session.id, describe(error), exc_info=exc_info)
        if self._on_error is None:
            return
        try:
            self._on_error(error)
        except Exception:  # noqa: BLE001 - a callback is foreign code: its failure must not end the turn
            _log.exception("on_error itself failed")


def _is_writable(error: BaseException) -> bool:
    """Return whether a traceback can be written as UTF-8; a lone surrogate in it would break a log handler."""
    try:
        "".join(traceback.format_exception(error)).encode()
    except UnicodeEncodeError:
        return False
    return True
