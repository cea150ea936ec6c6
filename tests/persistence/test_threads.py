"""Calls on threads: they run to their end, their waiters are woken, and nothing is left behind."""

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from pathlib import Path

import pytest

from dsh_session_persistence.doorbell import doorbell
from dsh_session_persistence.threads import Workers


@pytest.fixture
def workers():
    """Threads that end with the test."""
    made = Workers("test", writers=2, readers=1)
    yield made
    made.shutdown()


def test_a_call_comes_back_with_its_result_or_its_error(workers):
    """What a coroutine would give."""

    async def scenario():
        assert await workers.write(divmod, 7, 2) == (3, 1)
        assert await workers.read(int, "ff", base=16) == 255
        with pytest.raises(ZeroDivisionError):
            await workers.write(divmod, 1, 0)
        with pytest.raises(SystemExit):
            await workers.write(sys.exit, "not the thread's end")
        assert await workers.write(len, "abc") == 3

    asyncio.run(scenario())


def test_a_call_is_on_its_way_before_anybody_waits(workers):
    """A flush relies on it."""

    async def scenario():
        begun = threading.Event()
        job = workers.write(begun.set)
        assert begun.wait(5)
        await job

    asyncio.run(scenario())


def test_a_call_that_ended_before_anybody_waited_is_waited_for_all_the_same(workers):
    """Then there is nobody to wake, and nothing to wait for."""

    async def scenario():
        job = workers.write(len, "abc")
        for _ in range(1000):
            if job._end.has_come:
                break
            await asyncio.sleep(0.001)
        assert await job == 3
        assert await job == 3

    asyncio.run(scenario())


def test_calls_run_side_by_side_up_to_the_number_of_threads(workers):
    """And no more: the third waits."""

    async def scenario():
        gates = [threading.Event() for _ in range(3)]
        begun = [threading.Event() for _ in range(3)]

        def call(number):
            begun[number].set()
            assert gates[number].wait(5)

        jobs = [workers.write(call, number) for number in range(3)]
        assert begun[0].wait(5)
        assert begun[1].wait(5)
        assert not begun[2].wait(0.05)
        assert await workers.read(len, "reads do not wait behind writes")
        gates[0].set()
        await jobs[0]
        assert begun[2].wait(5)
        for gate in gates:
            gate.set()
        await jobs[1]
        await jobs[2]

    asyncio.run(scenario())


def test_whoever_is_cancelled_waits_for_the_end_all_the_same(workers):
    """Nothing else may touch what the call still works on."""

    async def scenario():
        gate = threading.Event()
        done = []

        def call():
            assert gate.wait(5)
            done.append(True)

        async def wait():
            await workers.write(call)

        task = asyncio.create_task(wait())
        await asyncio.sleep(0.01)
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0.01)
            assert not task.done()
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert done

    asyncio.run(scenario())


def test_whoever_waits_for_the_end_only_goes_at_once(workers):
    """The call goes on, and can be waited for again."""

    async def scenario():
        gate = threading.Event()
        job = workers.write(gate.wait, 5)

        async def wait():
            await job.ended()

        for _ in range(3):
            task = asyncio.create_task(wait())
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        gate.set()
        await job.ended()
        assert await job is True

    asyncio.run(scenario())


def test_a_cancellation_and_the_end_at_the_same_time_lose_nothing(workers):
    """Whichever comes first, the task goes on, cancelled or not, and the result can still be had."""

    async def scenario():
        outcomes = set()

        async def wait(job):
            await job.ended()

        for _ in range(300):
            job = workers.write(os.getpid)
            task = asyncio.create_task(wait(job))
            await asyncio.sleep(0)
            task.cancel()
            (outcome,) = await asyncio.gather(task, return_exceptions=True)
            outcomes.add(type(outcome))
            assert await asyncio.wait_for(asyncio.ensure_future(_result(job)), 5) == os.getpid()
        assert outcomes <= {asyncio.CancelledError, type(None)}

    asyncio.run(scenario())


async def _result(job):
    return await job


def test_a_job_may_be_gathered(workers):
    """It is an awaitable like a coroutine."""

    async def scenario():
        assert await asyncio.gather(*(workers.write(len, "x" * n) for n in range(5))) == [0, 1, 2, 3, 4]

    asyncio.run(scenario())


