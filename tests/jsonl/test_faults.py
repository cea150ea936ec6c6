"""Disks that are full, that fail to sync, and files that somebody else changed."""

import asyncio
import errno
import os
import resource
import subprocess
import sys
import threading

import pytest

from dsh_session import SessionStore
from dsh_session_persistence import ConcurrentWriter, SequenceMismatch, SessionExists, StorageFailure
from dsh_session_persistence.testing import backend_of
from dsh_session_persistence.testing.samples import header, sid, turns
from dsh_session_persistence.testing.scenes import is_stored, read_fresh, store_log
from dsh_session_persistence_jsonl.backend import JsonlBackend
from dsh_session_persistence_jsonl.creation import sweep
from dsh_session_persistence_jsonl.disk import Disk

ONE = len(turns())


def _more(turn):
    """Return the events of the n-th turn."""
    return turns(turn)[ONE * (turn - 1) :]


async def _opened(storage):
    """Return an instance that owns a session with one turn, and its disk."""
    await store_log(storage, turns())
    persistence = storage.open()
    await persistence.load(sid("sample"))
    return persistence, storage.disk(persistence)


def test_a_full_disk_leaves_nothing_of_a_batch(jsonl_storage, run):
    """Half a batch behind an error would make the retry a repetition."""

    async def scenario():
        persistence, disk = await _opened(jsonl_storage)
        before = jsonl_storage.image(sid("sample"))
        disk.room_bytes = 700
        with pytest.raises(StorageFailure) as caught:
            await persistence.append(sid("sample"), _more(2))
        assert caught.value.cause.errno == errno.ENOSPC
        assert jsonl_storage.image(sid("sample")) == before
        await persistence.append(sid("sample"), _more(2))
        await persistence.aclose()
        assert list((await read_fresh(jsonl_storage, sid("sample"))).events) == turns(2)

    run(scenario())


def test_a_limit_of_the_kernel_leaves_nothing_of_a_batch(jsonl_storage, run):
    """The same with no fake: the kernel itself takes a part of the bytes and refuses the rest."""

    async def scenario():
        persistence, _ = await _opened(jsonl_storage)
        before = jsonl_storage.image(sid("sample"))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 500, hard))
        try:
            with pytest.raises(StorageFailure) as caught:
                await persistence.append(sid("sample"), _more(2))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert caught.value.cause.errno == errno.EFBIG
        assert jsonl_storage.image(sid("sample")) == before
        await persistence.append(sid("sample"), _more(2))
        await persistence.aclose()

    run(scenario())


def test_a_failed_first_write_leaves_no_session(jsonl_storage, run):
    """A session is there with its first batch, or not at all; its id stays free."""

    async def scenario():
        async with jsonl_storage.open() as persistence:
            disk = jsonl_storage.disk(persistence)
            await persistence.create(header())
            for fault in ("room_bytes", "failing_syncs", "failing_folder_syncs"):
                setattr(disk, fault, 1)
                with pytest.raises(StorageFailure):
                    await persistence.append(sid("sample"), turns())
                assert not await is_stored(jsonl_storage, sid("sample"))
                assert [path for path in jsonl_storage.root.rglob("*") if path.is_file()] == []
            await persistence.append(sid("sample"), turns())

    run(scenario())


def test_after_a_failed_sync_the_descriptor_is_not_trusted(jsonl_storage, run):
    """The kernel reports a lost page once: the next sync of that descriptor would pass over it."""

    async def scenario():
        persistence, disk = await _opened(jsonl_storage)
        before = jsonl_storage.image(sid("sample"))
        await persistence.append(sid("sample"), _more(2))
        log = backend_of(persistence)._logs[sid("sample")]
        kept = os.fstat(log._fd)
        disk.failing_syncs = 1
        opened: list[int] = []
        take = disk.lock
        disk.lock = lambda fd: opened.append(fd) or take(fd)
        with pytest.raises(StorageFailure):
            await persistence.append(sid("sample"), _more(3))
        assert len(opened) == 1
        assert os.fstat(log._fd).st_ino == kept.st_ino
        assert jsonl_storage.image(sid("sample")).startswith(before)
        await persistence.append(sid("sample"), _more(3))
        await persistence.aclose()
        assert list((await read_fresh(jsonl_storage, sid("sample"))).events) == turns(3)

    run(scenario())


