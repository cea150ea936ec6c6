"""Whatever a model, tools and callers do, wherever the process dies: the session goes on from what is stored."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsh_agent import Agent, Agents, Call, ModelError, Reply, ScriptedModel, Tool
from dsh_session import Session, SessionStore, Source, Usage
from dsh_session_persistence import MemoryMedium, MemoryPersistence, StorageFailure

SESSION_ID = "task"
USAGE = Usage(input_tokens=1, output_tokens=2)
PLUGIN = Source.model_validate({"kind": "plugin", "plugin": "clock"})


class AcknowledgingStore(SessionStore):
    """Remembers how much of the log callers were told is durable."""

    acknowledged = 0

    async def flush(self, session: Session) -> None:
        """See `SessionStore.flush`."""
        length = len(session.events)
        await super().flush(session)
        self.acknowledged = max(self.acknowledged, length)


@dataclass(frozen=True)
class Life:
    """What happens until the process dies."""

    script: list[Any]
    actions: list[tuple[str, int]]
    kill_after: int
    delay_ms: float = 200
    failing_writes: frozenset[int] = field(default_factory=frozenset)


def _tools() -> list[Tool]:
    async def fine(arguments: str) -> str:
        return "fine"

    async def slow(arguments: str) -> str:
        for _ in range(7):
            await asyncio.sleep(0)
        return "slow"

    async def failing(arguments: str) -> str:
        raise OSError("broken")

    async def unfit(arguments: str) -> Any:
        return {"value": float("nan")}

    async def hanging(arguments: str) -> str:
        await asyncio.Event().wait()
        return ""

    functions = [fine, slow, failing, unfit, hanging]
    return [Tool(name=function.__name__, description="", function=function) for function in functions]


async def _act(agent: Agent, actions: list[tuple[str, int]]) -> None:
    """Do what callers do, with pauses of so many rounds of the event loop before each."""
    prompts: list[asyncio.Task[Any]] = []
    for position, (kind, pause) in enumerate(actions):
        for _ in range(pause):
            await asyncio.sleep(0)
        if kind == "prompt":
            prompts.append(asyncio.create_task(agent.prompt(f"prompt {position}")))
        elif kind == "steer":
            agent.steer(f"steer {position}")
        elif kind == "inject":
            agent.inject(f"inject {position}", PLUGIN)
        elif kind == "cancel" and prompts:
            prompts[-1].cancel()
        else:
            agent.abort(f"abort {position}")
    await asyncio.gather(*prompts, return_exceptions=True)


def _fail_some_writes(persistence: MemoryPersistence, failing: frozenset[int]) -> None:
    backend = persistence._coordinator._backend
    write, count = backend.append_batch, iter(range(1_000_000))

    async def append_batch(header, events, materialized) -> None:
        if next(count) in failing:
            raise StorageFailure("writing", OSError("no space left"))
        await write(header, events, materialized)

    backend.append_batch = append_batch  # type: ignore[method-assign] # the fault is injected where it happens


def _live_and_die(life: Life) -> tuple[MemoryMedium, AcknowledgingStore, Session, bool]:
    """Run a life for some rounds of the loop; return what the disk then holds, and whether it was over."""
    medium = MemoryMedium()
    loop = asyncio.new_event_loop()
    store = AcknowledgingStore()

    async def main() -> None:
        await _act(agent, life.actions)
        await agent.wait_idle()

    async def start() -> Agent:
        persistence = MemoryPersistence(medium, write_batch_max_delay_ms=life.delay_ms)
        _fail_some_writes(persistence, life.failing_writes)
        agents = Agents(store, persistence)
        return agents.create(model=ScriptedModel(life.script), tools=_tools(), session_id=SESSION_ID)

    try:
        agent = loop.run_until_complete(start())
        task = loop.create_task(main())
        for _ in range(life.kill_after):
            loop.call_soon(loop.stop)
            loop.run_forever()
            if task.done():
                break
        is_over = task.done()
        survivor = MemoryMedium()
        survivor.records = dict(medium.records)
        acknowledged = store.acknowledged
        for pending in asyncio.all_tasks(loop):  # what follows is only the sweeping up of this process
            pending.cancel()
        loop.run_until_complete(_settle())
        store.acknowledged = acknowledged
    finally:
        loop.close()
    return survivor, store, agent.session, is_over


async def _settle() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)


async def _go_on(medium: MemoryMedium) -> tuple[int, Session]:
    """Resume, do one more turn, and close; return how long the log was after loading, and the session."""
    async with MemoryPersistence(medium) as persistence:
        agents = Agents(SessionStore(), persistence)
        model = ScriptedModel([Reply(calls=[Call(name="fine")]), "finished"], id_prefix="again")
        agent = await agents.resume(SESSION_ID, model=model, tools=_tools())
        loaded = len(agent.session.events)
        assert (await agent.prompt("go on")).kind == "completed"
        await agent.aclose()
    return loaded, agent.session


def _check(life: Life, check_log, check_transcript) -> bool:
    medium, store, first, is_over = _live_and_die(life)
    stored = medium.records.get(SESSION_ID, [b""])[1:]
    assert len(stored) >= store.acknowledged
    assert stored == [event.line for event in first.events[: len(stored)]]
    if not stored:
        return is_over
    loaded, second = asyncio.run(_go_on(medium))
    events = list(second.events)
    assert [event.line for event in events[: len(stored)]] == stored
    closers = [event.type for event in events[len(stored) : loaded]]
    assert set(closers) <= {"tool/result", "step/end", "turn/end"}
    check_log(events)
    check_transcript(second.derive_messages())
    turns = [event.data["turn"] for event in events if event.type == "turn/start"]
    assert turns == list(range(1, len(turns) + 1))
    reasons = [event.data["reason"]["kind"] for event in events if event.type == "turn/end"]
    assert reasons.count("interrupted") == ("turn/end" in closers)
    assert [event.line for event in asyncio.run(_read(medium))] == [event.line for event in events]
    return is_over


async def _read(medium: MemoryMedium):
    async with MemoryPersistence(medium) as persistence:
        return (await persistence.load(SESSION_ID)).events


CALLS = st.lists(
    st.builds(
        Call,
        name=st.sampled_from(["fine", "slow", "failing", "unfit", "unknown", "hanging"]),
        arguments=st.sampled_from(["{}", "", "{", '{"a": 1}']),
    ),
    max_size=3,
)
REPLIES = st.builds(
    Reply,
    text=st.sampled_from(["", "some words", "lone \ud800"]),
    reasoning=st.sampled_from(["", "so it is"]),
    calls=CALLS,
    usage=st.sampled_from([None, USAGE]),
    finish=st.sampled_from([None, None, "max-tokens", "error", "other"]),
)
BROKEN = st.sampled_from(
    [
        [],
        [{"type": "text-delta", "index": 0, "text": "early"}],
        [{"type": "block-start", "index": 0, "blockType": "text"}, 42],
        [*Reply(calls=[Call(name="fine", id="x"), Call(name="fine", id="x")]).chunks()],
        [*Reply(calls=[Call(name="fine", id="")]).chunks()],
        [*Reply(text="no finish").chunks()[:-1]],
        ModelError("overloaded", code="RATE"),
    ]
)
LIVES = st.builds(
    Life,
    script=st.lists(st.one_of(REPLIES, REPLIES, REPLIES, BROKEN), max_size=6),
    actions=st.lists(
        st.tuples(st.sampled_from(["prompt", "prompt", "steer", "inject", "abort", "cancel"]), st.integers(0, 25)),
        min_size=1,
        max_size=6,
    ),
    kill_after=st.integers(0, 160),
    delay_ms=st.sampled_from([0, 200]),
    failing_writes=st.frozensets(st.integers(0, 8), max_size=3),
)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(life=LIVES)
def test_a_killed_session_resumes_and_finishes(life, check_log, check_transcript):
    """The promise of the package, for any script, any caller and any moment of death."""
    _check(life, check_log, check_transcript)


@pytest.mark.parametrize("delay_ms", [0, 200])
def test_a_kill_at_every_single_await_point_of_one_rich_turn(delay_ms, check_log, check_transcript):
    """Chance may miss a point; this walks through all of them."""
    script = [
        Reply(
            text="both",
            calls=[Call(name="slow"), Call(name="failing")],
            usage=Usage(input_tokens=1, output_tokens=1),
        ),
        Reply(reasoning="hm", calls=[Call(name="unfit")]),
        "done",
        "more",
    ]
    actions = [("prompt", 0), ("steer", 9), ("inject", 3), ("prompt", 2)]
    for kill_after in range(1_000):
        if _check(Life(script, actions, kill_after, delay_ms), check_log, check_transcript):
            break
    else:
        pytest.fail("the scenario did not come to its end")
    assert kill_after > 40
