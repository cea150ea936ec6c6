"""Whatever is done to a backend in whatever order, it answers as the reference does."""

import asyncio
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from dsh_session import SessionStore
from dsh_session_persistence import MemoryMedium, MemoryPersistence, SequenceMismatch, SessionExists, StoredSession
from dsh_session_persistence.testing import abandon, backend_of
from dsh_session_persistence.testing.samples import EPOCH_MS, Log, header, sid, turns
from dsh_session_persistence.testing.scenes import flat, played
from dsh_session_persistence_jsonl import JsonlPersistence
from dsh_session_persistence_sqlite import SqlitePersistence

NEVER_MS = 600_000
IDS = st.sampled_from(["plain", "../x", "Größe 🙂"])
INSTANCES = st.integers(0, 1)


class MemorySide:
    """The reference: a medium, and what it takes to crash an instance over it."""

    def __init__(self) -> None:
        self.medium = MemoryMedium()

    def open(self):
        """Open an instance."""
        return MemoryPersistence(self.medium, write_batch_max_delay_ms=NEVER_MS)

    def crash(self, instance):
        """Let it die."""
        abandon(instance)
        backend = backend_of(instance)
        for key in [key for key, owner in self.medium.owners.items() if owner is backend]:
            del self.medium.owners[key]

    def clean(self):
        """Nothing is left on a disk."""


class DiskSide:
    """A backend in a temporary folder."""

    def __init__(self, make) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.make = make

    def open(self):
        """Open an instance."""
        return self.make(self.folder)

    def crash(self, instance):
        """Let it die."""
        abandon(instance)
        backend_of(instance).abandon()

    def clean(self):
        """Remove the folder."""
        shutil.rmtree(self.folder)


SIDES = {
    "memory": MemorySide,
    "jsonl": lambda: DiskSide(
        lambda folder: JsonlPersistence(root=folder / "logs", write_batch_max_delay_ms=NEVER_MS)
    ),
    "sqlite": lambda: DiskSide(
        lambda folder: SqlitePersistence(path=folder / "logs.db", write_batch_max_delay_ms=NEVER_MS)
    ),
}


def comparable(value):
    """Return an outcome in a form that two backends can share."""
    if isinstance(value, StoredSession):
        return value.header, list(value.events)
    if isinstance(value, SequenceMismatch):
        return "SequenceMismatch", value.expected, value.got, value.index
    if isinstance(value, ExceptionGroup):
        return sorted(type(error).__name__ for error in flat(value))
    if isinstance(value, Exception):
        return type(value).__name__
    return value