def test_ownership_outlives_a_failed_sync(jsonl_storage, run):
    """Reopening the file takes its lock again at once."""

    async def scenario():
        persistence, disk = await _opened(jsonl_storage)
        disk.failing_syncs = 1
        with pytest.raises(StorageFailure):
            await persistence.append(sid("sample"), _more(2))
        async with jsonl_storage.open() as other:
            with pytest.raises(ConcurrentWriter):
                await other.load(sid("sample"))
        await persistence.aclose()

    run(scenario())


def test_what_could_not_be_cut_away_is_cut_before_the_next_batch(jsonl_storage, run):
    """A disk that refuses the cut, too, leaves a tail that this instance knows as its own."""

    async def scenario():
        persistence, disk = await _opened(jsonl_storage)
        before = jsonl_storage.image(sid("sample"))
        disk.room_bytes, disk.failing_truncates = 700, 1
        with pytest.raises(StorageFailure):
            await persistence.append(sid("sample"), _more(2))
        assert len(jsonl_storage.image(sid("sample"))) == len(before) + 700
        await persistence.append(sid("sample"), _more(2))
        await persistence.aclose()
        assert list((await read_fresh(jsonl_storage, sid("sample"))).events) == turns(2)

    run(scenario())


def test_a_whole_batch_that_could_not_be_cut_away_is_not_stored_twice(jsonl_storage, run):
    """A failed sync behind a whole write, and no cut: the retry replaces it."""

    async def scenario():
        persistence, disk = await _opened(jsonl_storage)
        disk.failing_syncs, disk.failing_truncates = 1, 1
        with pytest.raises(StorageFailure):
            await persistence.append(sid("sample"), _more(2))
        await persistence.append(sid("sample"), _more(2))
        await persistence.aclose()
        assert list((await read_fresh(jsonl_storage, sid("sample"))).events) == turns(2)

    run(scenario())


@pytest.mark.parametrize("kept", [700, None])
def test_what_could_not_be_cut_away_is_known_also_when_the_file_was_given_up(jsonl_storage, run, kept):
    """An idle session gives up its descriptor, and finds its own leavings when it comes back."""

    async def scenario():
        persistence, disk = await _opened(jsonl_storage)
        backend = backend_of(persistence)
        disk.failing_truncates = 1
        if kept is None:
            disk.failing_syncs = 1
        else:
            disk.room_bytes = kept
        with pytest.raises(StorageFailure):
            await persistence.append(sid("sample"), _more(2))
        await backend.release(sid("sample"))
        await backend.acquire(sid("sample"))
        await persistence.append(sid("sample"), _more(2))
        await persistence.aclose()
        assert list((await read_fresh(jsonl_storage, sid("sample"))).events) == turns(2)

    run(scenario())


def test_a_live_session_keeps_what_a_full_disk_refused(jsonl_storage, run):
    """The next flush stores it, in order."""

    async def scenario():
        store = SessionStore()
        async with jsonl_storage.open() as persistence:
            persistence.attach(store)
            session = store.create(id="sample")
            session.append("turn/start", turns()[0].data)
            await store.flush(session)
            session.append("turn/end", turns()[-1].data)
            jsonl_storage.disk(persistence).room_bytes = 10
            with pytest.raises(ExceptionGroup) as caught:
                await store.flush(session)
            assert caught.group_contains(StorageFailure)
            await store.flush(session)
        assert list((await read_fresh(jsonl_storage, sid("sample"))).events) == list(session.events)

    run(scenario())


def test_one_batch_is_one_write_and_one_sync(jsonl_storage, run):
    """The cost of a flush does not grow with the number of its events."""

    async def scenario():
        persistence, disk = await _opened(jsonl_storage)
        disk.calls.clear()
        await persistence.append(sid("sample"), turns(40)[ONE:])
        await persistence.aclose()
        assert disk.calls == ["write", "sync"]

    run(scenario())


def test_a_file_that_was_replaced_is_not_written(jsonl_storage, run):
    """Bytes appended to a file without a name are lost with it."""

    async def scenario():
        persistence, _ = await _opened(jsonl_storage)
        path = jsonl_storage.path(sid("sample"))
        copy = path.read_bytes()
        path.unlink()
        path.write_bytes(copy)
        with pytest.raises(ConcurrentWriter):
            await persistence.append(sid("sample"), _more(2))
        await persistence.aclose()
        assert path.read_bytes() == copy

    run(scenario())