def test_a_loop_that_was_closed_is_not_rung(workers):
    """The call ends for nobody, and the thread goes on."""
    gate = threading.Event()

    async def leave():
        workers.write(gate.wait, 5)

    asyncio.run(leave())
    gate.set()
    assert asyncio.run(_result_of(workers)) == 3


async def _result_of(workers):
    return await workers.write(len, "abc")


def test_a_loop_that_watches_no_descriptors_is_reached_in_its_own_way(workers):
    """As the one of Windows is."""

    class Blind(asyncio.SelectorEventLoop):
        def add_reader(self, fd, callback, *args: object) -> None:
            raise NotImplementedError

    loop = Blind()
    try:
        assert loop.run_until_complete(_result_of(workers)) == 3
        assert doorbell(loop) == loop.call_soon_threadsafe
    finally:
        loop.close()


@pytest.mark.skipif(not hasattr(os, "eventfd"), reason="a doorbell is an eventfd")
def test_a_doorbell_goes_with_its_loop(workers):
    """A descriptor a loop would add up where `asyncio.run` is called again and again."""

    def descriptors():
        gc.collect()
        return len(list(Path("/proc/self/fd").iterdir()))

    asyncio.run(_result_of(workers))
    before = descriptors()
    for _ in range(20):
        assert asyncio.run(_result_of(workers)) == 3
    assert descriptors() <= before + 1


def test_threads_with_loops_of_their_own_do_not_get_in_each_others_way():
    """Each makes a doorbell for each of its loops, and all of them are in one register."""
    errors = []

    def run():
        try:
            for _ in range(100):
                workers = Workers("own")
                assert asyncio.run(_result_of(workers)) == 3
                workers.shutdown()
        except Exception as error:  # noqa: BLE001 - shown below
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []


@pytest.mark.skipif(not hasattr(os, "eventfd"), reason="a doorbell is an eventfd")
def test_an_interrupt_in_one_task_does_not_leave_the_others_asleep(workers):
    """They have rung at the same time, and are woken one after another."""
    woken = []

    async def wait(gate, name):
        await workers.write(gate.wait, 5)
        woken.append(name)
        if len(woken) == 1:
            raise KeyboardInterrupt

    loop = asyncio.new_event_loop()
    gate = threading.Event()
    tasks = [loop.create_task(wait(gate, name)) for name in "ab"]
    loop.call_later(0.05, gate.set)
    loop.call_later(0.1, time.sleep, 0.05)  # both ring while the loop is busy
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(asyncio.wait(tasks))
    loop.run_until_complete(asyncio.wait(tasks, timeout=5))
    assert sorted(woken) == ["a", "b"]
    for task in tasks:
        task.exception()
    loop.close()


def test_threads_end_when_they_are_shut_down_and_calls_are_refused_then():
    """Those that were handed in before are made."""

    async def scenario():
        workers = Workers("ending")
        jobs = [workers.write(len, "abc") for _ in range(10)]
        workers.shutdown()
        with pytest.raises(RuntimeError):
            workers.write(len, "abc")
        assert [await job for job in jobs] == [3] * 10

    asyncio.run(scenario())
    _wait_until_none("ending")


def test_threads_end_when_nobody_has_them_any_more():
    """Whoever forgets to close a persistence does not keep its threads for ever."""

    async def scenario():
        workers = Workers("forgotten")
        await workers.write(len, "abc")
        return weakref.ref(workers)

    reference = asyncio.run(scenario())
    gc.collect()
    assert reference() is None
    _wait_until_none("forgotten")


def _wait_until_none(name):
    for _ in range(500):
        if not any(thread.name.startswith(name) for thread in threading.enumerate()):
            return
        time.sleep(0.01)
    pytest.fail("threads are left")


def test_the_interpreter_waits_for_calls_that_run(tmp_path):
    """A write that nobody waits for is not cut off in the middle either."""
    program = textwrap.dedent("""
        import asyncio, pathlib, sys, time
        from dsh_session_persistence.threads import Workers
        workers = Workers("late")
        def call():
            time.sleep(0.3)
            pathlib.Path(sys.argv[1]).write_text("written")
        async def main():
            workers.write(call)
        asyncio.run(main())
    """)
    target = tmp_path / "file"
    done = subprocess.run([sys.executable, "-c", program, str(target)], capture_output=True, timeout=60, check=True)
    assert done.stderr == b""
    assert target.read_text() == "written"
