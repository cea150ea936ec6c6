"""Threads for blocking storage calls.

Owns how a backend's blocking code leaves the event loop. Refuses ordering: the coordinator never runs two writes
of one session at once. Flow: coroutine -> thread -> result back on the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import ParamSpec, TypeVar

__all__ = ["Workers"]

P = ParamSpec("P")
R = TypeVar("R")


class Workers:
    """Two small pools of threads: reads do not wait behind writes. Threads start with the first call.

    Args:
        name: Prefix of the threads' names.
        writers: How many writes run at once, over all sessions. 1 for a medium with a single write connection.
        readers: How many reads run at once.
    """

    def __init__(self, name: str, *, writers: int = 4, readers: int = 2) -> None:
        self._writers = ThreadPoolExecutor(max_workers=writers, thread_name_prefix=f"{name}-write")
        self._readers = ThreadPoolExecutor(max_workers=readers, thread_name_prefix=f"{name}-read")

    async def write(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a blocking call on a writer thread and return what it returns.

        A thread cannot be interrupted. Whoever is cancelled waits for its end all the same, so that nothing else
        touches what it still writes to.
        """
        running = _hop(self._writers, call, *args, **kwargs)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            while not running.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([running])
            if not running.cancelled():
                running.exception()  # seen: the caller learns that it was cancelled
            raise

    async def read(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a blocking call on a reader thread and return what it returns."""
        return await _hop(self._readers, call, *args, **kwargs)

    def shutdown(self) -> None:
        """Let the threads end; calls that run finish, later ones are refused. Does not wait."""
        self._writers.shutdown(wait=False)
        self._readers.shutdown(wait=False)


def _hop(pool: ThreadPoolExecutor, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[R]:
    loop = asyncio.get_running_loop()
    return loop.run_in_executor(pool, lambda: call(*args, **kwargs))
