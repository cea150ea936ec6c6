"""What the agent's tests share: async tests, judges of logs and transcripts, recorded sessions."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dsh_agent import Agents
from dsh_session import (
    Message,
    Session,
    SessionEvent,
    SessionHeader,
    SessionId,
    SessionStore,
    is_tool_pairing_balanced,
)
from dsh_session.event import decode_line
from dsh_session.header import decode_header


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an async test in a loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def store() -> SessionStore:
    """A store of its own."""
    return SessionStore()


@pytest.fixture
def agents(store: SessionStore) -> Agents:
    """Agents without a persistence."""
    return Agents(store)


@pytest.fixture
def types() -> Callable[[Iterable[SessionEvent]], list[str]]:
    """Name the types of events, runs of chunks as one."""

    def name(events: Iterable[SessionEvent]) -> list[str]:
        names: list[str] = []
        for event in events:
            if event.type != "assistant/chunk" or names[-1:] != ["assistant/chunk"]:
                names.append(event.type)
        return names

    return name


@pytest.fixture
def of_type() -> Callable[..., list[Any]]:
    """Return the data of the events of one type."""

    def select(events: Iterable[SessionEvent], wanted: str) -> list[Any]:
        return [event.data for event in events if event.type == wanted]

    return select


@pytest.fixture(scope="session")
def check_log() -> Callable[[Sequence[SessionEvent]], None]:
    """Judge a log: it nests, every turn ends, calls and results pair, and sources are what they should be."""
    return judge_log


@pytest.fixture(scope="session")
def check_transcript() -> Callable[[Sequence[Message]], None]:
    """Judge a derived history by the rules of strict providers."""
    return judge_transcript


@pytest.fixture
def recording() -> Callable[[str], tuple[SessionHeader, list[SessionEvent]]]:
    """Read a recorded session by name."""
    folder = os.environ.get("DSH_SESSIONS")
    if not folder:
        pytest.skip("DSH_SESSIONS names no folder of recorded sessions")

    def read(name: str) -> tuple[SessionHeader, list[SessionEvent]]:
        header, *lines = (Path(folder) / f"{name}.jsonl").read_bytes().splitlines()
        return decode_header(header), [decode_line(line) for line in lines]

    return read


def judge_log(events: Sequence[SessionEvent]) -> None:
    """Raise AssertionError for a log that no loop may leave behind."""
    again = Session(SessionHeader(id=SessionId("again"), created_at=0))
    chunks: list[int] = []
    calls: dict[str, int] = {}
    for event in events:
        again.append(
            event.type,
            event.data,
            source_event_seqs=event.source_event_seqs,
            **({} if event.surface_op is None else {"surface_op": event.surface_op}),
        )
        if event.type == "step/start":
            chunks, calls = [], {}
        elif event.type == "assistant/chunk":
            chunks.append(event.seq)
        elif event.type == "assistant/message":
            assert list(event.source_event_seqs or ()) == chunks
        elif event.type == "tool/call":
            calls[event.data["callId"]] = event.seq
        elif event.type == "tool/result":
            started = calls.get(event.data["callId"])
            assert event.source_event_seqs == (None if started is None else (started,))
    assert again.open_turn is None
    assert is_tool_pairing_balanced(events)


def judge_transcript(messages: Sequence[Message]) -> None:
    """Raise AssertionError unless every call is answered once, right after, in order."""
    awaited: list[str] = []
    for position, message in enumerate(messages):
        kinds = [block.type for block in message.content]
        assert kinds, f"message {position} is empty"
        if awaited:
            assert message.role == "user"
            assert kinds == ["tool-result"], f"message {position} stands where a result belongs"
            assert message.content[0].tool_call_id == awaited.pop(0)
            continue
        assert "tool-result" not in kinds, f"message {position} answers nothing"
        if message.role == "assistant":
            awaited = [block.id for block in message.content if block.type == "tool-call"]
            assert all(awaited)
            assert len(set(awaited)) == len(awaited)
        else:
            assert "tool-call" not in kinds
    assert not awaited, f"calls without an answer: {awaited}"
