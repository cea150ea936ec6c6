"""A program of someone who installs the packages, checked with `mypy --strict` and no plugin."""

import asyncio
from pathlib import Path

from dsh_session import (
    AssistantMessage,
    Completed,
    EventData,
    Message,
    MessageTrigger,
    Session,
    SessionEvent,
    SessionHeader,
    SessionId,
    SessionStore,
    Source,
    StepEnd,
    StepStart,
    Text,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from dsh_session_persistence import (
    MemoryPersistence,
    PersistenceBackend,
    SessionNotFound,
    SessionPersistence,
    StoredSession,
    open_persistence,
)
from dsh_session_persistence_jsonl import JsonlBackend, JsonlPersistence
from dsh_session_persistence_sqlite import SqliteBackend, SqlitePersistence


def talk(session: Session, question: str, answer: str) -> list[SessionEvent]:
    """Append a turn and return its events."""
    turn = session.last_turn + 1
    user = Source(kind="user")
    parts: list[EventData] = [
        TurnStart(turn=turn, trigger=MessageTrigger(source=user)),
        UserMessage(content=[Text(text=question)], source=user),
        StepStart(turn=turn, step=1),
        AssistantMessage(turn=turn, step=1, content=[Text(text=answer)]),
        StepEnd(turn=turn, step=1),
        TurnEnd(turn=turn, reason=Completed()),
    ]
    return [session.append(part) for part in parts]


def persistences(folder: Path) -> list[SessionPersistence]:
    """Return one of each kind; all of them are the one service."""
    return [
        MemoryPersistence(),
        JsonlPersistence(folder / "sessions"),
        SqlitePersistence(folder / "sessions.db"),
        open_persistence("memory:"),
    ]


def backends(folder: Path) -> list[PersistenceBackend]:
    """Return the storage primitives of each kind; all of them fit the one seam."""
    return [JsonlBackend(folder / "sessions"), SqliteBackend(folder / "sessions.db")]


async def remember(persistence: SessionPersistence) -> SessionId:
    """Make a session durable and return its id."""
    async with persistence:
        store = SessionStore()
        persistence.attach(store)
        session = store.create()
        events = talk(session, "What is durable?", "What was acknowledged.")
        seqs: list[int] = [event.seq for event in events]
        await store.flush(session)
        header: SessionHeader = session.header
        assert seqs[0] == 0
        return header.id


async def recall(persistence: SessionPersistence, session_id: SessionId) -> list[Message]:
    """Return the history of a stored session, empty where there is none."""
    try:
        stored: StoredSession = await persistence.load(session_id)
    except SessionNotFound:
        return []
    session = SessionStore().create(id=stored.header.id, cwd=stored.header.cwd, seed=stored.events)
    return session.derive_messages()


def main() -> list[SessionId]:
    """Remember a session with each persistence."""
    return [asyncio.run(remember(each)) for each in persistences(Path())]
