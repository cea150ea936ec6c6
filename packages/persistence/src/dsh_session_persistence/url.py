"""From a URL such as `sqlite:sessions.db` to a persistence.

Owns the lookup of backends through the entry-point group `dsh_session_persistence.backends`, a third party's
too. Refuses to know any backend by name. Flow: url -> scheme -> entry point -> `from_url`.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from dsh_session_persistence.errors import PersistenceUnavailable
from dsh_session_persistence.service import SessionPersistence

__all__ = ["BACKEND_GROUP", "open_persistence"]

BACKEND_GROUP = "dsh_session_persistence.backends"


def open_persistence(url: str) -> SessionPersistence:
    """Return the persistence that a URL names. Nothing is opened yet.

    Args:
        url: `SCHEME:REST`, for instance `jsonl:PATH`, `sqlite:PATH` or `memory:`. What REST means is the
            backend's.

    Raises:
        PersistenceUnavailable: There is no scheme, or no installed backend answers to it.

    Example:
        >>> persistence = open_persistence("memory:")
    """
    scheme, colon, rest = url.partition(":")
    installed = {entry.name: entry for entry in entry_points(group=BACKEND_GROUP)}
    known = ", ".join(f"{name}:" for name in sorted(installed)) or "none"
    if not colon:
        raise PersistenceUnavailable(f"{url!r} names no scheme; installed: {known}")
    if scheme not in installed:
        raise PersistenceUnavailable(f"no backend is installed for {scheme!r}:; installed: {known}")
    persistence = installed[scheme].load().from_url(rest)
    if not isinstance(persistence, SessionPersistence):
        raise PersistenceUnavailable(f"the backend for {scheme!r}: is no SessionPersistence")
    return persistence
