"""The store: registration, forks, listeners and the checkpoint."""

import asyncio
import logging
import threading

import pytest

from dsh_session import (
    DuplicateSession,
    InvalidCwd,
    InvalidEvent,
    InvalidHeader,
    InvalidSeed,
    InvalidSessionId,
    NotAttached,
    Session,
    SessionEvent,
    SessionHeader,
    SessionListener,
    SessionStore,
    Source,
    Text,
    TurnEnd,
    UserMessage,
    WrongThread,
)

HELLO = UserMessage(content=[Text(text="hello")], source=Source(kind="user"))


class Recorder(SessionListener):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, object]] = []

    def created(self, session):
        """Remember."""
        self.told.append(("created", len(session.events)))

    def withdrawn(self, session):
        """Remember."""
        self.told.append(("withdrawn", session.id))

    def event(self, session, event):
        """Remember."""
        self.told.append(("event", event.seq))

    async def flush(self, session):
        """Remember."""
        self.told.append(("flush", session.id))

    async def released(self, session):
        """Remember."""
        self.told.append(("released", session.id))


def test_a_store_needs_no_running_loop(store: SessionStore):
    """Construction opens nothing."""
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
    session = store.create()
    assert len(session.id) == 36
    assert store.get(session.id) is session
    assert store.get("other") is None
    assert store.list() == [session]


def test_every_field_of_the_header_is_taken(store: SessionStore, clock):
    """A resume recreates what was stored, to the letter."""
    session = store.create(id="a", cwd="/x", parent_session="p", seed_length=0, created_at=5)
    assert session.header == SessionHeader(
        id="a", cwd="/x", parent_session="p", seed_length=0, created_at=5, version=0
    )
    assert store.create(id="b").header == SessionHeader(id="b", created_at=clock.now)
    stored = SessionHeader(id="c", created_at=7, cwd="{{cwd}}")
    assert store.create(header=stored).header is stored
    with pytest.raises(InvalidHeader):
        store.create(header=stored, cwd="/y")
    with pytest.raises(InvalidHeader):
        store.create(created_at=-1)
    with pytest.raises(AttributeError):
        session.header = stored


@pytest.mark.parametrize("cwd", ["/", "/a/../b", "C:\\work", "c:/work", "\\\\host\\share\\x", "\\\\host\\share"])
def test_an_absolute_folder_is_accepted_in_the_form_of_either_system(store: SessionStore, cwd):
    """Logs travel between machines."""
    assert store.create(cwd=cwd).header.cwd == cwd


@pytest.mark.parametrize("cwd", ["", "relative", "./x", "~", "C:", "C:work", "{{cwd}}", "\\work", 5])
def test_a_folder_that_is_not_absolute_is_refused_for_a_new_session_only(store: SessionStore, cwd):
    """It would mean another folder in another process; a stored one is carried as it is."""
    with pytest.raises(InvalidCwd):
        store.create(cwd=cwd)
    assert store.list() == []
    if isinstance(cwd, str):
        resumed = store.create(cwd=cwd, seed=[])
        assert store.fork(resumed).header.cwd == cwd


def test_a_live_id_is_refused(store: SessionStore, session: Session):
    """Two sessions with one id would share one log."""
    with pytest.raises(DuplicateSession) as caught:
        store.create(id=session.id)
    assert caught.value.session_id == session.id
    assert store.get(session.id) is session
    with pytest.raises(InvalidSessionId):
        store.create(id="")


@pytest.mark.parametrize(
    ("seed", "index"),
    [
        ([SessionEvent(type="x", seq=1, time=0, data={})], 0),
        ([SessionEvent(type="x", seq=0, time=0, data={})] * 2, 1),
        ([SessionEvent(type="x", seq=0, time=0, data={}), {"type": "x", "seq": 1}], 1),
        (["line"], 0),
    ],
)
def test_a_seed_that_is_no_log_is_refused_with_its_index(store: SessionStore, seed, index):
    """The position in the log is the identity of an event."""
    with pytest.raises(InvalidSeed) as caught:
        store.create(seed=seed)
    assert caught.value.index == index
    assert store.list() == []


def test_a_seed_is_never_checked_for_nesting_or_models(store: SessionStore):
    """Real logs hold what this build does not know."""
    seed = [
        SessionEvent(type="step/end", seq=0, time=9, data={"odd": True}),
        SessionEvent(type="turn/start", seq=1, time=3, data={"turn": "x"}),
        SessionEvent(type="step/start", seq=2, time=3, data={"turn": 1, "step": 1}),
        SessionEvent(type="context/message", seq=3, time=3, data={"content": [], "source": {"kind": "x"}}),
    ]
    session = store.create(seed=iter(seed))
    assert session.events == seed
    assert session.seed_count == 4


