"""The way of most flushes: the write is on its way at once, and no task stands between it and its waiter."""

import asyncio
import threading

import pytest

from dsh_session import SessionStore
from dsh_session_persistence import ConcurrentWriter, CoordinatedPersistence, MemoryMedium, StorageFailure
from dsh_session_persistence import coordinator as coordinator_module
from dsh_session_persistence.memory import MemoryBackend
from dsh_session_persistence.testing.samples import turns
from dsh_session_persistence.testing.scenes import played
from dsh_session_persistence.threads import Workers

KINDS = ["job", "coroutine"]


class Disk:
    """A medium whose writes stop at a gate, and fail as they are told."""

    def __init__(self) -> None:
        self.medium = MemoryMedium()
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Event()
        self.failures = []
        self.writes = 0

    def backend(self, kind):
        """Give a backend that stores on a thread, or one that stores in a coroutine."""
        return {"job": OnThreads, "coroutine": InCoroutines}[kind](self)

    def stored(self, session_id="sample"):
        """Count the events that are stored."""
        return len(self.medium.records.get(session_id, [b""])) - 1


def _run(coroutine):
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits for something")


class OnThreads(MemoryBackend):
    """Hands its writes to a thread."""

    def __init__(self, disk) -> None:
        super().__init__(disk.medium)
        self.disk = disk
        self.workers = Workers("disk")

    def append_batch(self, header, events, materialized):
        """Give the job."""
        return self.workers.write(self.store, header, events, materialized)

    def store(self, header, events, materialized):
        """Store, on the thread, when the gate is open."""
        self.disk.writes += 1
        self.disk.begun.set()
        assert self.disk.gate.wait(10)
        if self.disk.failures:
            raise self.disk.failures.pop(0)
        _run(MemoryBackend.append_batch(self, header, events, materialized))

    async def load_stored(self, session_id):
        """Read on a thread, too."""
        return await self.workers.read(lambda: _run(MemoryBackend.load_stored(self, session_id)))

    async def close(self):
        """End the threads, too."""
        await super().close()
        self.workers.shutdown()


class InCoroutines(MemoryBackend):
    """Stores as a third party might."""

    def __init__(self, disk) -> None:
        super().__init__(disk.medium)
        self.disk = disk

    async def append_batch(self, header, events, materialized):
        """Store when the gate is open."""
        self.disk.writes += 1
        self.disk.begun.set()
        while not self.disk.gate.is_set():  # noqa: ASYNC110 - the gate is one for threads
            await asyncio.sleep(0.001)
        if self.disk.failures:
            raise self.disk.failures.pop(0)
        await super().append_batch(header, events, materialized)


@pytest.fixture(params=KINDS)
def scene(request, monkeypatch):
    """A disk, a persistence over it, a store, and a session of which one turn is stored."""
    monkeypatch.setattr(coordinator_module, "_CANCELLED_WAIT_S", 0.2)
    disk = Disk()
    persistence = CoordinatedPersistence(disk.backend(request.param), write_batch_max_delay_ms=60_000)
    store = SessionStore()
    persistence.attach(store)
    session = store.create(id="sample")
    played(session, turns(1))
    asyncio.run(store.flush(session))
    assert disk.stored() == len(session.events)
    disk.begun.clear()
    disk.writes = 0
    return disk, persistence, store, session


async def begun(disk):
    """Wait until a write has begun."""
    for _ in range(5000):
        if disk.begun.is_set():
            return
        await asyncio.sleep(0.001)
    pytest.fail("no write began")


async def cancelled_in_the_middle(disk, store, session):
    """Flush, cancel the flush while it writes, and let the write come to its end."""
    disk.gate.clear()
    flush = asyncio.create_task(store.flush(session))
    await begun(disk)
    flush.cancel()
    await asyncio.sleep(0.01)
    disk.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await flush


def more(session):
    """Append the second turn."""
    played(session, turns(2)[len(session.events) :])


def test_a_flush_stores_once_whoever_else_flushes(scene):
    """The second comer waits for the first, and finds nothing left to do."""
    disk, persistence, store, session = scene

    async def scenario():
        more(session)
        disk.gate.clear()
        flushes = [asyncio.create_task(store.flush(session)) for _ in range(3)]
        await begun(disk)
        assert not any(task.done() for task in flushes)
        disk.gate.set()
        await asyncio.gather(*flushes)
        assert disk.writes == 1
        await persistence.aclose()

    asyncio.run(scenario())
    assert disk.stored() == len(session.events) == len(turns(2))


