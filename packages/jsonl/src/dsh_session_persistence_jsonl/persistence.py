"""The JSONL persistence as callers construct it.

Owns the construction. Refuses everything else: policy is the coordinator's, storage the backend's.
Flow: root -> JsonlBackend -> coordinator.
"""

from __future__ import annotations

import os
from typing import Any

from dsh_session_persistence import CoordinatedPersistence
from dsh_session_persistence_jsonl.backend import JsonlBackend

__all__ = ["JsonlPersistence"]


class JsonlPersistence(CoordinatedPersistence):
    """Sessions as files under one folder. Nothing is created or opened before the first call.

    Args:
        root: The folder; made absolute once, here. A symbolic link as the root itself is the caller's choice and
            followed; below it none is.
        options: Those of `PersistenceCoordinator`.

    Example:
        >>> import tempfile
        >>> persistence = JsonlPersistence(root=tempfile.mkdtemp(), write_batch_max_delay_ms=50)
    """

    def __init__(self, root: str | os.PathLike[str], **options: Any) -> None:
        super().__init__(JsonlBackend(root), **options)

    @classmethod
    def from_url(cls, rest: str) -> JsonlPersistence:
        """Open `jsonl:PATH`.

        Raises:
            ValueError: No path follows the colon.
        """
        if not rest:
            message = "jsonl: names a folder, as in jsonl:sessions"
            raise ValueError(message)
        return cls(rest)