def test_a_file_that_is_gone_is_not_made_again(jsonl_storage, run):
    """Who deletes a session while it is owned is told so by the owner's error."""

    async def scenario():
        persistence, _ = await _opened(jsonl_storage)
        jsonl_storage.path(sid("sample")).unlink()
        with pytest.raises(ConcurrentWriter):
            await persistence.append(sid("sample"), _more(2))
        await persistence.aclose()
        assert not await is_stored(jsonl_storage, sid("sample"))

    run(scenario())


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda path: path.write_bytes(path.read_bytes() + _more(2)[0].line + b"\n"), SequenceMismatch),
        (lambda path: path.write_bytes(path.read_bytes() + b"frag"), ConcurrentWriter),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"completed", b"disturbed!")), ConcurrentWriter),
    ],
    ids=["appended", "torn", "rewritten"],
)
def test_a_tail_that_somebody_else_changed_stops_the_owner(jsonl_storage, run, change, error):
    """A writer that ignores the lock is noticed before anything is written behind it."""

    async def scenario():
        persistence, _ = await _opened(jsonl_storage)
        backend, path = backend_of(persistence), jsonl_storage.path(sid("sample"))
        await backend.commit_repair(header(), None, ())
        change(path)
        after = path.read_bytes()
        with pytest.raises(error):
            await backend.append_batch(header(), _more(2), materialized=True)
        assert path.read_bytes() == after
        await persistence.aclose()

    run(scenario())


def test_a_session_that_was_given_up_is_compared_when_it_is_taken_again(jsonl_storage, run):
    """While the lock was free, somebody may have been there: the tail tells."""

    async def scenario():
        backend = backend_of(jsonl_storage.open())
        await backend.append_batch(header(), turns(), materialized=False)
        await backend.release(sid("sample"))
        path = jsonl_storage.path(sid("sample"))
        await backend.acquire(sid("sample"))
        await backend.append_batch(header(), _more(2), materialized=True)
        await backend.release(sid("sample"))
        path.write_bytes(path.read_bytes().replace(b'{"kind":"completed"}', b'{"kind":"disposed" }'))
        await backend.acquire(sid("sample"))
        with pytest.raises(ConcurrentWriter):
            await backend.append_batch(header(), _more(3), materialized=True)
        await backend.close()

    run(scenario())


def test_a_repair_never_cuts_what_can_be_read(jsonl_storage, run):
    """Between the look and the cut a writer without a lock may have stored real work."""

    async def scenario():
        await store_log(jsonl_storage, turns())
        path = jsonl_storage.path(sid("sample"))
        marker = len(path.read_bytes())
        path.write_bytes(path.read_bytes() + _more(2)[0].line + b"\n")
        before = path.read_bytes()
        backend = backend_of(jsonl_storage.open())
        await backend.acquire(sid("sample"))
        with pytest.raises(ConcurrentWriter):
            await backend.commit_repair(header(), marker, ())
        with pytest.raises(ConcurrentWriter):
            await backend.commit_repair(header(), marker + 10_000, ())
        await backend.close()
        assert path.read_bytes() == before

    run(scenario())


@pytest.mark.parametrize("swept", ["before the lock", "during the lock"])
def test_a_creation_survives_a_sweep_between_its_file_and_its_lock(tmp_path, run, swept):
    """Another writer starting in the same folder must not fail this one, whatever their sessions."""

    class Swept(Disk):
        times = 0

        def lock(self, fd):
            self.times += 1
            if self.times > 1:
                return super().lock(fd)
            if swept == "during the lock":  # the sweep holds it just now
                return False
            for folder in tmp_path.iterdir():
                sweep(str(folder), Disk())
            return super().lock(fd)

    async def scenario():
        disk = Swept()
        backend = JsonlBackend(tmp_path, disk=disk)
        await backend.append_batch(header(), turns(), materialized=False)
        assert disk.times > 2
        stored = await backend.load_stored(header().id)
        assert list(stored.events) == turns()
        await backend.close()
        assert [path.suffix for path in tmp_path.glob("*/*")] == [".jsonl"]

    run(scenario())


def test_two_creations_of_one_id_make_one_session(jsonl_storage, run):
    """Two instances that see nothing stored both try; one of them has it."""

    async def scenario():
        backends = [backend_of(jsonl_storage.open()) for _ in range(8)]
        calls = [
            backend.append_batch(header(cwd=f"/{index % 3}"), turns(), materialized=False)
            for index, backend in enumerate(backends)
        ]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes if outcome is not None] == [SessionExists] * 7
        for backend in backends:
            await backend.close()

    run(scenario())
    assert len([path for path in jsonl_storage.root.rglob("*") if path.is_file()]) == 1


