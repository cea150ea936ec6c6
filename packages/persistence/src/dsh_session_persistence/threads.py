"""Threads for blocking storage calls.

Owns how a backend's blocking code leaves the event loop, and how its outcome comes back. Refuses ordering: the
coordinator never runs two writes of one session at once. Flow: call -> queue -> thread -> the waiter on the loop.
Source: the RFC on the short way to the disk.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from contextvars import Context
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, ParamSpec, TypeVar

from dsh_session_persistence.doorbell import Ring, doorbell

__all__ = ["Job", "Workers"]

_KEPT = 64
_LOOK_AGAIN_S = 0.002

P = ParamSpec("P")
R = TypeVar("R")


class Job(Generic[R]):
    """One blocking call that has been handed to a thread; it runs to its end, whoever waits for it.

    Await it, on the event loop that it was made on, for its result. Whoever is cancelled meanwhile waits for the
    end all the same, so that nothing else touches what the call still works on. At most one task waits at a time.
    """

    __slots__ = ("_after", "_call", "_end", "_error", "_result")

    def __init__(self, call: Callable[[], R], end: _End, after: tuple[Job[Any], ...]) -> None:
        self._call: Callable[[], R] | None = call
        self._end = end
        self._after = after
        self._error: BaseException | None = None

    def __await__(self) -> Generator[Any, None, R]:
        cancelled: asyncio.CancelledError | None = None
        while not self._end.has_come:
            try:
                yield from self._end.__await__()
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
        if self._error is not None:
            try:
                raise self._error
            finally:
                del self  # the traceback leads to this frame, which must not lead back to it
        return self._result

    def ended(self) -> Awaitable[None]:
        """Return what waits for the end only: a waiter that is cancelled goes at once, and the call goes on."""
        return self._end

    def call_on_end(self, callback: Callable[[], object]) -> None:
        """Have the loop call back when the call has ended; takes the place of a task that waits."""
        self._end.add_done_callback(lambda _end: callback())

    def has_ended(self) -> bool:
        """Return whether the call has ended."""
        return self._end.has_come

    def run(self) -> None:
        """Make the call, on the thread, and wake whoever waits."""
        for earlier in self._after:
            while not earlier.has_ended():
                time.sleep(_LOOK_AGAIN_S)
        call, self._call = self._call, None  # what it holds is not kept with the job
        try:
            if call is not None:
                self._result = call()
        except BaseException as error:  # noqa: BLE001 - raised where the job is awaited
            self._error = error
        self._end.come()


class _End:
    """The end of a call, as a task waits for it: asyncio takes any object that has these methods of a future.

    A future would be told on the loop, and wake its task a turn of the loop later.
    """

    __slots__ = ("_asyncio_future_blocking", "_callbacks", "_is_cancelled", "_loop", "_ring", "has_come")

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Ring) -> None:
        self._loop = loop
        self._ring = ring
        self._callbacks: list[tuple[Callable[..., object], Context | None]] = []  # at most one
        self.has_come = self._is_cancelled = self._asyncio_future_blocking = False

    def come(self) -> None:
        """Tell, from the thread. If the loop is closed by now, nobody waits."""
        self.has_come = True
        with suppress(RuntimeError):
            self._ring(self._wake)

    def __await__(self) -> Generator[Any, None, None]:
        if not self.has_come:
            self._is_cancelled = False
            self._asyncio_future_blocking = True
            yield self

    def add_done_callback(self, callback: Callable[..., object], *, context: Context | None = None) -> None:
        """Have a task woken."""
        self._callbacks.append((callback, context))
        if self.has_come:  # perhaps it was before there was anybody to wake
            self._loop.call_soon(self._wake)

    def cancel(self, msg: object = None) -> bool:  # noqa: ARG002 # what a task gives
        """Wake the task before the end; False if the end is on its way already."""
        if self.has_come or self._is_cancelled or not self._callbacks:
            return False
        self._is_cancelled = True
        self._loop.call_soon(self._wake)
        return True

    def result(self) -> None:
        """Say whether the wait was cancelled, by raising."""
        if self._is_cancelled:
            raise asyncio.CancelledError

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop of the task that may wait."""
        return self._loop

    def _wake(self) -> None:
        """Run the task on, on the loop."""
        if self._callbacks:
            callback, context = self._callbacks.pop()
            if context is None:
                callback(self)
            else:
                context.run(callback, self)