def test_the_events_are_a_live_view_that_cannot_be_written(turn: Session):
    """Reading a long log must not copy it."""
    events = turn.events
    turn.append(HELLO)
    assert len(events) == 2
    assert events is turn.events
    assert events[-1] is events[1]
    assert events[0:1] == [events[0]]
    assert list(reversed(events)) == [events[1], events[0]]
    assert events == (events[0], events[1])
    assert events != [events[0]]
    assert events != 5
    assert events[0] in events
    with pytest.raises(TypeError):
        events[0] = events[1]
    with pytest.raises(AttributeError):
        events.append(events[0])
    events[:].clear()
    assert len(turn.events) == 2


def test_time_never_runs_backwards(turn: Session, clock):
    """A clock that is set back must not reorder the log."""
    clock.now = 5_000
    assert turn.append(HELLO).time == 5_000
    clock.now = 10
    assert turn.append(HELLO).time == 5_000
    clock.now = 5_001
    assert turn.append(HELLO).time == 5_001


@pytest.mark.parametrize("now", [1.5, "5", -1, True, None, 2**63])
def test_a_clock_that_gives_no_milliseconds_is_refused(now):
    """A line with such a time could be written and never be read again."""
    session = Session(SessionHeader(id="s", created_at=0), clock=lambda: now)
    with pytest.raises(InvalidEvent):
        session.append("turn/start", {"turn": 1, "trigger": {"kind": "injection"}})
    assert (len(session.events), session.open_turn) == (0, None)


def test_a_fork_takes_over_up_to_and_including_an_event(store: SessionStore, step: Session, clock):
    """Lineage is in the header; the closers of an open turn are the child's own."""
    step.append("hook/invoked", {})
    clock.now = 7_000
    child = store.fork(step, upto=1)
    assert child.events[:2] == step.events[:2]
    assert [event.type for event in child.events[2:]] == ["step/end", "turn/end"]
    assert child.header == SessionHeader(
        id=child.id, created_at=7_000, cwd="/project", parent_session=step.id, seed_length=2
    )
    assert child.seed_count == 4
    assert child.last_turn == 1
    assert (step.open_turn, step.open_step) == (1, 1)
    whole = store.fork(step, id="whole")
    assert (whole.header.seed_length, whole.id) == (3, "whole")


def test_a_fork_of_a_closed_turn_adds_nothing(store: SessionStore, turn: Session):
    """There is nothing to close."""
    turn.append(TurnEnd(turn=1, reason={"kind": "completed"}))
    child = store.fork(turn)
    assert child.events == turn.events
    assert store.fork(store.create()).header.seed_length == 0


@pytest.mark.parametrize("upto", [-1, 1, 99, True, "0"])
def test_a_fork_beyond_the_log_is_refused(store: SessionStore, turn: Session, upto):
    """A fork that silently took less would look like one that took all."""
    with pytest.raises(InvalidSeed, match=rf"upto={upto!r} names no event; the log has 1\b"):
        store.fork(turn, upto=upto)
    assert store.list() == [turn]


def test_a_listener_hears_everything_in_order(store: SessionStore):
    """This is the seam that persistence stands on."""
    recorder = Recorder()
    unsubscribe = store.subscribe(recorder)
    session = store.create(id="s")
    session.append("turn/start", {"turn": 1, "trigger": {"kind": "injection"}})
    child = store.fork(session, id="c")
    asyncio.run(store.flush(session))
    asyncio.run(store.release(session))
    session.append(HELLO)
    child.append("turn/start", {"turn": 2, "trigger": {"kind": "injection"}})
    assert recorder.told == [
        ("created", 0),
        ("event", 0),
        ("created", 2),
        ("flush", "s"),
        ("flush", "s"),
        ("released", "s"),
        ("event", 2),
    ]
    unsubscribe()
    unsubscribe()
    child.append(HELLO)
    assert len(recorder.told) == 7
    assert store.list() == [child]


def test_a_listener_needs_only_the_methods_it_has(store: SessionStore):
    """Duck typing, so that a listener need not import anything."""
    store.subscribe(object())
    session = store.create()
    session.append("turn/start", {"turn": 1, "trigger": {"kind": "injection"}})
    asyncio.run(store.release(session))


def test_a_listener_that_refuses_a_session_leaves_none_behind(store: SessionStore):
    """Half a registration would block the id for ever."""

    class Refusing:
        def created(self, session):
            raise LookupError(session.id)

    recorder = Recorder()
    store.subscribe(recorder)
    stop = store.subscribe(Refusing())
    late = Recorder()
    store.subscribe(late)
    with pytest.raises(LookupError):
        store.create(id="s")
    assert recorder.told == [("created", 0), ("withdrawn", "s")]
    assert late.told == []
    assert store.list() == []
    stop()
    assert store.create(id="s").id == "s"


