"""The one door to the vocabulary for the modules below it.

Owns nothing but the delay: building the models takes longer than importing all the rest, so it waits for first use.
"""

from functools import cache
from types import ModuleType


@cache
def vocabulary() -> ModuleType:
    """Import the vocabulary on first use."""
    from dsh_session import vocabulary as module

    return module
