"""Real logs, written by another implementation: placed in the layout, they are sessions like any other."""

import asyncio
import os
from pathlib import Path

import pytest

from dsh_session import SessionStore
from dsh_session.header import decode_header
from dsh_session.repair import interrupted_turn_closers
from dsh_session_persistence import open_persistence
from dsh_session_persistence_jsonl import JsonlPersistence
from dsh_session_persistence_jsonl.layout import SUFFIX, encode_id, folder_name
from dsh_session_persistence_sqlite import SqlitePersistence

FOLDER = os.environ.get("DSH_SESSIONS")
LOGS = sorted(Path(FOLDER).glob("*.jsonl")) if FOLDER else []

pytestmark = pytest.mark.skipif(not LOGS, reason="DSH_SESSIONS names no folder with logs")


@pytest.fixture(params=LOGS, ids=lambda path: path.stem)
def placed(request, tmp_path):
    """Give the root, the path and the bytes of a log that was placed in the layout."""
    content = request.param.read_bytes()
    head = decode_header(content.split(b"\n", 1)[0])
    path = tmp_path / "root" / folder_name(head.cwd) / (encode_id(head.id) + SUFFIX)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return tmp_path / "root", path, content


def test_an_untouched_load_leaves_the_bytes_as_they_were(placed):
    """What was written elsewhere is read here, and needs no repair."""
    root, path, content = placed

    async def scenario():
        async with JsonlPersistence(root) as persistence:
            stored = await persistence.load(decode_header(content.split(b"\n", 1)[0]).id)
            listed = await persistence.list()
        lines = content.split(b"\n")[:-1]
        assert [event.line for event in stored.events] == lines[1:]
        assert listed == ([stored.header] if lines[1:] else [])

    asyncio.run(scenario())
    assert path.read_bytes() == content


def test_a_log_is_copied_into_sqlite_and_back(placed, tmp_path):
    """Both media hold the same session: the file that comes back has the same bytes."""
    root, _, content = placed

    async def copy(stored, target):
        if stored.events:
            await target.create(stored.header)
            await target.append(stored.header.id, stored.events)

    async def scenario():
        async with JsonlPersistence(root) as source:
            original = await source.load(decode_header(content.split(b"\n", 1)[0]).id)
        async with SqlitePersistence(tmp_path / "copy.db") as database:
            await copy(original, database)
        if not original.events:
            return
        async with SqlitePersistence(tmp_path / "copy.db") as database:
            middle = await database.load(original.header.id)
            assert await database.list() == [original.header]
        assert middle.header == original.header
        assert list(middle.events) == list(original.events)
        async with JsonlPersistence(tmp_path / "back") as target:
            await copy(middle, target)
        (back,) = (tmp_path / "back").glob("*/*.jsonl")
        assert back.read_bytes() == content

    asyncio.run(scenario())


@pytest.mark.parametrize("medium", ["jsonl", "sqlite"])
def test_a_log_is_resumed_continued_and_forked(placed, tmp_path, medium):
    """A session that began elsewhere goes on here, and its fork knows where it comes from."""
    root, _, content = placed
    session_id = decode_header(content.split(b"\n", 1)[0]).id
    url = f"jsonl:{root}" if medium == "jsonl" else f"sqlite:{tmp_path / 'sessions.db'}"

    async def scenario():
        if medium == "sqlite":
            async with JsonlPersistence(root) as source, open_persistence(url) as target:
                original = await source.load(session_id)
                await target.create(original.header)
                await target.append(session_id, original.events)
        async with open_persistence(url) as persistence:
            stored = await persistence.load(session_id)
            store = SessionStore()
            persistence.attach(store)
            session = store.create(header=stored.header, seed=stored.events)
            before = len(session.events)
            turn = (session.last_turn or 0) + 1
            session.append("turn/start", {"turn": turn, "trigger": {"kind": "injection"}})
            await store.flush(session)
            child = store.fork(session)
            await store.flush(child)
            session.append("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
            await store.flush(session)
        async with open_persistence(url) as persistence:
            parent, fork = await persistence.load(session_id), await persistence.load(child.id)
        assert list(parent.events[:before]) == list(stored.events)
        assert list(parent.events) == list(session.events)
        assert list(fork.events) == list(child.events)
        assert fork.header.parent_session == session_id
        assert fork.header.seed_length == before + 1
        assert not interrupted_turn_closers(fork.events)

    if medium == "sqlite" and not content.split(b"\n")[1:-1]:
        pytest.skip("a header without events leaves nothing to copy")
    asyncio.run(scenario())