def test_a_failing_listener_does_not_undo_an_append_and_is_heard_at_the_flush(turn: Session, store, caplog):
    """The log is the truth; a listener's failure must neither change it nor vanish."""

    class Failing:
        def event(self, session, event):
            raise ValueError(event.seq)

        async def flush(self, session):
            raise OSError(session.id)

    recorder = Recorder()
    store.subscribe(Failing())
    store.subscribe(recorder)
    with caplog.at_level(logging.ERROR, logger="dsh_session"):
        event = turn.append(HELLO)
        turn.append(HELLO)
    assert turn.events[1] is event
    assert len(caplog.records) == 2
    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(store.flush(turn))
    assert [type(error) for error in caught.value.exceptions] == [ValueError, ValueError, OSError]
    assert recorder.told == [("event", 1), ("event", 2), ("flush", "s")]
    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(store.flush(turn))
    assert [type(error) for error in caught.value.exceptions] == [OSError]
    with pytest.raises(ExceptionGroup):
        asyncio.run(store.release(turn))
    assert store.get("s") is turn


def test_a_failure_survives_a_flush_that_is_cancelled(turn: Session, store):
    """Who is cancelled has not been told."""

    class Hanging:
        hang = True

        def event(self, session, event):
            raise ValueError(event.seq)

        async def flush(self, session):
            if self.hang:
                await asyncio.Event().wait()

    listener = Hanging()
    store.subscribe(listener)
    turn.append(HELLO)

    async def cancel_then_flush():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(store.flush(turn), 0.01)
        listener.hang = False
        with pytest.raises(ExceptionGroup) as caught:
            await store.flush(turn)
        assert [type(error) for error in caught.value.exceptions] == [ValueError]

    asyncio.run(cancel_then_flush())


def test_a_listener_that_fails_to_let_go_does_not_keep_the_session(turn: Session, store):
    """The id must become free, and the failure must be heard."""

    class Clinging:
        async def released(self, session):
            raise OSError(session.id)

    recorder = Recorder()
    store.subscribe(Clinging())
    store.subscribe(recorder)
    with pytest.raises(ExceptionGroup):
        asyncio.run(store.release(turn))
    assert store.get("s") is None
    assert ("released", "s") in recorder.told
    for action in (store.flush, store.release):
        with pytest.raises(NotAttached):
            asyncio.run(action(turn))


def test_a_stranger_with_the_same_id_is_not_the_session(turn: Session, store):
    """Flushing another store's session here would promise what nobody keeps."""
    with pytest.raises(NotAttached):
        asyncio.run(store.flush(SessionStore().create(id=turn.id)))


def test_events_appended_by_a_listener_are_told_in_the_order_of_the_log(store: SessionStore):
    """A write-behind buffer that saw them out of order would refuse the batch."""

    class Replying:
        def created(self, session):
            session.append("turn/start", {"turn": 1, "trigger": {"kind": "injection"}})

        def event(self, session, event):
            if event.type == "user/message":
                session.append("plugin/seen", {"seq": event.seq})

    store.subscribe(Replying())
    recorder = Recorder()
    store.subscribe(recorder)
    session = store.create()
    session.append(HELLO)
    assert recorder.told == [("created", 1), ("event", 0), ("event", 1), ("event", 2)]


def test_an_interrupt_in_a_listener_reaches_the_caller_after_all_have_been_told(turn: Session, store):
    """Control-C must stop the program, and must not tear a hole into a buffer."""

    class Interrupting:
        def event(self, session, event):
            raise KeyboardInterrupt

    recorder = Recorder()
    stop = store.subscribe(Interrupting())
    store.subscribe(recorder)
    with pytest.raises(KeyboardInterrupt):
        turn.append(HELLO)
    stop()
    turn.append(HELLO)
    assert recorder.told == [("event", 1), ("event", 2)]


def test_a_session_belongs_to_the_thread_that_made_it(turn: Session):
    """Two threads that append would break the order of the log without a word."""
    failures: list[BaseException] = []

    def use(action):
        try:
            action()
        except BaseException as error:  # noqa: BLE001 # whatever it is, the test looks at it
            failures.append(error)

    for action in (lambda: turn.append(HELLO), turn.derive_messages):
        thread = threading.Thread(target=use, args=(action,))
        thread.start()
        thread.join()
    assert [type(error) for error in failures] == [WrongThread, WrongThread]
    assert len(turn.events) == 1


def test_a_session_without_a_store_works_alone(clock):
    """A replay needs nobody to listen."""
    session = Session(SessionHeader(id="s", created_at=0), clock=clock)
    session.append("turn/start", {"turn": 1, "trigger": {"kind": "injection"}})
    assert session.append(HELLO).time == clock.now
    assert repr(session)
    assert repr(session.events)
    assert "user/message" in repr(session.events[1])
