"""What the operating system does for a log file, and what works on one operating system only.

Owns flags, whole writes, syncs, the lock of an open file, and who holds one. Refuses paths and formats. A test
injects faults by subclassing `Disk`. Flow: log file -> Disk -> kernel.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

__all__ = ["APPEND_FLAGS", "CREATE_FLAGS", "READ_FLAGS", "Disk", "lock_owner", "read_at"]

_ALWAYS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _ALWAYS
"""A pipe in the place of a log must not hold up the reader that opens it."""
APPEND_FLAGS = os.O_RDWR | os.O_APPEND | _ALWAYS
CREATE_FLAGS = APPEND_FLAGS | os.O_CREAT | os.O_EXCL


class Disk:
    """The kernel's part in writing a log."""

    def write(self, fd: int, data: bytes) -> None:
        """Write all bytes at the end of a file.

        Raises:
            OSError: The file took none or only a part of them.
        """
        rest = memoryview(data)
        while rest:
            written = os.write(fd, rest)
            if written <= 0:
                raise OSError(errno.EIO, "a write stored nothing")
            rest = rest[written:]

    def truncate(self, fd: int, size_bytes: int) -> None:
        """Cut a file back."""
        os.ftruncate(fd, size_bytes)

    def sync(self, fd: int) -> None:
        """Return when the bytes and the size of a file would survive a power loss."""
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # a plain fsync stops at the drive's cache there
        elif hasattr(os, "fdatasync"):
            os.fdatasync(fd)
        else:
            os.fsync(fd)

    def sync_folder(self, path: str) -> None:
        """Return when the names in a folder would survive a power loss; Windows keeps them by itself."""
        if sys.platform != "win32":
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def lock(self, fd: int) -> bool:
        """Take the kernel's lock of an open file without waiting; return whether it was free.

        The lock belongs to this one open: another open of the file, in this process too, does not get it, and
        closing another one does not drop it. POSIX record locks promise neither.
        """
        if sys.platform == "win32":
            import msvcrt

            os.lseek(fd, _WINDOWS_LOCK_OFFSET, os.SEEK_SET)  # far behind the log: locks are mandatory there
            try:
                msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
            except OSError as error:
                if error.errno in _CONTENDED:
                    return False
                raise
            return True
        import fcntl

        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _CONTENDED:
                return False
            raise
        return True


_CONTENDED = frozenset({errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK})
_WINDOWS_LOCK_OFFSET = 2**40


def read_at(fd: int, size_bytes: int, offset_bytes: int) -> bytes:
    """Return up to `size_bytes` bytes of a file from an offset."""
    if sys.platform == "win32":
        os.lseek(fd, offset_bytes, os.SEEK_SET)
        return os.read(fd, size_bytes)
    return os.pread(fd, size_bytes, offset_bytes)


def lock_owner(fd: int) -> str | None:
    """Return who holds the lock of a file, as `pid N`, where the kernel tells (Linux)."""
    stat = os.fstat(fd)
    wanted = f"{os.major(stat.st_dev):02x}:{os.minor(stat.st_dev):02x}:{stat.st_ino}"
    try:
        table = Path("/proc/locks").read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    for line in table.splitlines():
        fields = line.split()
        if len(fields) > 5 and fields[1] == "FLOCK" and fields[5] == wanted:
            return f"pid {fields[4]}"
    return None
