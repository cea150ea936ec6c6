"""How a thread reaches an event loop: a descriptor that the loop watches.

Owns the way back from a thread. Refuses what is told. A loop's own way, `call_soon_threadsafe`, wakes a task a turn
of the loop later, and empties its pipe when that task has run, which is when the thread begins with its next call
and wants the interpreter. Flow: thread -> `ring` -> the loop's selector -> the callbacks, in a handle of the loop.
Source: the RFC on the short way to the disk.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable

__all__ = ["Ring", "doorbell"]

Ring = Callable[[Callable[[], object]], object]
"""Has a loop call back, from any thread; raises RuntimeError if the loop is closed."""


def doorbell(loop: asyncio.AbstractEventLoop) -> Ring:
    """Return the way into a loop. To be called on the loop."""
    try:
        return _doorbells[loop].ring
    except KeyError:
        pass
    except TypeError:  # nothing can be kept about this loop
        return loop.call_soon_threadsafe
    with _changing:  # other threads have loops of their own
        for other in [other for other in _doorbells if other.is_closed()]:
            _doorbells.pop(other, None)
        try:
            bell = _doorbells[loop] = _Doorbell(loop)
        except (AttributeError, NotImplementedError):  # no such descriptors here, or a loop that watches none
            return loop.call_soon_threadsafe
    return bell.ring


class _Doorbell:
    """One loop's descriptor, and who has rung since it was last answered."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = weakref.ref(loop)
        self._rung: deque[Callable[[], object]] = deque()
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        loop.add_reader(self._fd, self._answer)

    def __del__(self) -> None:
        if hasattr(self, "_fd"):  # by now no thread holds it that could write to whatever gets the number next
            os.close(self._fd)

    def ring(self, callback: Callable[[], object]) -> None:
        """See `Ring`."""
        loop = self._loop()
        if loop is None or loop.is_closed():
            raise RuntimeError("the event loop is closed")
        self._rung.append(callback)
        os.eventfd_write(self._fd, 1)

    def _answer(self) -> None:
        os.eventfd_read(self._fd)
        for _ in range(len(self._rung)):  # whoever rings meanwhile is heard in the next turn of the loop
            try:
                self._rung.popleft()()
            except BaseException:  # an interrupt: the others are heard all the same
                os.eventfd_write(self._fd, 1)
                raise


_changing = threading.Lock()
_doorbells: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Doorbell] = weakref.WeakKeyDictionary()