def test_a_creation_waits_for_another_one(jsonl_storage, run):
    """Two folders never gain the same id at once: creations take turns, and only for the link."""
    jsonl_storage.root.mkdir()
    fd = os.open(jsonl_storage.root, os.O_RDONLY | os.O_DIRECTORY)

    async def scenario():
        assert Disk().lock(fd)
        async with jsonl_storage.open() as persistence:
            await persistence.create(header())
            creating = asyncio.ensure_future(persistence.append(sid("sample"), turns()))
            done, _ = await asyncio.wait([creating], timeout=0.1)
            assert not done
            assert not await is_stored(jsonl_storage, sid("sample"))
            os.close(fd)
            await creating
        assert await is_stored(jsonl_storage, sid("sample"))

    run(scenario())


OWN = """
import asyncio, sys
from dsh_session_persistence_jsonl import JsonlPersistence
async def main():
    persistence = JsonlPersistence(sys.argv[1])
    await persistence.load("sample")
    print("owned", flush=True)
    sys.stdin.read()
asyncio.run(main())
"""


def test_another_process_owns_a_session_until_it_dies(jsonl_storage, run):
    """The kernel gives the lock back, whatever the process died of; until then its id is told."""
    run(store_log(jsonl_storage, turns()))
    with subprocess.Popen(
        [sys.executable, "-c", OWN, str(jsonl_storage.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout.readline() == b"owned\n"

        async def while_it_lives():
            async with jsonl_storage.open() as persistence:
                with pytest.raises(ConcurrentWriter) as caught:
                    await persistence.load(sid("sample"))
                assert len((await persistence.read(sid("sample"))).events) == ONE
                return caught.value.owner

        assert run(while_it_lives()) in {f"pid {owner.pid}", None}
        owner.kill()
        owner.wait()

        async def afterwards():
            async with jsonl_storage.open() as persistence:
                await persistence.append(sid("sample"), _more(2))

        run(afterwards())


def test_an_operation_that_is_cancelled_keeps_its_file_until_the_thread_is_done_with_it(jsonl_storage, run):
    """A descriptor that is closed under a write fails it, or takes it into the file that has the number next."""

    async def scenario():
        persistence, disk = await _opened(jsonl_storage)
        write, started, go = disk.write, threading.Event(), threading.Event()

        def slow(fd, data):
            started.set()
            go.wait(30)
            write(fd, data)

        disk.write = slow
        own = asyncio.current_task()
        appending = asyncio.create_task(persistence.append(sid("sample"), _more(2)))
        await asyncio.to_thread(started.wait, 30)
        inner = {task for task in asyncio.all_tasks() if task not in {own, appending}}
        for task in (*inner, appending):  # what the end of `asyncio.run` does
            task.cancel()
        done, _ = await asyncio.wait(inner, timeout=0.3)
        go.set()
        await asyncio.wait([*inner, appending])
        disk.write = write
        assert not done
        assert list((await persistence.load(sid("sample"))).events) == turns(2)
        await persistence.aclose()

    run(scenario())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_neither_keeps_a_lock_nor_writes_with_it(jsonl_storage, run):
    """Both processes would write behind the same lock, and the parent's death would leave it locked."""
    url = f"jsonl:{jsonl_storage.root}"
    program = f"""
import asyncio, os, signal, sys
from dsh_session_persistence import PersistenceUnavailable, open_persistence
from dsh_session_persistence.testing.samples import header, turns

async def store():
    await persistence.create(header())
    await persistence.append("sample", turns())

async def meddle():
    more = turns(2)[{ONE}:]
    for waiting in (persistence.append("sample", more), persistence.read("sample"), persistence.aclose()):
        try:
            await waiting
        except PersistenceUnavailable:
            print("refused", flush=True)

persistence = open_persistence({url!r})
asyncio.run(store())
child = os.fork()
if child:
    os._exit(0)  # the parent dies; nothing is closed
signal.alarm(60)  # no test hangs for ever
asyncio.run(meddle())
print("ready", flush=True)
sys.stdin.read()
os._exit(0)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        told = [process.stdout.readline() for _ in range(4)]
        process.wait()  # the parent; its child still reads from the pipe

        async def load():
            async with jsonl_storage.open() as persistence:
                return list((await persistence.load(sid("sample"))).events)

        stored = run(load())
        process.stdin.close()
    assert told == ["refused\n"] * 3 + ["ready\n"]
    assert stored == turns()
