"""Transactions, turns and locks, where SQLite differs from files."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from dsh_session_persistence import (
    ConcurrentWriter,
    CorruptSession,
    SequenceMismatch,
    SessionExists,
    StorageFailure,
)
from dsh_session_persistence.testing import backend_of
from dsh_session_persistence.testing.samples import header, sid, turns
from dsh_session_persistence.testing.scenes import is_stored, listed, load_fresh, read_fresh, store_log
from dsh_session_persistence_sqlite.lock import Locks

ONE = len(turns())


def _more(turn):
    """Return the events of the n-th turn."""
    return turns(turn)[ONE * (turn - 1) :]


def test_a_unique_collision_in_the_middle_leaves_nothing(sqlite_storage, run):
    """The rows before the collision are rolled back with it."""

    async def scenario():
        await store_log(sqlite_storage, turns())
        before = sqlite_storage.image(sid("sample"))
        backend = backend_of(sqlite_storage.open())
        colliding = [*_more(2)[:3], _more(2)[1]]
        with pytest.raises(ConcurrentWriter):
            await backend.append_batch(header(), colliding, materialized=True)
        assert sqlite_storage.image(sid("sample")) == before
        await backend.append_batch(header(), _more(2), materialized=True)
        await backend.close()
        assert list((await read_fresh(sqlite_storage, sid("sample"))).events) == turns(2)

    run(scenario())


def test_a_collision_in_a_first_batch_leaves_no_session(sqlite_storage, run):
    """Header and events are one transaction, and the lock goes with it."""

    async def scenario():
        backend, other = backend_of(sqlite_storage.open()), backend_of(sqlite_storage.open())
        with pytest.raises(ConcurrentWriter):
            await backend.append_batch(header(), [*turns(), turns()[1]], materialized=False)
        assert not await is_stored(sqlite_storage, sid("sample"))
        await other.append_batch(header(), turns(), materialized=False)
        await backend.close()
        await other.close()

    run(scenario())


@pytest.mark.parametrize("first", [True, False])
def test_a_commit_that_failed_and_came_true_is_not_stored_twice(sqlite_storage, run, first):
    """A log that was written but not synced can be recovered whole: the retry replaces it."""

    async def scenario():
        if not first:
            await store_log(sqlite_storage, turns())
        backend = backend_of(sqlite_storage.open())
        database = backend._database
        write = database.write

        def failing(work):
            database.write = write
            write(work)
            raise sqlite3.OperationalError("disk I/O error")

        database.write = failing
        batch = turns() if first else _more(2)
        with pytest.raises(StorageFailure):
            await backend.append_batch(header(), batch, materialized=not first)
        await backend.append_batch(header(), batch, materialized=not first)
        await backend.close()
        expected = turns() if first else turns(2)
        assert list((await read_fresh(sqlite_storage, sid("sample"))).events) == expected

    run(scenario())


def test_what_somebody_else_stored_is_no_leftover(sqlite_storage, run):
    """Only the very rows of the failed batch are replaced."""

    async def scenario():
        await store_log(sqlite_storage, turns())
        backend = backend_of(sqlite_storage.open())
        backend._unsure[sid("sample")] = _more(2)
        with sqlite_storage.changing() as connection:
            connection.execute("INSERT INTO events VALUES ('sample', ?, 'note', 0, '{}', NULL, NULL)", (ONE,))
        with pytest.raises(SequenceMismatch):
            await backend.append_batch(header(), _more(2), materialized=True)
        await backend.close()
        assert len((await read_fresh(sqlite_storage, sid("sample"))).events) == ONE + 1

    run(scenario())


def test_reads_do_not_wait_behind_a_write(sqlite_storage, run):
    """A long write in another program holds up no reader."""

    async def scenario():
        await store_log(sqlite_storage, turns())
        async with sqlite_storage.open() as persistence:
            with closing(sqlite3.connect(sqlite_storage.path, isolation_level=None)) as writer:
                writer.execute("BEGIN IMMEDIATE")
                writer.execute("DELETE FROM events")
                assert len((await persistence.read(sid("sample"))).events) == ONE
                assert len(await persistence.list()) == 1
                writer.execute("ROLLBACK")

    run(scenario())


def test_a_database_that_was_replaced_is_not_written(sqlite_storage, run):
    """What is written into a file without a name is lost with it; readers follow the name."""

    async def scenario():
        await store_log(sqlite_storage, turns())
        copy = sqlite_storage.path.read_bytes()
        async with sqlite_storage.open() as persistence:
            await persistence.load(sid("sample"))
            sqlite_storage.path.unlink()
            sqlite_storage.path.with_name("sessions.db-wal").unlink(missing_ok=True)
            sqlite_storage.path.with_name("sessions.db-shm").unlink(missing_ok=True)
            sqlite_storage.path.write_bytes(copy)
            with pytest.raises(ConcurrentWriter):
                await persistence.append(sid("sample"), _more(2))
            assert len((await persistence.read(sid("sample"))).events) == ONE
            await persistence.append(sid("sample"), _more(2))

    run(scenario())


def test_damaged_neighbours_are_left_out_of_the_list(sqlite_storage, run, caplog):
    """One bad row does not hide the sessions beside it, and does not go unsaid."""

    async def scenario():
        for name in ("good", "version", "bytes", "bare", "torn", "time"):
            await store_log(sqlite_storage, turns(), header(name))
        with sqlite_storage.changing() as connection:
            connection.execute("UPDATE sessions SET version = 9 WHERE id = 'version'")
            connection.execute("UPDATE sessions SET created_at = -1 WHERE id = 'time'")
            connection.execute("UPDATE events SET session_id = CAST(X'FF' AS TEXT) WHERE session_id = 'bytes'")
            connection.execute("UPDATE sessions SET id = CAST(X'FF' AS TEXT) WHERE id = 'bytes'")
            connection.execute("DELETE FROM events WHERE session_id = 'bare'")
            connection.execute("DELETE FROM events WHERE session_id = 'torn' AND seq > 0")
            connection.execute("UPDATE events SET data = '{' WHERE session_id = 'torn'")
        assert [head.id for head in await listed(sqlite_storage)] == ["good"]
        assert list((await load_fresh(sqlite_storage, sid("torn"))).events) == []

    run(scenario())
    assert "b'version'" in caplog.text


def test_events_without_a_header_are_corruption(sqlite_storage, run):
    """Rows of an id that no session has are somebody's work: nothing is written over them."""

    async def scenario():
        await store_log(sqlite_storage, turns())
        with sqlite_storage.changing() as connection:
            connection.execute("DELETE FROM sessions")
        with pytest.raises(CorruptSession):
            await load_fresh(sqlite_storage, sid("sample"))
        async with sqlite_storage.open() as persistence:
            with pytest.raises(SessionExists):
                await persistence.create(header())
        assert await listed(sqlite_storage) == []

    run(scenario())


