"""Session ids: what one is, and how a new one is made.

Owns the type and its one rule. Whether a medium can hold an id is for the medium to say.
Flow: text from a caller or a header -> `parse_session_id` -> `SessionId`.
"""

import re
import uuid
from typing import NewType

from dsh_session.errors import InvalidSessionId

SessionId = NewType("SessionId", str)

_SURROGATE = re.compile("[\ud800-\udfff]")


def has_surrogates(text: str) -> bool:
    """Tell whether a text holds a code point that UTF-8 cannot carry."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def parse_session_id(value: object) -> SessionId:
    """Check that a value is a session id.

    Args:
        value: Any non-empty text without surrogates is one.

    Raises:
        InvalidSessionId: It is not a `str`, is empty, or holds a surrogate.

    Example:
        >>> parse_session_id("nightly/42")
        'nightly/42'
    """
    if not isinstance(value, str):
        raise InvalidSessionId(value, "not a text")
    if not value:
        raise InvalidSessionId(value, "empty")
    if has_surrogates(value):
        raise InvalidSessionId(value, "holds a surrogate, which UTF-8 cannot carry")
    return SessionId(str.__str__(value))  # the text itself: a subclass may show another one


def new_session_id() -> SessionId:
    """Make a random id: a UUID, version 4."""
    return SessionId(str(uuid.uuid4()))
