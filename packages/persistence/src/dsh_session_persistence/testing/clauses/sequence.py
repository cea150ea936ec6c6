"""A log has no holes, no repetitions and no halves of batches."""

from __future__ import annotations

import asyncio

import pytest

from dsh_session_persistence.errors import SequenceMismatch, StorageFailure
from dsh_session_persistence.testing.clause import Clauses, clause
from dsh_session_persistence.testing.samples import header, seqs, sid, turns
from dsh_session_persistence.testing.scenes import is_stored, read_fresh
from dsh_session_persistence.testing.storage import Storage

__all__ = ["Sequencing"]


class Sequencing(Clauses):
    """Batches follow each other; one that does not is refused as a whole."""

    @clause()
    async def test_a_batch_that_skips_a_seq_is_refused(self, storage: Storage) -> None:
        """A log with a hole cannot be loaded."""
        events = turns(2)
        async with storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), events[:3])
            with pytest.raises(SequenceMismatch) as caught:
                await persistence.append(sid("sample"), events[4:])
        assert (caught.value.expected, caught.value.got, caught.value.index) == (3, 4, 0)
        assert list((await read_fresh(storage, sid("sample"))).events) == events[:3]

    @clause()
    async def test_a_gap_within_a_batch_is_refused(self, storage: Storage) -> None:
        """The error names the event of the batch, and what precedes it in the batch is not stored either."""
        events = turns(2)
        async with storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), events[:2])
            with pytest.raises(SequenceMismatch) as caught:
                await persistence.append(sid("sample"), [*events[2:4], *events[5:]])
        assert (caught.value.expected, caught.value.got, caught.value.index) == (4, 5, 2)
        assert list((await read_fresh(storage, sid("sample"))).events) == events[:2]

    @clause()
    async def test_a_repeated_batch_is_refused(self, storage: Storage) -> None:
        """A retry of what was stored already must not store it twice."""
        events = turns(1)
        async with storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), events)
            with pytest.raises(SequenceMismatch) as caught:
                await persistence.append(sid("sample"), events)
        assert (caught.value.expected, caught.value.got) == (len(events), 0)
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_an_event_repeated_within_a_batch_is_refused(self, storage: Storage) -> None:
        """As for a gap within a batch."""
        events = turns(1)
        async with storage.open() as persistence:
            await persistence.create(header())
            with pytest.raises(SequenceMismatch) as caught:
                await persistence.append(sid("sample"), [*events[:2], events[1]])
        assert (caught.value.expected, caught.value.got, caught.value.index) == (2, 1, 2)
        assert not await is_stored(storage, sid("sample"))

    @clause()
    async def test_the_first_event_of_a_session_has_seq_zero(self, storage: Storage) -> None:
        """A refused first batch creates no session."""
        async with storage.open() as persistence:
            await persistence.create(header())
            with pytest.raises(SequenceMismatch) as caught:
                await persistence.append(sid("sample"), turns(1, start=1))
        assert (caught.value.expected, caught.value.got) == (0, 1)
        assert not await is_stored(storage, sid("sample"))

    @clause()
    async def test_a_refused_batch_does_not_poison_the_next(self, storage: Storage) -> None:
        """A caller that was told what is expected goes on from there."""
        events = turns(2)
        async with storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), events[:3])
            with pytest.raises(SequenceMismatch):
                await persistence.append(sid("sample"), events[5:])
            await persistence.append(sid("sample"), events[3:])
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause()
    async def test_a_fresh_instance_knows_where_the_log_ends(self, storage: Storage) -> None:
        """The cursor comes from the medium, not from what this instance has written."""
        events = turns(3)
        async with storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), turns(2))
        async with storage.open() as persistence:
            with pytest.raises(SequenceMismatch) as caught:
                await persistence.append(sid("sample"), events[:1])
            await persistence.append(sid("sample"), events[len(turns(2)) :])
        assert caught.value.expected == len(turns(2))
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause("fail_in_the_middle")
    async def test_a_write_that_fails_in_the_middle_leaves_nothing(self, storage: Storage) -> None:
        """A batch is stored or it is not; the caller was told that it is not."""
        events = turns(2)
        async with storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), events[:3])
            storage.fail_in_the_middle(persistence)
            with pytest.raises(StorageFailure) as caught:
                await persistence.append(sid("sample"), events[3:])
            assert isinstance(caught.value.cause, BaseException)
            assert list((await read_fresh(storage, sid("sample"))).events) == events[:3]
        assert list((await read_fresh(storage, sid("sample"))).events) == events[:3]

    @clause("fail_in_the_middle")
    async def test_a_failed_batch_can_be_appended_again(self, storage: Storage) -> None:
        """Room on the disk may come back; the same batch is then stored once."""
        events = turns(2)
        async with storage.open() as persistence:
            await persistence.create(header())
            await persistence.append(sid("sample"), events[:3])
            storage.fail_in_the_middle(persistence)
            with pytest.raises(StorageFailure):
                await persistence.append(sid("sample"), events[3:])
            await persistence.append(sid("sample"), events[3:])
        assert list((await read_fresh(storage, sid("sample"))).events) == events

    @clause("fail_in_the_middle")
    async def test_a_first_write_that_fails_creates_no_session(self, storage: Storage) -> None:
        """A header without its first batch would be a session that nobody stored."""
        async with storage.open() as persistence:
            await persistence.create(header())
            storage.fail_in_the_middle(persistence)
            with pytest.raises(StorageFailure):
                await persistence.append(sid("sample"), turns())
            assert not await is_stored(storage, sid("sample"))
            await persistence.append(sid("sample"), turns())
        assert list((await read_fresh(storage, sid("sample"))).events) == turns()

    @clause()
    async def test_appends_run_in_the_order_of_the_calls(self, storage: Storage) -> None:
        """Nobody has to await one append before calling the next."""
        events = turns(2)
        async with storage.open() as persistence:
            await persistence.create(header())
            async with asyncio.TaskGroup() as group:
                for event in events:
                    group.create_task(persistence.append(sid("sample"), [event]))
        assert seqs((await read_fresh(storage, sid("sample"))).events) == seqs(events)

    @clause("faults")
    async def test_writes_of_one_session_never_overlap(self, storage: Storage) -> None:
        """A backend may rely on it."""
        events = turns(1)
        async with storage.open() as persistence:
            faults = storage.faults(persistence)
            await persistence.create(header())
            gate = faults.hold_writes(sid("sample"))
            async with asyncio.TaskGroup() as group:
                for event in events:
                    group.create_task(persistence.append(sid("sample"), [event]))
                await gate.reached.wait()
                for _ in range(20):
                    await asyncio.sleep(0)
                assert len(faults.attempts) == 1
                gate.open()
        assert not faults.overlapped

    @clause("faults")
    async def test_sessions_do_not_wait_for_each_other(self, storage: Storage) -> None:
        """One slow session must not stop the others."""
        async with storage.open() as persistence:
            faults = storage.faults(persistence)
            await persistence.create(header("slow"))
            await persistence.create(header("quick"))
            gate = faults.hold_writes(sid("slow"))
            slow = asyncio.ensure_future(persistence.append(sid("slow"), turns()))
            await gate.reached.wait()
            await persistence.append(sid("quick"), turns())
            assert not slow.done()
            gate.open()
            await slow
