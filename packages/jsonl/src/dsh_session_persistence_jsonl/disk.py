"""What a log file asks of the disk.

Owns the flags of an open log, whole writes, and the one object that a test replaces to inject faults. Refuses
paths and formats. Flow: log file -> Disk -> `dsh_session_persistence.system` -> kernel.
"""

from __future__ import annotations

import errno
import os

from dsh_session_persistence.system import sync_file, sync_folder, try_lock

__all__ = ["APPEND_FLAGS", "CREATE_FLAGS", "READ_FLAGS", "Disk"]

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
        written = os.write(fd, data)
        while written != len(data):
            more = os.write(fd, memoryview(data)[written:])
            if more <= 0:
                raise OSError(errno.EIO, "a write stored nothing")
            written += more

    def truncate(self, fd: int, size_bytes: int) -> None:
        """Cut a file back."""
        os.ftruncate(fd, size_bytes)

    def sync(self, fd: int) -> None:
        """Return when the bytes and the size of a file would survive a power loss."""
        sync_file(fd)

    def sync_folder(self, path: str) -> None:
        """Return when the names in a folder would survive a power loss."""
        sync_folder(path)

    def lock(self, fd: int) -> bool:
        """Take the kernel's lock of an open file without waiting; return whether it was free."""
        return try_lock(fd)
