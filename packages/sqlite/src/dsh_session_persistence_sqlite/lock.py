"""Ownership of sessions, and the turn to write, by locks that the kernel holds.

Owns the folder of lock files beside a database. Refuses SQLite: its own locks are POSIX record locks, which a
second instance in one process shares and any closing descriptor drops. Flow: id -> lock file -> descriptor.
Source: the RFC on ownership.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress

from dsh_session import SessionId
from dsh_session_persistence import ConcurrentWriter
from dsh_session_persistence.forks import let_go_in_children
from dsh_session_persistence.system import lock_owner, make_private, try_lock, unlock

__all__ = ["Locks"]

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_TURN_TIMEOUT_S = 30.0
_TURN_POLL_S = 0.002


class Locks:
    """The locks of one instance on one database.

    Args:
        database: The path of the database; the lock files are in `<database>-locks/`.
    """

    def __init__(self, database: str) -> None:
        self._folder = f"{database}-locks"
        self._held: dict[SessionId, int] = {}
        self._turn = -1
        let_go_in_children(self)

    def let_go(self) -> None:
        """Close all descriptors in a forked child; the locks, and the names of their files, stay the parent's."""
        for fd in (*self._held.values(), self._turn):
            with suppress(OSError):
                os.close(fd)
        self._held.clear()
        self._turn = -1

    def own(self, session_id: SessionId) -> None:
        """Take a session's lock; holding it already does nothing.

        Raises:
            ConcurrentWriter: Somebody else holds it.
            OSError: The lock file cannot be opened or locked.
        """
        if session_id not in self._held:
            self._held[session_id] = self._take(session_id)

    def disown(self, session_id: SessionId) -> None:
        """Give a session's lock up; not holding it does nothing."""
        fd = self._held.pop(session_id, None)
        if fd is not None:
            with suppress(OSError):
                os.unlink(self._path(session_id))  # noqa: PTH108 - a string, as os.open takes it
            os.close(fd)

    def close(self) -> None:
        """Give everything up."""
        for session_id in tuple(self._held):
            self.disown(session_id)
        if self._turn >= 0:
            os.close(self._turn)
            self._turn = -1

    def take_turn(self) -> None:
        """Be the only instance, over all processes, that writes or checkpoints the database, until `end_turn`.

        Raises:
            TimeoutError: Another one keeps its turn for too long.
            OSError: The lock file cannot be opened or locked.
        """
        if self._turn < 0:
            self._turn = self._open("writer.lock")
        if try_lock(self._turn):
            return
        give_up_at = time.monotonic() + _TURN_TIMEOUT_S
        while not try_lock(self._turn):
            if time.monotonic() > give_up_at:
                raise TimeoutError(f"{self._folder}: another writer keeps its turn")
            time.sleep(_TURN_POLL_S)

    def end_turn(self) -> None:
        """Let another instance have its turn."""
        unlock(self._turn)

    def _take(self, session_id: SessionId) -> int:
        while True:
            fd = self._open(self._name(session_id))
            owned = False
            try:
                if not try_lock(fd):
                    raise ConcurrentWriter(session_id, lock_owner(fd))
                owned = self._is_current(fd, session_id)
            finally:
                if not owned:  # its holder may have removed it in between: what we locked has no name any more
                    os.close(fd)
            if owned:
                return fd

    def _is_current(self, fd: int, session_id: SessionId) -> bool:
        try:
            named = os.stat(self._path(session_id))  # noqa: PTH116 - a string, as os.open takes it
        except FileNotFoundError:
            return False
        own = os.fstat(fd)
        return (own.st_ino, own.st_dev) == (named.st_ino, named.st_dev)

    def _open(self, name: str) -> int:
        if not os.path.isdir(self._folder):  # noqa: PTH112 - a string, as os.open takes it
            with suppress(FileExistsError):
                os.mkdir(self._folder, 0o700)  # noqa: PTH102 - as above
                os.chmod(self._folder, 0o700)  # noqa: PTH101 - whatever the umask
        fd = os.open(os.path.join(self._folder, name), _FLAGS, 0o600)  # noqa: PTH118 - as above
        make_private(fd)
        return fd

    def _path(self, session_id: SessionId) -> str:
        return os.path.join(self._folder, self._name(session_id))  # noqa: PTH118 - as above

    def _name(self, session_id: SessionId) -> str:
        """Hash the id: ids can be longer than a file name, and differ only in case."""
        return f"{hashlib.sha256(session_id.encode()).hexdigest()[:40]}.lock"
