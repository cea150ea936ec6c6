"""The first write of a session: all of it, or nothing, under a name that nobody else has.

Owns the temporary file, its link into place, and the search for the same id in other folders. Refuses to append.
The lock is taken on the temporary file, so the session is owned from the moment it is visible.
Flow: header, events -> temporary file, synced -> link, under the root's lock -> owned LogFile.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from dsh_session import SessionEvent, SessionHeader, SessionId
from dsh_session_persistence import CorruptSession, SessionExists
from dsh_session_persistence.system import make_private, open_folder
from dsh_session_persistence_jsonl.disk import APPEND_FLAGS, CREATE_FLAGS, Disk
from dsh_session_persistence_jsonl.layout import Layout
from dsh_session_persistence_jsonl.log_file import LogFile, Tail
from dsh_session_persistence_jsonl.scan import End

__all__ = ["create_log", "sweep"]

_TEMPORARY_PREFIX = ".new-"
_TEMPORARY_TRIES = 100
_ROOT_LOCK_TIMEOUT_S = 30.0
_ROOT_LOCK_POLL_S = 0.005


def create_log(layout: Layout, header: SessionHeader, events: Sequence[SessionEvent], disk: Disk) -> LogFile:
    """Store a new session durably and return its file, owned.

    Raises:
        SessionExists: Something is stored under the id, in whatever folder.
        OSError: The disk failed; nothing is stored.
    """
    path = os.path.join(layout.folder(header.cwd), layout.name(header.id))  # noqa: PTH118 - strings, as in the layout
    _check_free(layout, header.id)
    folder, changed = layout.make_folder(header.cwd)
    data = b"\n".join((header.line, *(event.line for event in events), b""))
    fd, temporary = _open_temporary(folder, disk)
    try:
        disk.write(fd, data)
        disk.sync(fd)
        with _root_locked(layout.root, disk):
            _check_free(layout, header.id)
            os.link(temporary, path)
        _settle_names(temporary, path, (folder, *reversed(changed)), disk)
        stat_now = os.fstat(fd)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108 - strings, as in the layout
        os.close(fd)
        if isinstance(error, FileExistsError):
            raise SessionExists(header.id) from error
        raise
    end = End(events[-1].line, events[-1].seq + 1)
    return LogFile(header.id, path, fd, disk, Tail(stat_now.st_dev, stat_now.st_ino, len(data), end))


def _check_free(layout: Layout, session_id: SessionId) -> None:
    try:
        taken = layout.locate(session_id) is not None
    except CorruptSession as error:  # twice is taken, too
        raise SessionExists(session_id) from error
    if taken:
        raise SessionExists(session_id)


def _settle_names(temporary: str, path: str, folders: tuple[str, ...], disk: Disk) -> None:
    """Leave the session one name, durably; if that fails, none."""
    try:
        os.unlink(temporary)  # noqa: PTH108 - strings, as in the layout
        for folder in folders:
            disk.sync_folder(folder)
    except BaseException:
        os.unlink(path)  # noqa: PTH108 - strings, as in the layout
        raise


def sweep(folder: str, disk: Disk) -> None:
    """Remove the temporary files of writers that died; those of living ones are locked."""
    with os.scandir(folder) as entries:
        left = [entry.path for entry in entries if entry.name.startswith(_TEMPORARY_PREFIX)]
    for path in left:
        with suppress(OSError):
            fd = os.open(path, APPEND_FLAGS)
            try:
                if disk.lock(fd):
                    os.unlink(path)  # noqa: PTH108 - strings, as in the layout
            finally:
                os.close(fd)


def _open_temporary(folder: str, disk: Disk) -> tuple[int, str]:
    """Create and lock a temporary file.

    Between its creation and its lock a sweep can take it for one that a dead writer left; then another is made.
    """
    for _ in range(_TEMPORARY_TRIES):
        path = os.path.join(folder, _TEMPORARY_PREFIX + secrets.token_hex(8))  # noqa: PTH118 - as above
        fd = os.open(path, CREATE_FLAGS, 0o600)
        try:
            make_private(fd)
            if disk.lock(fd) and os.fstat(fd).st_nlink:
                return fd, path
        except BaseException:
            _discard(fd, path)
            raise
        _discard(fd, path)
    raise BlockingIOError(f"{folder}: temporary files are taken away as soon as they are made")


def _discard(fd: int, path: str) -> None:
    with suppress(OSError):
        os.unlink(path)  # noqa: PTH108 - strings, as in the layout
    os.close(fd)


@contextmanager
def _root_locked(root: str, disk: Disk) -> Iterator[None]:
    """Hold the root's lock: two folders never gain the same id at once. Held for microseconds."""
    fd = open_folder(root)
    if fd is None:
        yield
        return
    try:
        give_up_at = time.monotonic() + _ROOT_LOCK_TIMEOUT_S
        while not disk.lock(fd):
            if time.monotonic() > give_up_at:
                raise TimeoutError(f"{root} stays locked by another creation")
            time.sleep(_ROOT_LOCK_POLL_S)
        yield
    finally:
        os.close(fd)
