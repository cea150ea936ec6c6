"""The folder that staging writes.

Owns writing: a file whose bytes are right is not touched, so that a watching builder sees only what changed, and
what nobody asked for any more is removed. Refuses to touch a folder that it did not make.
"""

from collections.abc import Mapping
from pathlib import Path

from dsh_rfc.errors import WriteFailed

MARKER = ".dsh-rfc-stage"


def write_tree(folder: Path, files: Mapping[str, bytes | Path]) -> int:
    """Make the folder hold exactly these files and return how many were written.

    Args:
        folder: Made when it does not exist.
        files: By path relative to the folder: the bytes, or the file to copy them from.

    Raises:
        WriteFailed: The folder holds something else, or the system refuses.
    """
    try:
        if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).exists():
            msg = f"{folder} is not empty and was not staged; name another folder with --out"
            raise WriteFailed(msg)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARKER).touch()
        present = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if not path.is_dir()}
        for name in present.keys() - files.keys() - {MARKER}:
            present[name].unlink()
        written = sum(_write(folder / name, content, name in present) for name, content in files.items())
        for path in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
            if not any(path.iterdir()):
                path.rmdir()
    except OSError as error:
        msg = f"{error.filename or folder} cannot be written: {error.strerror}"
        raise WriteFailed(msg) from error
    return written


def _write(file: Path, content: bytes | Path, is_present: bool) -> bool:
    data = content.read_bytes() if isinstance(content, Path) else content
    if is_present and file.read_bytes() == data:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return True