class Workers:
    """Two small pools of threads: reads do not wait behind writes. Threads start with the first call.

    Args:
        name: Prefix of the threads' names.
        writers: How many writes run at once, over all sessions. 1 for a medium with a single write connection.
        readers: How many reads run at once.
    """

    def __init__(self, name: str, *, writers: int = 4, readers: int = 2) -> None:
        self._writers = _Pool(f"{name}-write", writers)
        self._readers = _Pool(f"{name}-read", readers)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ring: Ring = _silent
        self._writing: list[Job[Any]] = []  # writes of this loop, those that have ended among them
        self._left: tuple[Job[Any], ...] = ()  # writes of loops before it that have not

    def write(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Job[R]:
        """Run a blocking call on a writer thread. It is on its way when this returns; await the job for its result.

        Raises:
            RuntimeError: The threads were shut down.
        """
        job = self._job(partial(call, *args, **kwargs))
        if len(self._writing) > _KEPT:
            self._writing = [other for other in self._writing if not other.has_ended()]
        self._writing.append(job)
        return self._writers.submit(job)

    async def read(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a blocking call on a reader thread and return what it returns; a cancelled waiter goes at once.

        Raises:
            RuntimeError: The threads were shut down.
        """
        job = self._readers.submit(self._job(partial(call, *args, **kwargs)))
        await job.ended()
        return await job

    def _job(self, call: Callable[[], R]) -> Job[R]:
        """Make a job; before its call it waits for the writes of loops that are over, whatever they come to."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._ring = loop, doorbell(loop)
            self._left += tuple(self._writing)
            self._writing = []
        if self._left:
            self._left = tuple(job for job in self._left if not job.has_ended())
        return Job(call, _End(loop, self._ring), self._left)

    def shutdown(self) -> None:
        """Let the threads end; calls that run or wait are finished, later ones are refused. Does not wait."""
        self._writers.shutdown()
        self._readers.shutdown()


def _silent(_callback: object) -> None:
    """Stand in the place of a doorbell while there is no loop."""


class _Pool:
    """Threads that take jobs from one queue; a thread is started when a job finds none idle.

    `concurrent.futures` would do the same in three times the time: a future with a condition of its own, and a
    second one to bring its result to the loop. The end of the interpreter waits for what was handed in.
    """

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._jobs: SimpleQueue[Job[Any] | None] = SimpleQueue()
        self._idle: list[None] = []  # an entry for each thread that waits and was promised nothing
        self._threads: list[threading.Thread] = []
        self._is_shut = False
        weakref.finalize(self, _end, self._jobs, self._threads).atexit = False
        _pools.add(self)

    def submit(self, job: Job[R]) -> Job[R]:
        """Hand in a job."""
        if self._is_shut:
            raise RuntimeError("these threads were shut down")
        try:
            self._idle.pop()
        except IndexError:
            if len(self._threads) < self._most:
                self._start()
        self._jobs.put(job)
        return job

    def shutdown(self) -> None:
        """Refuse further calls; the threads end when they have made those that were handed in."""
        self._is_shut = True
        _end(self._jobs, self._threads)

    def join(self) -> None:
        """Wait until all threads have ended."""
        for thread in self._threads:
            thread.join()

    def _start(self) -> None:
        name = f"{self._name}_{len(self._threads)}"
        thread = threading.Thread(target=_work, args=(self._jobs, self._idle), name=name, daemon=True)
        thread.start()
        self._threads.append(thread)


def _work(jobs: SimpleQueue[Job[Any] | None], idle: list[None]) -> None:
    """Make one call after another, until there is none: what a thread does. It does not keep its pool alive."""
    while (job := jobs.get()) is not None:
        job.run()
        del job  # what it holds is not kept until the next one comes
        idle.append(None)


def _end(jobs: SimpleQueue[Job[Any] | None], threads: list[threading.Thread]) -> None:
    for _ in threads:
        jobs.put(None)


_pools: weakref.WeakSet[_Pool] = weakref.WeakSet()


@atexit.register
def _finish_all() -> None:
    """Let no thread be cut off in the middle of a call by the end of the interpreter."""
    pools = list(_pools)
    for pool in pools:
        pool.shutdown()
    for pool in pools:
        pool.join()
