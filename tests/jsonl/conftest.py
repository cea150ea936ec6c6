"""The JSONL medium as a storage of the contract, and the fixtures of its own tests."""

# ruff: noqa: D102, D103 - each method is documented where the contract declares it

import asyncio
import errno
import json
import os
from pathlib import Path
from typing import Any, ClassVar

import pytest

from dsh_session import SessionId
from dsh_session_persistence import SessionPersistence
from dsh_session_persistence.testing import Storage
from dsh_session_persistence.testing.faults import abandon, backend_of
from dsh_session_persistence_jsonl import JsonlPersistence
from dsh_session_persistence_jsonl.disk import Disk
from dsh_session_persistence_jsonl.layout import SUFFIX, encode_id


class FaultyDisk(Disk):
    """A disk that fails on demand, and counts."""

    def __init__(self) -> None:
        self.room_bytes: int | None = None  # how much still fits, None: all
        self.failing_syncs = 0
        self.failing_truncates = 0
        self.failing_folder_syncs = 0
        self.locks = True
        self.calls: list[str] = []

    def write(self, fd: int, data: bytes) -> None:
        self.calls.append("write")
        if self.room_bytes is not None and self.room_bytes < len(data):
            fits, self.room_bytes = self.room_bytes, None
            super().write(fd, data[:fits])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().write(fd, data)

    def truncate(self, fd: int, size_bytes: int) -> None:
        self.calls.append("truncate")
        if self.failing_truncates:
            self.failing_truncates -= 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().truncate(fd, size_bytes)

    def sync(self, fd: int) -> None:
        self.calls.append("sync")
        if self.failing_syncs:
            self.failing_syncs -= 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync(fd)

    def sync_folder(self, path: str) -> None:
        self.calls.append("sync_folder")
        if self.failing_folder_syncs:
            self.failing_folder_syncs -= 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync_folder(path)

    def lock(self, fd: int) -> bool:
        return super().lock(fd) if self.locks else True


class JsonlStorage(Storage):
    """A folder of files, and instances over it."""

    unsupported: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, root: Path) -> None:
        self.root = root
        self.disks: dict[int, FaultyDisk] = {}

    def open(self, **options: Any) -> JsonlPersistence:
        persistence = JsonlPersistence(self.root, **options)
        backend_of(persistence)._disk = FaultyDisk()
        return persistence

    def disk(self, instance: SessionPersistence) -> FaultyDisk:
        return backend_of(instance)._disk

    def crash(self, instance: SessionPersistence) -> None:
        abandon(instance)
        backend_of(instance).abandon()

    def path(self, session_id: SessionId) -> Path:
        (found,) = self.root.glob(f"*/{encode_id(session_id)}{SUFFIX}")
        return found

    def lines(self, session_id: SessionId) -> list[bytes]:
        return self.path(session_id).read_bytes().split(b"\n")[:-1]

    def rewrite(self, session_id: SessionId, lines: list[bytes]) -> None:
        self.path(session_id).write_bytes(b"".join(line + b"\n" for line in lines))

    def tear(self, session_id: SessionId) -> None:
        with self.path(session_id).open("ab") as file:
            file.write(b'{"type":"assistant/chu')

    def pad_with_nul(self, session_id: SessionId) -> None:
        with self.path(session_id).open("ab") as file:
            file.write(bytes(4096))

    def damage(self, session_id: SessionId, seq: int) -> None:
        lines = self.lines(session_id)
        lines[seq + 1] = b"\x00" * len(lines[seq + 1])
        self.rewrite(session_id, lines)

    def drop(self, session_id: SessionId, seq: int) -> None:
        lines = self.lines(session_id)
        del lines[seq + 1]
        self.rewrite(session_id, lines)

    def repeat(self, session_id: SessionId, seq: int) -> None:
        lines = self.lines(session_id)
        lines.insert(seq + 2, lines[seq + 1])
        self.rewrite(session_id, lines)

    def garble(self, session_id: SessionId, seq: int) -> None:
        lines = self.lines(session_id)
        head, quote, tail = lines[seq + 1].rpartition(b'"}')
        lines[seq + 1] = head + b"\xff\xfe" + quote + tail
        self.rewrite(session_id, lines)

    def set_header(self, session_id: SessionId, **changes: Any) -> None:
        self._change(session_id, 0, changes)

    def add_header_key(self, session_id: SessionId, key: str, value: Any) -> None:
        self._change(session_id, 0, {key: value})

    def add_event_key(self, session_id: SessionId, seq: int, key: str, value: Any) -> None:
        self._change(session_id, seq + 1, {key: value})

    def strip_events(self, session_id: SessionId) -> None:
        self.rewrite(session_id, self.lines(session_id)[:1])

    def image(self, session_id: SessionId) -> object:
        return self.path(session_id).read_bytes()

    def fail_in_the_middle(self, instance: SessionPersistence) -> None:
        self.disk(instance).room_bytes = 300

    def disable_lock(self, instance: SessionPersistence) -> None:
        self.disk(instance).locks = False

    def _change(self, session_id: SessionId, index: int, changes: dict[str, Any]) -> None:
        lines = self.lines(session_id)
        record = {**json.loads(lines[index]), **changes}
        lines[index] = json.dumps(record, separators=(",", ":")).encode()
        self.rewrite(session_id, lines)


@pytest.fixture
def jsonl_storage(tmp_path):
    return JsonlStorage(tmp_path / "root")


@pytest.fixture
def run():
    return asyncio.run
