"""The cyclic garbage collector, and when it should wait.

Owns `gc_paused` and `age_long_log`. Building a million events makes a million objects and no cycle; collections
would only cost time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_LONG_LOG_EVENTS = 20_000


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


def age_long_log(events: int) -> None:
    """Make a long log old for the collector, which would otherwise look through it in one long pause.

    Freezing and unfreezing moves all objects to the oldest generation without a look at any; an application that
    has frozen objects of its own is left alone.

    Args:
        events: How many events were just built; below 20,000 nothing is done.
    """
    if events > _LONG_LOG_EVENTS and not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