def test_a_row_with_whole_but_strange_values_is_not_torn(sqlite_storage, run):
    """It was fully written, so somebody meant it."""

    async def scenario():
        await store_log(sqlite_storage, turns())
        with sqlite_storage.changing() as connection:
            connection.execute("INSERT INTO events VALUES ('sample', ?, 'note', -5, '{}', NULL, NULL)", (ONE,))
        with pytest.raises(CorruptSession) as caught:
            await load_fresh(sqlite_storage, sid("sample"))
        assert caught.value.row == ONE
        assert caught.value.seq == ONE

    run(scenario())


def test_a_repair_never_cuts_what_can_be_read(sqlite_storage, run):
    """Between the look and the cut a writer without a lock may have stored real work."""

    async def scenario():
        await store_log(sqlite_storage, turns(2))
        backend = backend_of(sqlite_storage.open())
        with pytest.raises(ConcurrentWriter):
            await backend.commit_repair(header(), ONE, ())
        await backend.close()
        assert len((await read_fresh(sqlite_storage, sid("sample"))).events) == 2 * ONE

    run(scenario())


def test_lock_files_are_removed_with_the_ownership(sqlite_storage, run):
    """A folder does not fill up with a file for every session there ever was."""

    async def scenario():
        for number in range(5):
            await store_log(sqlite_storage, turns(), header(f"s{number}"))

    run(scenario())
    folder = sqlite_storage.path.with_name("sessions.db-locks")
    assert [path.name for path in folder.iterdir()] == ["writer.lock"]


