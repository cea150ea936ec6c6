"""A failed write loses nothing, and a cancelled waiter changes nothing."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import Any

import pytest

from dsh_session import SessionStore
from dsh_session_persistence.errors import SequenceMismatch, StorageFailure
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import Log, header, sid, turns
from dsh_session_persistence.testing.scenes import errors_of, is_stored, played, read_fresh, store_log, until
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Failures"]

NEVER_MS = 600_000


class Records(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.records.append(record)


class Failures(Clauses):
    """What was not acknowledged stays pending, in order."""

    @clause("faults")
    async def test_a_failed_flush_is_reported(self, storage: Storage) -> None:
        """Whoever ends a turn must know that it is not durable."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=NEVER_MS) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            played(session, turns())
            faults.fail_writes()
            assert [type(error) for error in await errors_of(store, session)] == [StorageFailure]
            assert not await is_stored(storage, sid("sample"))

    @clause("faults")
    async def test_a_failed_flush_loses_nothing(self, storage: Storage) -> None:
        """The next flush stores what the failed one kept, before what came later, once."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=NEVER_MS) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            played(session, turns())
            faults.fail_writes(2)
            for _ in range(2):
                assert len(await errors_of(store, session)) == 1
            events = played(session, turns(1, first_turn=2))
            await store.flush(session)
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause("faults")
    async def test_a_failed_background_write_is_logged(self, storage: Storage) -> None:
        """An operator sees a full disk before the turn ends."""
        handler = Records()
        logging.getLogger("dsh_session_persistence").addHandler(handler)
        try:
            store = SessionStore()
            async with storage.open(write_batch_max_delay_ms=10) as persistence:
                faults = storage.faults(persistence)
                persistence.attach(store)
                faults.fail_writes()
                played(store.create(id="sample"), turns())
                assert await until(lambda: bool(faults.attempts))
                assert await until(lambda: bool(handler.records), limit_s=3)
        finally:
            logging.getLogger("dsh_session_persistence").removeHandler(handler)
        assert handler.records[0].levelno >= logging.ERROR

    @clause("faults")
    async def test_a_failed_background_write_that_succeeds_later_is_not_raised(self, storage: Storage) -> None:
        """The flush tries again; what is durable by then is no failure."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=10) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            faults.fail_writes()
            events = played(session, turns())
            assert await until(lambda: bool(faults.attempts))
            await store.flush(session)
            assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause("faults")
    async def test_a_background_write_that_keeps_failing_is_raised_by_the_flush(self, storage: Storage) -> None:
        """A background write acknowledges nothing, and hides nothing."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=10) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            faults.fail_writes(1_000)
            events = played(session, turns())
            assert await until(lambda: bool(faults.attempts))
            assert StorageFailure in [type(error) for error in await errors_of(store, session)]
            faults.heal()
            await store.flush(session)
            assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause("faults")
    async def test_a_failed_background_write_keeps_its_batch_in_order(self, storage: Storage) -> None:
        """Later events never overtake those that failed."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=10) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            faults.fail_writes()
            played(session, Log().turn_start().user("first").events)
            assert await until(lambda: bool(faults.attempts))
            events = played(session, Log().user("second").events)
            await store.flush(session)
            assert [numbers[0] for _, numbers in faults.written][:1] == [0]
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause("faults")
    async def test_a_failed_append_does_not_poison_the_next_operation(self, storage: Storage) -> None:
        """Operations run one after another, each on its own merits."""
        async with storage.open() as persistence:
            faults = storage.faults(persistence)
            await persistence.create(header())
            faults.fail_writes()
            outcomes = await asyncio.gather(
                persistence.append(sid("sample"), turns()),
                persistence.append(sid("sample"), turns()),
                return_exceptions=True,
            )
            assert [type(outcome) for outcome in outcomes] == [StorageFailure, type(None)]
        assert list((await read_fresh(storage, sid("sample"))).events) == turns()

    @clause("faults")
    async def test_the_failure_of_one_session_is_not_raised_by_another(self, storage: Storage) -> None:
        """A flush answers for its own session."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=NEVER_MS) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            bad, good = store.create(id="bad"), store.create(id="good")
            played(bad, turns())
            played(good, turns())
            faults.fail_writes(session_id=sid("bad"))
            outcomes = await asyncio.gather(store.flush(bad), store.flush(good), return_exceptions=True)
            assert isinstance(outcomes[0], ExceptionGroup)
            assert outcomes[1] is None

    @clause("faults")
    async def test_a_cancelled_flush_leaves_its_write_alone(self, storage: Storage) -> None:
        """The write goes on, its outcome counts, and the next flush stores only the rest."""
        store = SessionStore()
        async with storage.open(write_batch_max_delay_ms=NEVER_MS) as persistence:
            faults = storage.faults(persistence)
            persistence.attach(store)
            session = store.create(id="sample")
            played(session, turns())
            gate = faults.hold_writes(sid("sample"))
            flush = asyncio.ensure_future(store.flush(session))
            await gate.reached.wait()
            flush.cancel()
            with pytest.raises(asyncio.CancelledError):
                await flush
            gate.open()
            events = played(session, turns(1, first_turn=2))
            await store.flush(session)
        assert [numbers[0] for _, numbers in faults.written] == [0, len(turns())]
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause("faults")
    async def test_a_cancelled_append_leaves_its_write_alone(self, storage: Storage) -> None:
        """Cursor and store agree, whatever the caller has waited for."""
        async with storage.open() as persistence:
            faults = storage.faults(persistence)
            await persistence.create(header())
            gate = faults.hold_writes(sid("sample"))
            append = asyncio.ensure_future(persistence.append(sid("sample"), turns()))
            await gate.reached.wait()
            append.cancel()
            with pytest.raises(asyncio.CancelledError):
                await append
            gate.open()
            with pytest.raises(SequenceMismatch) as caught:
                await persistence.append(sid("sample"), turns())
            assert caught.value.expected == len(turns())
            await persistence.append(sid("sample"), turns(2)[len(turns()) :])
        assert list((await read_fresh(storage, sid("sample"))).events) == turns(2)

    @clause("faults")
    async def test_a_cancelled_load_leaves_the_session_usable(self, storage: Storage) -> None:
        """Whoever gives up waiting does not lock the session."""
        session_id = await store_log(storage, Log().turn_start().step_start().events)
        async with storage.open() as persistence:
            gate = storage.faults(persistence).hold_loads(session_id)
            load = asyncio.ensure_future(persistence.load(session_id))
            await gate.reached.wait()
            load.cancel()
            with pytest.raises(asyncio.CancelledError):
                await load
            gate.open()
            assert len((await persistence.load(session_id)).events) == 4

    @clause("faults")
    async def test_no_failure_is_left_unobserved(self, storage: Storage) -> None:
        """An exception that only the garbage collector reports is one that nobody handles."""
        unobserved: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unobserved.append(context))
        session_id = await store_log(storage, turns())
        store = SessionStore()
        persistence = storage.open(write_batch_max_delay_ms=10)
        faults = storage.faults(persistence)
        persistence.attach(store)
        taken = store.create(id=session_id)
        failing = store.create(id="failing")
        faults.fail_writes(session_id=sid("failing"))
        played(failing, turns())
        assert await until(lambda: bool(faults.attempts))
        flush = asyncio.ensure_future(store.flush(taken))
        await asyncio.sleep(0)
        flush.cancel()
        await asyncio.gather(flush, return_exceptions=True)
        await asyncio.gather(persistence.aclose(), return_exceptions=True)
        for _ in range(3):
            await asyncio.sleep(0)
            gc.collect()
        assert unobserved == []
