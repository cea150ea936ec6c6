"""Kill a writer again and again, and check what it had acknowledged. Run as a script, by both backends' tests.

    crashing.py URL KILLS SEED

This process imports everything and stays without threads, so that each writer and each reader is a fork of it: a
process of its own that costs milliseconds. A writer appends to one session and flushes at random places; after
each flush it tells how many events are acknowledged, and the hash over their lines. It is killed at a random
moment. A reader then loads the session and compares. Prints what happened as JSON.
"""

# ruff: noqa: T201, S311 - a script that draws moments at random and prints what happened

import asyncio
import hashlib
import json
import os
import random
import select
import signal
import sys
import time
import traceback

from dsh_session import SessionStore
from dsh_session.repair import interrupted_turn_closers, is_tool_pairing_balanced
from dsh_session_persistence import SessionNotFound, open_persistence

SESSION = "survivor"
USER = {"kind": "user"}


def digest(events):
    """Return a hash over the lines of events."""
    lines = hashlib.sha256()
    for event in events:
        lines.update(event.line + b"\n")
    return lines.hexdigest()


async def write(url, chance, tell):
    """Continue the session for ever, and tell what is acknowledged."""
    store = SessionStore()
    persistence = open_persistence(url)
    try:
        stored = await persistence.load(SESSION)
    except SessionNotFound:
        persistence.attach(store)
        session = store.create(id=SESSION)
    else:
        persistence.attach(store)
        session = store.create(header=stored.header, seed=stored.events)

    async def flush():
        await store.flush(session)
        tell(f"{len(session.events)} {digest(session.events)}\n".encode())

    tell(b"ready\n")
    turn = session.last_turn or 0
    while True:
        turn += 1
        await _play(session, turn, flush, chance)


async def _play(session, turn, flush, chance):
    step = {"turn": turn, "step": 1}
    session.append("turn/start", {"turn": turn, "trigger": {"kind": "message", "source": USER}})
    text = {"type": "text", "text": f"{turn}: " + "x" * chance.randrange(3_000)}
    session.append("user/message", {"content": [text], "source": USER})
    session.append("step/start", step)
    for number in range(chance.randrange(12)):
        chunk = {"type": "text-delta", "index": 0, "text": f"piece {number}"}
        session.append("assistant/chunk", {**step, "chunk": chunk})
        if chance.random() < 0.2:
            await flush()
    calls = [f"{turn}-{number}" for number in range(chance.randrange(3))]
    content = [{"type": "tool-call", "id": call, "name": "look", "arguments": "{}"} for call in calls]
    session.append("assistant/message", {**step, "content": content})
    for call in calls:
        session.append("tool/call", {**step, "callId": call, "name": "look", "arguments": "{}"})
        if chance.random() < 0.5:
            await flush()
        session.append("tool/result", {**step, "callId": call, "content": [], "isError": False})
    session.append("step/end", step)
    session.append("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
    await flush()


async def check(url, acknowledged, expected):
    """Load the session and raise unless everything acknowledged is there, once, in order, and balanced."""
    async with open_persistence(url) as persistence:
        stored = await persistence.load(SESSION)
        again = await persistence.load(SESSION)
    events = list(stored.events)
    assert events == list(again.events), "a second load changes nothing"
    assert [event.seq for event in events] == list(range(len(events)))
    assert len(events) >= acknowledged, f"{acknowledged} acknowledged, {len(events)} stored"
    assert digest(events[:acknowledged]) == expected, "what is stored is not what was acknowledged"
    assert is_tool_pairing_balanced(events)
    assert not interrupted_turn_closers(events)
    assert not events or events[-1].type == "turn/end"
    turns = [event.data["turn"] for event in events if event.type == "turn/start"]
    assert turns == list(range(1, len(turns) + 1)), "every turn is there once"


def forked(work):
    """Run a coroutine in a process of its own; return its id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        asyncio.run(work())
    except BaseException:  # noqa: BLE001 - a fork must not return into its parent's code
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def kill_once(url, chance):
    """Start a writer, kill it, and return the last thing it told: how many events, with what hash."""
    seed = chance.random()
    reading, writing = os.pipe()
    pid = forked(lambda: write(url, random.Random(seed), lambda told: os.write(writing, told)))
    os.close(writing)
    told = b""
    kill_at = None
    while kill_at is None or time.monotonic() < kill_at:
        wait_s = 30.0 if kill_at is None else max(0.0, kill_at - time.monotonic())
        ready, _, _ = select.select([reading], [], [], wait_s)
        if ready:
            piece = os.read(reading, 1 << 16)
            assert piece, "the writer ended by itself"
            told += piece
        assert ready or kill_at is not None, "the writer hangs"
        if kill_at is None:
            kill_at = time.monotonic() + chance.uniform(0.0, 0.06)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL
    while piece := os.read(reading, 1 << 16):
        told += piece
    os.close(reading)
    whole = told[: told.rfind(b"\n") + 1].decode().split("\n")[1:-1]
    count, expected = whole[-1].split() if whole else ("0", None)
    return int(count), expected, len(whole)


def warm_up():
    """Use what is built on first use, so that each fork finds it built; start no thread."""

    async def flush():
        """Store nothing."""

    asyncio.run(_play(SessionStore().create(), 1, flush, random.Random(3)))


def main():
    """Kill, check, repeat."""
    warm_up()
    url, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    acknowledged, expected, flushes = 0, digest(()), 0
    for _ in range(kills):
        count, told, times = kill_once(url, chance)
        flushes += times
        if told is not None:
            assert count > acknowledged
            acknowledged, expected = count, told
        if acknowledged:
            pid = forked(lambda now=acknowledged, then=expected: check(url, now, then))
            _, status = os.waitpid(pid, 0)
            assert status == 0, f"after {acknowledged} acknowledged events"
    print(json.dumps({"kills": kills, "flushes": flushes, "acknowledged": acknowledged}))


if __name__ == "__main__":
    main()