def test_a_lock_has_one_owner_while_its_file_comes_and_goes(tmp_path):
    """Removing a lock file must not let two owners in: one on the old file, one on the new."""
    owners, most = 0, 0
    counting = threading.Lock()
    failures: list[BaseException] = []

    def contend():
        nonlocal owners, most
        locks = Locks(str(tmp_path / "db"))
        try:
            for _ in range(300):
                try:
                    locks.own(sid("sample"))
                except ConcurrentWriter:
                    continue
                with counting:
                    owners += 1
                    most = max(most, owners)
                with counting:
                    owners -= 1
                locks.disown(sid("sample"))
        except BaseException as error:  # noqa: BLE001 - a thread's failure is the test's
            failures.append(error)
        finally:
            locks.close()

    threads = [threading.Thread(target=contend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert most == 1


def test_only_one_instance_has_its_turn_to_write(tmp_path):
    """Two connections never write or checkpoint at once, in whatever processes they are."""
    first, second = Locks(str(tmp_path / "db")), Locks(str(tmp_path / "db"))
    entered = threading.Event()

    def enter():
        second.take_turn()
        entered.set()
        second.end_turn()

    thread = threading.Thread(target=enter)
    first.take_turn()
    thread.start()
    assert not entered.wait(0.05)
    first.end_turn()
    thread.join()
    assert entered.is_set()
    first.close()
    second.close()


def test_instances_write_side_by_side(sqlite_storage, run):
    """Different sessions in one database have different writers, and each batch arrives whole."""

    async def write(number):
        head = header(f"s{number}")
        async with sqlite_storage.open() as persistence:
            await persistence.create(head)
            for turn in range(1, 6):
                await persistence.append(head.id, _more(turn))

    async def scenario():
        await asyncio.gather(*(write(number) for number in range(4)))
        for head in await listed(sqlite_storage):
            assert list((await load_fresh(sqlite_storage, head.id)).events) == turns(5)

    run(scenario())
    assert len(run(listed(sqlite_storage))) == 4


OWN = """
import asyncio, sys
from dsh_session_persistence_sqlite import SqlitePersistence
async def main():
    persistence = SqlitePersistence(sys.argv[1])
    await persistence.load("sample")
    print("owned", flush=True)
    sys.stdin.read()
asyncio.run(main())
"""


def test_another_process_owns_a_session_until_it_dies(sqlite_storage, run):
    """The kernel gives the lock back, whatever the process died of; until then its id is told."""
    run(store_log(sqlite_storage, turns()))
    with subprocess.Popen(
        [sys.executable, "-c", OWN, str(sqlite_storage.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout.readline() == b"owned\n"

        async def while_it_lives():
            async with sqlite_storage.open() as persistence:
                with pytest.raises(ConcurrentWriter) as caught:
                    await persistence.load(sid("sample"))
                assert len((await persistence.read(sid("sample"))).events) == ONE
                return caught.value.owner

        assert run(while_it_lives()) in {f"pid {owner.pid}", None}
        owner.kill()
        owner.wait()

        async def afterwards():
            async with sqlite_storage.open() as persistence:
                await persistence.append(sid("sample"), _more(2))

        run(afterwards())


@pytest.mark.parametrize("column", ["cwd", "parent_session"])
def test_a_header_that_is_not_utf8_is_corrupt_and_hides_no_other(sqlite_storage, run, column):
    """SQLite stores any bytes as text; the driver's own error would take the whole list with it."""

    async def scenario():
        await store_log(sqlite_storage, turns())
        await store_log(sqlite_storage, turns(), header("other"))
        with sqlite_storage.changing() as connection:
            connection.execute(f"UPDATE sessions SET {column} = CAST(x'2FFF' AS TEXT) WHERE id = 'sample'")  # noqa: S608 - a column of ours
        async with sqlite_storage.open() as persistence:
            for method in (persistence.load, persistence.read):
                with pytest.raises(CorruptSession):
                    await method(sid("sample"))
            assert [found.id for found in await persistence.list()] == ["other"]

    run(scenario())


def test_a_reader_whose_connection_failed_opens_another(sqlite_storage, run):
    """One bad moment must not make every later read fail, nor hide what the moment was."""
    run(store_log(sqlite_storage, turns()))
    backend = backend_of(sqlite_storage.open())
    backend._load(sid("sample"))
    (reader,) = backend._database._all_readers
    reader.connection.set_progress_handler(lambda: 1, 1)  # SQLite ends whatever it is doing
    with pytest.raises(StorageFailure) as caught:
        backend._load(sid("sample"))
    assert caught.value.cause.sqlite_errorname == "SQLITE_INTERRUPT"
    assert list(backend._load(sid("sample")).events) == turns()
    run(backend.close())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_neither_keeps_a_lock_nor_writes_with_it(sqlite_storage, run):
    """Both processes would write behind the same lock, and the parent's death would leave it locked."""
    url = f"sqlite:{sqlite_storage.path}"
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
            async with sqlite_storage.open() as persistence:
                return list((await persistence.load(sid("sample"))).events)

        stored = run(load())
        process.stdin.close()
    assert told == ["refused\n"] * 3 + ["ready\n"]
    assert stored == turns()