def test_events_that_are_appended_while_a_flush_runs_are_for_the_next(scene):
    """The barrier is for what was admitted before it."""
    disk, persistence, store, session = scene

    async def scenario():
        played(session, turns(2)[len(session.events) : len(session.events) + 1])
        disk.gate.clear()
        flush = asyncio.create_task(store.flush(session))
        await begun(disk)
        admitted = len(session.events)
        more(session)
        disk.gate.set()
        await flush
        assert disk.stored() == admitted
        await store.flush(session)
        await persistence.aclose()

    asyncio.run(scenario())
    assert disk.stored() == len(session.events)


def test_a_cancelled_waiter_does_not_cancel_the_write(scene):
    """Its outcome counts for the next operation."""
    disk, persistence, store, session = scene

    async def scenario():
        more(session)
        await cancelled_in_the_middle(disk, store, session)
        await store.flush(session)
        assert disk.writes == 1
        await persistence.aclose()

    asyncio.run(scenario())
    assert disk.stored() == len(session.events)


def test_a_disk_that_hangs_does_not_hold_a_cancelled_waiter(scene):
    """It is let go after a while; the write counts whenever it comes to its end."""
    disk, persistence, store, session = scene

    async def scenario():
        more(session)
        disk.gate.clear()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(store.flush(session), 0.02)
        assert disk.stored() < len(session.events)
        again = asyncio.create_task(store.flush(session))
        await asyncio.sleep(0.02)
        assert not again.done()
        disk.gate.set()
        await again
        assert disk.writes == 1
        await persistence.aclose()

    asyncio.run(scenario())
    assert disk.stored() == len(session.events)


def test_a_write_that_fails_for_nobody_is_logged_and_made_up_for(scene, caplog):
    """Whoever was cancelled cannot be told."""
    disk, persistence, store, session = scene

    async def scenario():
        more(session)
        disk.failures.append(StorageFailure("writing", OSError("no space left")))
        await cancelled_in_the_middle(disk, store, session)
        await store.flush(session)
        assert "no space left" in caplog.text
        await persistence.aclose()

    asyncio.run(scenario())
    assert disk.stored() == len(session.events)


@pytest.mark.parametrize("error", [StorageFailure("writing", OSError("full")), ConcurrentWriter("sample", "who")])
def test_a_failure_is_raised_and_the_next_flush_tries_again(scene, error):
    """A failure of the medium stores nothing; after a foreign writer the next one looks what is there."""
    disk, persistence, store, session = scene

    async def scenario():
        more(session)
        disk.failures.append(error)
        with pytest.raises(ExceptionGroup) as caught:
            await store.flush(session)
        assert caught.value.exceptions == (error,)
        await store.flush(session)
        await persistence.aclose()

    asyncio.run(scenario())
    assert disk.stored() == len(session.events)


def test_a_loop_that_ends_in_the_middle_leaves_a_session_that_can_be_stored(scene):
    """What came of the write is not known, so the next operation looks."""
    disk, persistence, store, session = scene

    async def leave():
        more(session)
        disk.gate.clear()
        task = asyncio.create_task(store.flush(session))
        await begun(disk)
        asyncio.get_running_loop().call_later(0.05, disk.gate.set)
        return task

    asyncio.run(leave())
    disk.gate.set()

    async def go_on():
        await store.flush(session)
        await persistence.aclose()

    asyncio.run(asyncio.wait_for(go_on(), 10))
    assert disk.stored() == len(session.events)


def test_a_loop_that_is_closed_without_a_word_leaves_a_session_that_can_be_stored(scene):
    """Nobody cancels its tasks, and nobody wakes them any more."""
    disk, persistence, store, session = scene
    loop = asyncio.new_event_loop()
    more(session)
    disk.gate.clear()
    task = loop.create_task(store.flush(session))
    loop.run_until_complete(begun(disk))
    loop.close()
    disk.gate.set()
    for pending in (task, *persistence._coordinator._tasks):
        pending._log_destroy_pending = False  # whoever closes a loop like this deserves to be told

    async def go_on():
        await store.flush(session)
        await persistence.aclose()

    asyncio.run(asyncio.wait_for(go_on(), 10))
    assert disk.stored() == len(session.events)


