"""Files that are written by a renderer, never by hand.

Owns comparing a file with what its renderer says and writing it: `--check` and writing are the same path and
differ in the last step alone. Refuses to know what is rendered.
"""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from dsh_rfc.errors import WriteFailed


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A file and what it must hold.

    Attributes:
        path: Where it stands, as messages name it.
        file: Where it stands.
        render: Returns the whole text, with LF line ends.
        command: What writes it.
    """

    path: str
    file: Path
    render: Callable[[], str]
    command: str


def difference(item: Generated) -> str:
    """Return a unified diff from the file to what its renderer says; empty when they are the same bytes.

    Raises:
        WriteFailed: Something that is no file stands there.
    """
    wanted = item.render()
    try:
        # What exists and is no file is not opened: a pipe would keep us waiting.
        present = item.file.read_bytes() if item.file.is_file() else None
        taken = present is None and item.file.exists()
    except OSError as error:
        msg = f"{item.path} cannot be read: {error.strerror}"
        raise WriteFailed(msg) from error
    if taken:
        msg = f"{item.path} is no regular file"
        raise WriteFailed(msg)
    if present == wanted.encode():
        return ""
    shown = (present or b"").decode("utf-8", errors="backslashreplace")
    lines = unified_diff(
        shown.splitlines(keepends=True),
        wanted.splitlines(keepends=True),
        fromfile=item.path if present is not None else "/dev/null",
        tofile=f"{item.path} (generated)",
    )
    shown_lines = (line if line.endswith("\n") else f"{line}\n\\ no newline at the end\n" for line in lines)
    return "".join(shown_lines) or f"{item.path} holds bytes that are not UTF-8\n"


def write(item: Generated) -> bool:
    """Write the file if it differs and say whether it did; a reader never sees half of it.

    Raises:
        WriteFailed: The system refuses.
    """
    if not difference(item):
        return False
    try:
        mode = item.file.stat().st_mode & 0o777 if item.file.is_file() else 0o644
        item.file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=item.file.parent, prefix=".generated-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(item.render().encode())
            os.chmod(temporary, mode)  # noqa: PTH101 - mkstemp hands out a string
            os.replace(temporary, item.file)  # noqa: PTH105 - as above
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108 - as above
            raise
    except OSError as error:
        msg = f"{item.path} cannot be written: {error.strerror}"
        raise WriteFailed(msg) from error
    return True
