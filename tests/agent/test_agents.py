"""Where agents come from: new, resumed, forked."""

from __future__ import annotations

import asyncio

import pytest

from dsh_agent import Agents, Call, Limits, PersistenceUnavailable, Reply, ScriptedModel, Tool
from dsh_session import DuplicateSession, InvalidCwd, InvalidSeed, SessionStore, Source
from dsh_session_persistence import (
    ConcurrentWriter,
    CorruptSession,
    MemoryMedium,
    MemoryPersistence,
    SessionNotFound,
)


async def _fine(arguments: str) -> str:
    return "fine"


FINE = Tool(name="fine", description="", function=_fine)
PLUGIN = Source.model_validate({"kind": "plugin", "plugin": "clock"})


def _count_loads(persistence: MemoryPersistence, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the id of every load that the persistence is asked for."""
    loads: list[str] = []
    load = persistence.load

    async def counted(session_id):
        loads.append(session_id)
        return await load(session_id)

    monkeypatch.setattr(persistence, "load", counted)
    return loads


async def test_a_new_session_has_the_id_and_folder_that_were_asked_for(agents, store):
    """They are how it is found again."""
    agent = agents.create(model=ScriptedModel([]), cwd="/project", session_id="task")
    assert agent.session_id == "task"
    assert agent.session.header.cwd == "/project"
    assert store.get("task") is agent.session
    with pytest.raises(DuplicateSession):
        agents.create(model=ScriptedModel([]), session_id="task")
    with pytest.raises(InvalidCwd):
        agents.create(model=ScriptedModel([]), cwd="project")


async def test_resuming_without_a_persistence_says_what_to_pass(agents):
    """The loop does not need one; resuming does."""
    with pytest.raises(PersistenceUnavailable) as refused:
        await agents.resume("task", model=ScriptedModel([]))
    assert "Agents(store, persistence)" in str(refused.value)


async def test_a_resumed_session_is_the_same_session(check_log, check_transcript):
    """Same id, header and events; the next turn continues the numbers and is stored behind them."""
    medium = MemoryMedium()
    async with MemoryPersistence(medium) as persistence:
        agents = Agents(SessionStore(clock=lambda: 1_000), persistence)
        parent = agents.create(model=ScriptedModel(["one", "two"]), cwd="/project", session_id="parent")
        await parent.prompt("1")
        taken = len(parent.session.events)
        child = agents.fork(parent, session_id="child")
        await child.prompt("2")
        before = list(child.session.events)
        header = child.session.header
    async with MemoryPersistence(medium) as persistence:
        model = ScriptedModel(["three"])
        agent = await Agents(SessionStore(), persistence).resume("child", model=model)
        assert agent.session.header == header
        assert (header.parent_session, header.seed_length, header.created_at) == ("parent", taken, 1_000)
        assert agent.session.events == before
        assert (await agent.prompt("3")).kind == "completed"
        assert len(model.requests[0]) == 5
        assert agent.session.events[len(before)].data["turn"] == 3
        check_log(agent.session.events)
        check_transcript(agent.session.derive_messages())
    async with MemoryPersistence(medium) as persistence:
        assert list((await persistence.read("child")).events) == list(agent.session.events)


async def test_a_session_can_be_resumed_after_its_agent_was_closed():
    """Closing gives the session back, in the same process too."""
    async with MemoryPersistence() as persistence:
        agents = Agents(SessionStore(), persistence)
        first = agents.create(model=ScriptedModel(["one"]), session_id="task")
        await first.prompt("1")
        await first.aclose()
        second = await agents.resume("task", model=ScriptedModel(["two"]))
        assert (await second.prompt("2")).kind == "completed"
        assert second.session.last_turn == 2


async def test_a_live_session_is_not_resumed_and_not_touched(monkeypatch):
    """Two agents on one log would each overwrite what the other believes."""
    medium = MemoryMedium()
    async with MemoryPersistence(medium) as persistence:
        agents = Agents(SessionStore(), persistence)
        agent = agents.create(model=ScriptedModel(["one", "two"]), session_id="task")
        await agent.prompt("1")
        stored = list(medium.records["task"])
        loads = _count_loads(persistence, monkeypatch)
        with pytest.raises(DuplicateSession) as refused:
            await agents.resume("task", model=ScriptedModel([]))
        assert refused.value.session_id == "task"
        assert loads == []
        assert medium.records["task"] == stored
        assert (await agent.prompt("2")).kind == "completed"


async def test_of_two_resumes_at_once_one_succeeds(monkeypatch):
    """The second one finds the session taken, whichever moment it comes at."""
    medium = MemoryMedium()
    async with MemoryPersistence(medium) as persistence:
        await (
            Agents(SessionStore(), persistence).create(model=ScriptedModel(["one"]), session_id="task").prompt("1")
        )
    async with MemoryPersistence(medium) as persistence:
        agents = Agents(SessionStore(), persistence)
        loads = _count_loads(persistence, monkeypatch)
        outcomes = await asyncio.gather(
            *(agents.resume("task", model=ScriptedModel(["two"])) for _ in range(2)), return_exceptions=True
        )
        assert isinstance(outcomes[1], DuplicateSession)
        assert loads == ["task"]
        assert not isinstance(outcomes[0], BaseException)
        assert (await outcomes[0].prompt("2")).kind == "completed"


async def test_a_session_that_another_instance_holds_is_not_resumed():
    """Its owner is at work, and must not find closers in its log."""
    medium = MemoryMedium()
    reached, opened = asyncio.Event(), asyncio.Event()

    async def wait(arguments: str) -> str:
        reached.set()
        await opened.wait()
        return "done"

    async with MemoryPersistence(medium) as holding, MemoryPersistence(medium) as other:
        agent = Agents(SessionStore(), holding).create(
            model=ScriptedModel([Reply(calls=[Call(name="wait")]), "ok"]),
            tools=[Tool(name="wait", description="", function=wait)],
            session_id="task",
        )
        turn = asyncio.create_task(agent.prompt("1"))
        await reached.wait()
        stored = list(medium.records["task"])
        store = SessionStore()
        with pytest.raises(ConcurrentWriter):
            await Agents(store, other).resume("task", model=ScriptedModel([]))
        assert medium.records["task"] == stored
        assert store.get("task") is None
        opened.set()
        assert (await turn).kind == "completed"


async def test_what_is_not_stored_cannot_be_resumed():
    """A misspelt id must not begin a new session."""
    async with MemoryPersistence() as persistence:
        store = SessionStore()
        with pytest.raises(SessionNotFound):
            await Agents(store, persistence).resume("task", model=ScriptedModel([]))
        assert store.list() == []


async def test_a_corrupt_session_is_not_resumed():
    """Continuing half of a history would be worse than stopping."""
    medium = MemoryMedium()
    async with MemoryPersistence(medium) as persistence:
        await (
            Agents(SessionStore(), persistence).create(model=ScriptedModel(["one"]), session_id="task").prompt("1")
        )
    medium.records["task"][2] = b"{"
    async with MemoryPersistence(medium) as persistence:
        with pytest.raises(CorruptSession):
            await Agents(SessionStore(), persistence).resume("task", model=ScriptedModel([]))


async def test_attaching_a_persistence_twice_stores_every_event_once():
    """Two factories over one store are not two writers."""
    medium = MemoryMedium()
    async with MemoryPersistence(medium) as persistence:
        store = SessionStore()
        Agents(store, persistence)
        agent = Agents(store, persistence).create(model=ScriptedModel(["one"]), session_id="task")
        await agent.prompt("1")
    assert len(medium.records["task"]) == 1 + len(agent.session.events)


async def test_a_resumed_turn_that_was_killed_shows_the_model_an_outcome_that_is_unknown(check_transcript):
    """The model decides what to do about a command that may have run."""
    medium, dead = MemoryMedium(), MemoryMedium()
    reached = asyncio.Event()

    async def act(arguments: str) -> str:
        reached.set()
        await asyncio.Event().wait()
        return ""

    tools = [Tool(name="act", description="", function=act), FINE]
    async with MemoryPersistence(medium) as persistence:
        agent = Agents(SessionStore(), persistence).create(
            model=ScriptedModel([Reply(calls=[Call(name="act"), Call(name="fine")])]),
            tools=tools,
            session_id="task",
        )
        turn = asyncio.create_task(agent.prompt("go"))
        await reached.wait()
        dead.records = dict(medium.records)  # what a disk holds at the moment of a kill
        agent.abort()
        await turn
    async with MemoryPersistence(dead) as persistence:
        model = ScriptedModel(["I will look first."])
        agent = await Agents(SessionStore(), persistence).resume("task", model=model, tools=tools)
        assert agent.session.events[-1].data["reason"] == {"kind": "interrupted"}
        await agent.prompt("Go on.")
        check_transcript(model.requests[0])
        started, unstarted = model.requests[0][2].content[0], model.requests[0][3].content[0]
        assert started.is_error
        assert "unknown" in started.content[0].text
        assert "no effect" in unstarted.content[0].text


async def test_a_cancelled_program_stores_how_its_turn_ended():
    """Ctrl-C leaves an aborted turn behind, not one that has to be repaired."""
    medium = MemoryMedium()
    reached = asyncio.Event()

    async def wait(arguments: str) -> str:
        reached.set()
        await asyncio.Event().wait()
        return ""

    async def program() -> None:
        async with MemoryPersistence(medium) as persistence:
            agent = Agents(SessionStore(), persistence).create(
                model=ScriptedModel([Reply(calls=[Call(name="wait")])]),
                tools=[Tool(name="wait", description="", function=wait)],
                session_id="task",
            )
            await agent.prompt("go")

    running = asyncio.create_task(program())
    await reached.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert b'"kind":"aborted"' in medium.records["task"][-1]


async def test_a_fork_takes_the_agent_along_and_leaves_the_parent_alone(agents, check_log):
    """Trying something else must not disturb what is tried it from."""
    model = ScriptedModel([Reply(calls=[Call(name="fine")]), "one", "two", "three"])
    parent = agents.create(model=model, tools=[FINE], limits=Limits(max_steps=7))
    await parent.prompt("1")
    before = list(parent.session.events)
    child = agents.fork(parent)
    assert child.setup == parent.setup
    await child.prompt("2")
    assert list(parent.session.events) == before
    assert child.session.header.parent_session == parent.session_id
    assert child.session.header.seed_length == len(before)
    assert (await parent.prompt("also 2")).kind == "completed"
    check_log(child.session.events)


async def test_a_fork_can_be_made_at_every_event(agents, check_log, check_transcript):
    """In the middle of a turn, too: the child's turn is closed, and it goes on."""
    replies = [Reply(text="a", calls=[Call(name="fine"), Call(name="fine")]), "one"]
    parent = agents.create(model=ScriptedModel(replies), tools=[FINE])
    await parent.prompt("1")
    for seq in range(len(parent.session.events)):
        child = agents.fork(parent, upto=seq, model=ScriptedModel(["two"]))
        assert child.session.header.seed_length == seq + 1
        assert (await child.prompt("2")).kind == "completed"
        check_log(child.session.events)
        check_transcript(child.session.derive_messages())
    with pytest.raises(InvalidSeed):
        agents.fork(parent, upto=len(parent.session.events))


async def test_a_running_agent_can_be_forked(agents, check_log):
    """A subagent starts from where its parent stands."""
    reached, opened = asyncio.Event(), asyncio.Event()

    async def wait(arguments: str) -> str:
        reached.set()
        await opened.wait()
        return "done"

    parent = agents.create(
        model=ScriptedModel([Reply(calls=[Call(name="wait")]), "ok"]),
        tools=[Tool(name="wait", description="", function=wait)],
    )
    turn = asyncio.create_task(parent.prompt("1"))
    await reached.wait()
    child = agents.fork(parent, model=ScriptedModel(["child"]), tools=())
    assert (await child.prompt("2")).kind == "completed"
    opened.set()
    assert (await turn).kind == "completed"
    check_log(child.session.events)
    check_log(parent.session.events)


async def test_a_foreign_recording_can_be_resumed(recording, check_transcript):
    """What another implementation stored, this one continues."""
    header, events = recording("hook-codex-stop-continue")
    medium = MemoryMedium()
    medium.records[header.id] = [header.line, *(event.line for event in events)]
    async with MemoryPersistence(medium) as persistence:
        agent = await Agents(SessionStore(), persistence).resume(header.id, model=ScriptedModel(["on"]))
        assert agent.session.header == header
        agent.inject("it is noon", PLUGIN)
        assert (await agent.prompt("Go on.")).kind == "completed"
        check_transcript(agent.session.derive_messages())
    assert medium.records[header.id][: len(events) + 1] == [header.line, *(event.line for event in events)]
