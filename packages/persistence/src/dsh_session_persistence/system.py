"""What works differently on each operating system: locks of open files, syncs, folders, modes.

Owns every branch on the platform that stored sessions need, once for all backends. Refuses paths and formats.
Windows has no descriptors of folders and no POSIX modes, and its locks are mandatory; macOS syncs to the drive's
cache unless it is asked for more. Flow: backend -> these functions -> kernel.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = [
    "lock_owner",
    "make_private",
    "open_folder",
    "read_at",
    "sync_file",
    "sync_folder",
    "try_lock",
    "unlock",
]

_CONTENDED = frozenset({errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK})
_WINDOWS_LOCK_OFFSET = 2**40  # far behind any content, because a lock there keeps readers out


def try_lock(fd: int) -> bool:
    """Take the kernel's lock of an open file without waiting; return whether it was free.

    The lock belongs to this one open: another open of the file, in this process too, does not get it, and closing
    another one does not drop it. POSIX record locks promise neither.

    Raises:
        OSError: The lock cannot be tried.
    """
    try:
        if sys.platform == "win32":
            os.lseek(fd, _WINDOWS_LOCK_OFFSET, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _CONTENDED:
            return False
        raise
    return True


def unlock(fd: int) -> None:
    """Give the lock of an open file back; closing its descriptor does so, too."""
    if sys.platform == "win32":
        os.lseek(fd, _WINDOWS_LOCK_OFFSET, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(fd, fcntl.LOCK_UN)


def lock_owner(fd: int) -> str | None:
    """Return who holds the lock of a file, as `pid N`, where the kernel tells (Linux)."""
    stat = os.fstat(fd)
    try:
        wanted = f"{os.major(stat.st_dev):02x}:{os.minor(stat.st_dev):02x}:{stat.st_ino}"
        table = Path("/proc/locks").read_text(encoding="ascii")
    except (OSError, ValueError, AttributeError):
        return None
    for line in table.splitlines():
        fields = line.split()
        if len(fields) > 5 and fields[1] == "FLOCK" and fields[5] == wanted:
            return f"pid {fields[4]}"
    return None


def sync_file(fd: int) -> None:
    """Return when the bytes and the size of a file would survive a power loss."""
    if sys.platform == "darwin":
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    elif hasattr(os, "fdatasync"):
        os.fdatasync(fd)
    else:
        os.fsync(fd)


def open_folder(path: str, *, follow_links: bool = True) -> int | None:
    """Open a folder; None where folders have no descriptors (Windows).

    Args:
        path: The folder.
        follow_links: Whether a symbolic link in its place will do.

    Raises:
        OSError: It is no folder, or cannot be opened.
    """
    if sys.platform == "win32":
        return None
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (0 if follow_links else os.O_NOFOLLOW))


def sync_folder(path: str) -> None:
    """Return when the names in a folder would survive a power loss; Windows keeps them by itself."""
    fd = open_folder(path)
    if fd is not None:
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def make_private(fd: int) -> None:
    """Leave an open file to its owner alone (0600), whatever the umask; Windows has no such modes."""
    if sys.platform != "win32":
        os.fchmod(fd, 0o600)


def read_at(fd: int, size_bytes: int, offset_bytes: int) -> bytes:
    """Return up to `size_bytes` bytes of a file from an offset."""
    if sys.platform == "win32":
        os.lseek(fd, offset_bytes, os.SEEK_SET)
        return os.read(fd, size_bytes)
    return os.pread(fd, size_bytes, offset_bytes)
