"""Where a session's file is: from id and cwd to a path.

Owns names and the search for them. Refuses to open or write a file. Flow: id, cwd -> folder/name.
Source: the RFC on session persistence; the guide on the wire format has the table.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator

from dsh_session import InvalidSessionId, SessionId
from dsh_session_persistence import CorruptSession

__all__ = ["SUFFIX", "Layout", "encode_id", "folder_name"]

SUFFIX = ".jsonl"
_NO_CWD = "_no-cwd"
_CWD_PREFIX = "cwd-"
_ESCAPED = re.compile(r"[^A-Za-z0-9._-]")
_DEFAULT_NAME_MAX_BYTES = 255


def encode_id(session_id: str) -> str:
    """Return the file name, without suffix, of an id.

    Letters, digits, `.`, `_` and `-` of ASCII stay; every other UTF-16 code unit becomes `~` and four upper-case
    hexadecimal digits. The names `.` and `..` are escaped in full.

    Example:
        >>> encode_id("a/b"), encode_id(".."), encode_id("\N{GRINNING FACE}")
        ('a~002Fb', '~002E~002E', '~D83D~DE00')
    """
    if session_id in {".", ".."}:
        return "~002E" * len(session_id)
    return _ESCAPED.sub(_escape, session_id)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"~{units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2))


def folder_name(cwd: str | None) -> str:
    """Return the name of the folder that holds the sessions of a working directory.

    Example:
        >>> folder_name(None), folder_name("/")
        ('_no-cwd', 'cwd-8a5edab28263')
    """
    if cwd is None:
        return _NO_CWD
    text = cwd.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _CWD_PREFIX + hashlib.sha256(text.encode()).hexdigest()[:12]


class Layout:
    """The names below one root.

    Args:
        root: An absolute path; it need not exist.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self._name_max_bytes: int | None = None

    def folder(self, cwd: str | None) -> str:
        """Return the path of the folder for a working directory."""
        return os.path.join(self.root, folder_name(cwd))  # noqa: PTH118 - strings: thousands of paths a call

    def name(self, session_id: SessionId) -> str:
        """Return the file name of an id.

        Raises:
            InvalidSessionId: The file system cannot hold the name.
        """
        name = encode_id(session_id) + SUFFIX
        if not session_id:
            raise InvalidSessionId(session_id, "an empty id names no file")
        if len(name) > self._name_limit():
            raise InvalidSessionId(session_id, f"its file name would have {len(name)} bytes")
        return name

    def locate(self, session_id: SessionId) -> str | None:
        """Return the path of a stored session, whatever its cwd, or None.

        Raises:
            CorruptSession: It is stored twice, so neither is the session.
            InvalidSessionId: The file system cannot hold the name.
            OSError: The root cannot be searched.
        """
        name = self.name(session_id)
        names = {name}
        if "~" in name:  # another writer may have chosen lower-case digits
            names.add(_lower_digits(name))
        found = [
            path
            for folder in self.folders()
            for path in (os.path.join(folder, each) for each in names)  # noqa: PTH118 - as above
            if os.path.lexists(path)
        ]
        if len(found) > 1:
            places = ", ".join(sorted(os.path.relpath(path, self.root) for path in found))
            raise CorruptSession(session_id, f"it is stored more than once: {places}")
        return found[0] if found else None

    def folders(self) -> Iterator[str]:
        """Yield the paths of the folders that hold sessions; never a symbolic link."""
        try:
            with os.scandir(self.root) as entries:
                for entry in entries:
                    ours = entry.name == _NO_CWD or entry.name.startswith(_CWD_PREFIX)
                    if ours and entry.is_dir(follow_symlinks=False):
                        yield entry.path
        except FileNotFoundError:
            return

    def make_folder(self, cwd: str | None) -> tuple[str, list[str]]:
        """Create the folder for a working directory, and the root, private whatever the umask.

        Returns:
            Its path, and the folders that gained a name and want to be synced.

        Raises:
            OSError: It cannot be created, or something that is no folder has its name.
        """
        path = self.folder(cwd)
        changed: list[str] = []
        missing = path
        todo: list[str] = []
        while not os.path.lexists(missing):
            todo.append(missing)
            missing = os.path.dirname(missing)  # noqa: PTH120 - strings, as above
        for each in reversed(todo):
            try:
                os.mkdir(each, 0o700)  # noqa: PTH102 - strings, as above
            except FileExistsError:
                continue
            os.chmod(each, 0o700)  # noqa: PTH101 - strings, as above
            changed.append(os.path.dirname(each))  # noqa: PTH120 - strings, as above
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise NotADirectoryError(path)
        return path, changed

    def _name_limit(self) -> int:
        if self._name_max_bytes is None:
            try:
                self._name_max_bytes = os.pathconf(self.root, "PC_NAME_MAX")
            except (OSError, AttributeError, ValueError):
                return _DEFAULT_NAME_MAX_BYTES
        return self._name_max_bytes


def _lower_digits(name: str) -> str:
    return re.sub(r"~[0-9A-F]{4}", lambda match: match[0].lower(), name)
