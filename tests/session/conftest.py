"""Fixtures of the session tests: a clock that is told the time, and the real logs."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dsh_session import MessageTrigger, Session, SessionStore, Source, StepStart, TurnStart


class ManualClock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1_000

    def __call__(self) -> int:
        """Give the time in milliseconds."""
        return self.now


@pytest.fixture
def clock() -> ManualClock:
    """A clock in the test's hands."""
    return ManualClock()


@pytest.fixture
def store(clock: ManualClock) -> SessionStore:
    """A store on that clock."""
    return SessionStore(clock=clock)


@pytest.fixture
def session(store: SessionStore) -> Session:
    """A session with nothing in it."""
    return store.create(id="s", cwd="/project")


@pytest.fixture
def turn(session: Session) -> Session:
    """A session with turn 1 open."""
    session.append(TurnStart(turn=1, trigger=MessageTrigger(source=Source(kind="user"))))
    return session


@pytest.fixture
def step(turn: Session) -> Session:
    """A session with turn 1 and its step 1 open."""
    turn.append(StepStart(turn=1, step=1))
    return turn


@pytest.fixture
def at_depth() -> Callable[[int, Callable[[], object]], object]:
    """Call a function from so many frames down."""

    def call(frames: int, function: Callable[[], object]) -> object:
        return function() if frames <= 0 else call(frames - 1, function)

    return call


@pytest.fixture
def deep_stack() -> Iterator[int]:
    """How many frames a test may add before little is left."""
    depth = 0
    frame = sys._getframe()
    while frame is not None:
        depth += 1
        frame = frame.f_back  # type: ignore[assignment]
    return sys.getrecursionlimit() - depth - 60


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give every test that asks for a `log_path` each of the real logs; without them it is skipped."""
    if "log_path" in metafunc.fixturenames:
        folder = os.environ.get("DSH_SESSIONS")
        paths = sorted(Path(folder).glob("*.jsonl")) if folder else []
        metafunc.parametrize("log_path", paths, ids=[path.stem for path in paths])
