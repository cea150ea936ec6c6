"""On what kind of file system a path lies.

Owns the question whether a write-ahead log can be shared there: its index is shared memory, which machines do not
share. Refuses to open files. Flow: path -> mount -> name of the file system, if it is a network's.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["network_file_system"]

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|ncpfs|ceph|glusterfs|lustre|beegfs|gpfs|gfs2|ocfs2|pvfs2|orangefs"
    r"|fuse\.(sshfs|glusterfs|ceph|s3fs|rclone|gcsfuse|davfs2?|juicefs|nfs\S*|smb\S*)|davfs2?|virtiofs"
)


def network_file_system(path: str, mounts: Path = _MOUNTS) -> str | None:
    """Return the name of the network file system that a path is on; None if it is local or unknown.

    Args:
        path: An absolute path; it need not exist.
        mounts: The kernel's table of mounts, where there is one (Linux).
    """
    try:
        table = mounts.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    kind, longest = "", -1
    wanted = os.path.realpath(path)
    for line in table.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split(" ")
        if not separator or len(fields) < 5:
            continue
        mount = _unescape(fields[4])
        if len(mount) >= longest and _is_below(wanted, mount):  # the last of equals is mounted on top
            kind, longest = after.split(" ", 1)[0], len(mount)
    return kind if _NETWORK.fullmatch(kind) else None


def _is_below(path: str, mount: str) -> bool:
    return path == mount or path.startswith(mount.rstrip("/") + "/")


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
