"""When each document last changed, as far as version control knows.

Owns one call of git for all of them. Refuses to guess: without git, outside a repository, or beyond the edge of a
shallow clone, a document has no date of last change.
"""

import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

_COMMAND = ("git", "-c", "core.quotePath=false", "log", "--no-show-signature", "-z", "--relative", "--name-only")
_FORMAT = "--format=%x01%ct%x02%D"
_TIMEOUT_S = 60


def last_changes(repository: Path, folder: str) -> Mapping[str, datetime]:
    """Return the time of the last commit per path, relative to the repository.

    Args:
        repository: Its folder.
        folder: The folder below it that is asked about.
    """
    try:
        done = subprocess.run(
            [*_COMMAND, _FORMAT, "--", folder],
            cwd=repository,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    if done.returncode:
        return {}
    changes: dict[str, datetime] = {}
    for path, time in _read(done.stdout.decode("utf-8", errors="surrogateescape")):
        changes.setdefault(path, time)
    return changes


def _read(output: str) -> Iterator[tuple[str, datetime]]:
    time: datetime | None = None
    for part in output.split("\0"):
        text = part.lstrip("\n")
        if text.startswith("\x01"):
            seconds, _, decorations = text[1:].partition("\x02")
            names, _, path = decorations.partition("\n")
            # At the edge of a shallow clone every file seems to be new.
            is_edge = "grafted" in names.split(", ")
            time = None if is_edge else datetime.fromtimestamp(int(seconds), tz=UTC)
            text = path
        if text and time is not None:
            yield text, time
