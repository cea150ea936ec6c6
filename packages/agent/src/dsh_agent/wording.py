"""The words of an exception, fit for the log.

Owns how an arbitrary exception becomes a message and a code. Refuses to fail, whatever the exception does.
Flow: exception -> `describe` -> `turn/end` or `tool/result`.
"""

from __future__ import annotations

from dsh_agent.errors import ModelError, ModelProtocolError, ToolFailure
from dsh_session.errors import SessionError

__all__ = ["code_of", "describe", "plain"]

_OWN_WORDS = (ModelError, ModelProtocolError, ToolFailure, SessionError)


def plain(text: str) -> str:
    """Return a text without surrogates: those become escapes, everything else stays."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def describe(error: BaseException) -> str:
    """Return what an exception says, led by its class unless it is one of ours."""
    name = type(error).__name__
    try:
        words = str(error)
    except Exception:  # noqa: BLE001 - an exception whose text cannot be made is described by its class
        words = ""
    if not words:
        return plain(name)
    return plain(words if isinstance(error, _OWN_WORDS) else f"{name}: {words}")


def code_of(error: BaseException) -> str | None:
    """Return the `code` that an exception carries, if it is a text."""
    code = getattr(error, "code", None)
    return plain(code) if isinstance(code, str) and code else None