class Equivalence(RuleBasedStateMachine):
    """Two instances of the subject and two of the reference, driven alike."""

    make_subject = MemorySide

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.sides = [type(self).make_subject(), MemorySide()]
        self.instances = [[side.open(), side.open()] for side in self.sides]
        self.forks = 0

    def do(self, which, operation):
        """Do the same on both sides and compare what comes of it."""

        async def attempt(instance):
            try:
                return comparable(await operation(instance))
            except Exception as error:  # noqa: BLE001 - errors are outcomes
                return comparable(error)

        outcomes = [self.loop.run_until_complete(attempt(pair[which])) for pair in self.instances]
        assert outcomes[0] == outcomes[1], outcomes  # the values, also outside pytest
        return outcomes[0]

    def length(self, session_id):
        """Return how many events the reference has stored."""
        return max(len(self.sides[1].medium.records.get(session_id, ())) - 1, 0)

    @initialize()
    def store_some(self):
        """Begin with sessions on the medium: one balanced, one interrupted, nobody's."""

        async def store(instance):
            for name, count in (("plain", 9), ("../x", 5)):
                await instance.create(header(name, cwd="/w"))
                await instance.append(sid(name), turns()[:count])
            await instance.aclose()

        self.do(0, store)
        self.reopen(0)

    @rule(which=INSTANCES, name=IDS, cwd=st.sampled_from([None, "/w"]))
    def create(self, which, name, cwd):
        """Announce a session."""
        self.do(which, lambda instance: instance.create(header(name, cwd=cwd)))

    @rule(which=INSTANCES, name=IDS, count=st.integers(1, 12))
    def append_what_follows(self, which, name, count):
        """Append a part of a turn, so that turns are left open as well."""
        events = turns(2, start=self.length(name), first_turn=7)[:count]

        async def append(instance):
            with suppress(SessionExists):
                await instance.create(header(name))
            await instance.append(sid(name), events)

        self.do(which, append)

    @rule(which=INSTANCES, name=IDS, shift=st.sampled_from([-2, -1, 1, 5]))
    def append_what_does_not_follow(self, which, name, shift):
        """Append with a gap or a repetition."""
        start = max(self.length(name) + shift, 0)
        self.do(which, lambda instance: instance.append(sid(name), turns(start=start)))

    @rule(which=INSTANCES, name=IDS, gap_at=st.integers(1, 4))
    def append_a_batch_with_a_gap(self, which, name, gap_at):
        """Append a batch that is wrong inside."""
        events = turns(start=self.length(name))
        del events[gap_at]
        self.do(which, lambda instance: instance.append(sid(name), events))

    @rule(which=INSTANCES, name=IDS)
    def load(self, which, name):
        """Take over, with the repair."""
        self.do(which, lambda instance: instance.load(sid(name)))

    @rule(which=INSTANCES, name=IDS)
    def read(self, which, name):
        """Look at what is stored."""
        self.do(which, lambda instance: instance.read(sid(name)))

    @rule(which=INSTANCES)
    def list_all(self, which):
        """List."""
        self.do(which, lambda instance: instance.list())

    @rule(which=INSTANCES, name=IDS)
    def live_turn(self, which, name):
        """Resume a session, live through a part of a turn, flush and release it."""

        async def live(instance):
            store = SessionStore(clock=lambda: EPOCH_MS + 9)
            instance.attach(store)
            loaded = await instance.load(sid(name))
            session = store.create(id=name, cwd=loaded.header.cwd, seed=loaded.events)
            played(session, Log().turn_start(session.last_turn + 1).user("live").step_start().events)
            await store.flush(session)
            played(session, Log(turn=session.last_turn, step=1).chunk("more").events)
            await store.release(session)

        self.do(which, live)

    @rule(which=INSTANCES, name=IDS, keep=st.integers(1, 9))
    def fork(self, which, name, keep):
        """Store the beginning of a session under a new id, through a store."""
        self.forks += 1
        child_id = f"fork-{self.forks}"

        async def branch(instance):
            store = SessionStore(clock=lambda: EPOCH_MS + 9)
            instance.attach(store)
            loaded = await instance.load(sid(name))
            parent = store.create(id=name, cwd=loaded.header.cwd, seed=loaded.events)
            child = store.fork(parent, id=child_id, upto=min(keep, len(loaded.events)) - 1)
            await store.flush(child)
            await store.release(child)
            await store.release(parent)
            return await instance.read(sid(child_id))

        self.do(which, branch)

    @rule(which=INSTANCES, name=IDS)
    def crash_with_pending_events(self, which, name):
        """Die with events that nobody has flushed."""

        async def die(instance):
            store = SessionStore(clock=lambda: EPOCH_MS + 9)
            instance.attach(store)
            played(store.create(id=name), turns())
            side = next(
                side for side, pair in zip(self.sides, self.instances, strict=True) if pair[which] is instance
            )
            side.crash(instance)

        self.do(which, die)
        self.reopen(which)

    @rule(which=INSTANCES)
    def crash(self, which):
        """Die."""
        for side, pair in zip(self.sides, self.instances, strict=True):
            side.crash(pair[which])
        self.loop.run_until_complete(asyncio.sleep(0))
        self.reopen(which)

    @rule(which=INSTANCES)
    def close(self, which):
        """End in order, and begin again."""
        self.do(which, lambda instance: instance.aclose())
        self.reopen(which)

    def reopen(self, which):
        """Open a fresh instance on both sides."""
        for side, pair in zip(self.sides, self.instances, strict=True):
            pair[which] = side.open()

    def teardown(self):
        """Compare everything with fresh eyes, and leave nothing behind."""
        try:
            for which in (0, 1):
                self.do(which, lambda instance: instance.aclose())
                self.reopen(which)
            self.do(0, lambda instance: instance.list())
            for session_id in list(self.sides[1].medium.records):
                self.do(0, lambda instance, session_id=session_id: instance.read(session_id))
                self.do(0, lambda instance, session_id=session_id: instance.load(session_id))
            for which in (0, 1):
                self.do(which, lambda instance: instance.aclose())
        finally:
            self.loop.close()
            self.sides[0].clean()


@pytest.mark.parametrize("backend", sorted(SIDES))
def test_a_backend_behaves_as_the_reference(backend):
    """No order of operations tells the two apart."""
    machine = type("Machine", (Equivalence,), {"make_subject": staticmethod(SIDES[backend])})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=15,
            stateful_step_count=25,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