@pytest.mark.parametrize("fails", [False, True])
def test_a_new_loop_waits_for_a_write_of_the_one_before(monkeypatch, fails):
    """Its thread goes on; what it has written may still be taken back, and is not to be acknowledged."""
    monkeypatch.setattr(coordinator_module, "_CANCELLED_WAIT_S", 0.01)
    disk = Disk()
    persistence = CoordinatedPersistence(disk.backend("job"), write_batch_max_delay_ms=60_000)
    store = SessionStore()
    persistence.attach(store)
    session = store.create(id="sample")
    played(session, turns(1))
    asyncio.run(store.flush(session))
    disk.begun.clear()
    more(session)
    disk.gate.clear()
    if fails:
        disk.failures.append(StorageFailure("writing", OSError("no space left")))

    async def leave():
        task = asyncio.create_task(store.flush(session))
        await begun(disk)
        return task

    asyncio.run(leave())

    async def go_on():
        flush = asyncio.create_task(store.flush(session))
        await asyncio.sleep(0.05)
        assert not flush.done()
        disk.gate.set()
        await asyncio.wait_for(flush, 10)
        assert disk.stored() == len(session.events)
        await persistence.aclose()

    asyncio.run(go_on())


def test_a_loop_that_ends_under_many_operations_leaves_room_for_others():
    """Those that were cut off do not count for ever."""
    disk = Disk()
    persistence = CoordinatedPersistence(disk.backend("coroutine"))
    store = SessionStore()
    persistence.attach(store)
    sessions = [store.create(id=f"s{number}") for number in range(100)]
    for session in sessions:
        played(session, turns(1))
    loop = asyncio.new_event_loop()
    disk.gate.clear()
    tasks = [loop.create_task(store.flush(session)) for session in sessions]
    loop.run_until_complete(begun(disk))
    for pending in (*tasks, *persistence._coordinator._tasks):
        pending.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.run_until_complete(asyncio.sleep(0))
    for pending in (*tasks, *persistence._coordinator._tasks):
        pending._log_destroy_pending = False
    loop.close()
    disk.gate.set()

    async def go_on():
        await asyncio.gather(*(store.flush(session) for session in sessions))
        await persistence.aclose()

    asyncio.run(asyncio.wait_for(go_on(), 10))
    assert [disk.stored(session.id) for session in sessions] == [len(turns(1))] * 100


def test_events_that_come_while_a_session_is_released_do_not_bring_it_back(scene):
    """Its id is free, and another instance may have it."""
    disk, persistence, store, session = scene
    backend = persistence._coordinator._backend
    give_up = backend.release

    async def release(session_id):
        played(session, turns(3)[len(session.events) :])
        await give_up(session_id)

    backend.release = release

    async def scenario():
        more(session)
        await store.release(session)
        await asyncio.sleep(0.02)
        assert not disk.medium.owners
        assert all(timer.cancelled() for timer in asyncio.get_running_loop()._scheduled)
        await persistence.aclose()

    asyncio.run(scenario())
    assert disk.stored() == len(turns(2))


def test_closing_waits_for_a_flush_that_runs(scene):
    """Afterwards nothing is on its way."""
    disk, persistence, store, session = scene

    async def scenario():
        more(session)
        disk.gate.clear()
        flush = asyncio.create_task(store.flush(session))
        await begun(disk)
        closing = asyncio.create_task(persistence.aclose())
        await asyncio.sleep(0.02)
        assert not closing.done()
        disk.gate.set()
        await closing
        assert disk.stored() == len(session.events)
        await flush

    asyncio.run(scenario())


def test_a_window_does_not_keep_a_released_session_alive():
    """A timer is kept from one window to the next, but not beyond the session."""
    disk = Disk()
    persistence = CoordinatedPersistence(disk.backend("coroutine"), write_batch_max_delay_ms=3_600_000)
    store = SessionStore()
    persistence.attach(store)

    async def scenario():
        session = store.create(id="sample")
        played(session, turns(1))
        await store.flush(session)
        played(session, turns(2)[len(session.events) :])
        timers = asyncio.get_running_loop()._scheduled
        assert [timer.cancelled() for timer in timers] == [False]
        await store.release(session)
        assert all(timer.cancelled() for timer in timers)
        await persistence.aclose()

    asyncio.run(scenario())
    assert disk.stored() == len(turns(2))


@pytest.mark.parametrize("kind", KINDS)
def test_sessions_that_are_idle_again_are_given_up(kind):
    """As many as are owned at most, also when none of them needed a task."""
    disk = Disk()
    persistence = CoordinatedPersistence(disk.backend(kind), max_open_sessions=2)
    store = SessionStore()
    persistence.attach(store)
    sessions = [store.create(id=f"s{number}") for number in range(6)]

    async def scenario():
        for count in (1, 2):
            for session in sessions:
                played(session, turns(count)[len(session.events) :])
            await asyncio.gather(*(store.flush(session) for session in sessions))
            await asyncio.sleep(0.05)
            assert len(disk.medium.owners) <= 2
        await persistence.aclose()

    asyncio.run(scenario())
    assert [disk.stored(session.id) for session in sessions] == [len(turns(2))] * 6
