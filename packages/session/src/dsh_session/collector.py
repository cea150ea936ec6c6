"""The cyclic garbage collector, and when it should wait.

Owns `gc_paused`. Building a long log makes a million objects and no cycle; collections would only cost time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector; whatever it was before is restored, also after a failure."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
