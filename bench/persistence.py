"""What durability costs, against the least that the medium allows.

The workload is a conversation: turns of 58 events, of which 50 are chunks of about 40 bytes and one is a tool
result of 2 KB, stored at every turn end. The floors write the same bytes, or the same rows, with nothing around
them. Product and floor alternate turn by turn, or run by run, so that both see the same machine.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from dsh_session import Session, SessionEvent, SessionHeader, SessionId, SessionStore
from dsh_session.vocabulary import (
    AssistantChunk,
    AssistantMessage,
    EventData,
    StepEnd,
    StepStart,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from dsh_session_persistence import SessionPersistence
from dsh_session_persistence_jsonl import JsonlPersistence
from dsh_session_persistence_jsonl.layout import Layout
from dsh_session_persistence_sqlite import SqlitePersistence
from dsh_session_persistence_sqlite.schema import open_writer

TURNS = 200
EVENTS_A_TURN = 58
LISTED = 10_000
MILLION = 1_000_000

Row = tuple[str, float, float | None, str]


def rows() -> Iterator[Row]:
    """Yield `(name, product_s, floor_s, note)` for each measured path."""
    with tempfile.TemporaryDirectory(prefix="bench-persistence-") as folder:
        root = Path(folder)
        yield from _end_to_end(root)
        yield from _load(root)
        yield from _list(root)
        yield from _million(root)


# ---------------------------------------------------------------- the workload


def turn_models(turn: int) -> list[EventData]:
    """Return the 58 events of one turn, as an agent loop makes them."""
    user = {"kind": "user"}
    chunks = [
        {"type": "text-delta", "index": 0, "text": f"and here are some words of piece {index:02} "}
        for index in range(50)
    ]
    call = {"type": "tool-call", "id": f"call-{turn}", "name": "read", "arguments": '{"path":"a.py"}'}
    text = [{"type": "text", "text": "x" * 2_000}]
    return [
        TurnStart(turn=turn, trigger={"kind": "message", "source": user}),
        UserMessage(content=[{"type": "text", "text": "look at the file and say what it does"}], source=user),
        StepStart(turn=turn, step=1),
        *(AssistantChunk(turn=turn, step=1, chunk=chunk) for chunk in chunks),
        AssistantMessage(turn=turn, step=1, content=[call]),
        ToolCall(turn=turn, step=1, call_id=f"call-{turn}", name="read", arguments='{"path":"a.py"}'),
        ToolResult(turn=turn, step=1, call_id=f"call-{turn}", content=text, is_error=False),
        StepEnd(turn=turn, step=1),
        TurnEnd(turn=turn, reason={"kind": "completed"}),
    ]


def append_all(session: Session, models: list[EventData]) -> None:
    """Append the events of a turn to a live session."""
    append = session.append
    for model in models:
        append(model)


def encoded_turns() -> list[list[tuple[bytes, tuple[object, ...]]]]:
    """Return each turn as the floors store it: a line and a row for each event."""
    session = SessionStore().create(id="floor")
    turns = []
    for turn in range(1, TURNS + 1):
        start = len(session.events)
        append_all(session, turn_models(turn))
        turns.append(
            [
                (
                    event.line + b"\n",
                    (
                        "floor",
                        event.seq,
                        event.type,
                        event.time,
                        event.data_json.decode(),
                        None,
                        None if event.surface_op_json is None else event.surface_op_json.decode(),
                    ),
                )
                for event in session.events[start:]
            ]
        )
    if len(turns[0]) != EVENTS_A_TURN:
        message = f"the workload has {len(turns[0])} events a turn"
        raise AssertionError(message)
    return turns


# ---------------------------------------------------------------- end to end


def _end_to_end(root: Path) -> Iterator[Row]:
    turns = encoded_turns()
    lines = [b"".join(line for line, _ in turn) for turn in turns]
    jsonl, file_floor = _alternate(JsonlPersistence(root / "files"), _file_floor(root / "floor.jsonl", lines))
    yield _row(f"JSONL: append and flush {TURNS} turns", jsonl, file_floor, "write + fdatasync a turn")
    table = [[row for _, row in turn] for turn in turns]
    database = SqlitePersistence(root / "product.db")
    sqlite, row_floor = _alternate(database, _row_floor(str(root / "floor.db"), table))
    yield _row(f"SQLite: append and flush {TURNS} turns", sqlite, row_floor, "executemany, WAL, FULL")
    total = sum(map(len, lines))
    size = sum(path.stat().st_size for path in root.glob("product.db*"))
    yield "SQLite: bytes on disk for each byte of JSON", size / total / 1e3, None, "read as a ratio, not as a time"


def _row(name: str, product_s: list[float], floor_s: list[float], note: str) -> Row:
    product, floor = statistics.median(product_s), statistics.median(floor_s)
    return name, product * TURNS, floor * TURNS, f"{1 / product:.0f} and {1 / floor:.0f} turns/s; {note}"


def _alternate(persistence: SessionPersistence, floor: Callable[[int], None]) -> tuple[list[float], list[float]]:
    """Store each turn with the product and with the floor, one after the other; return the seconds of each."""

    async def run() -> tuple[list[float], list[float]]:
        product_s, floor_s = [], []
        store = SessionStore()
        async with persistence:
            persistence.attach(store)
            session = store.create()
            for turn in range(TURNS):
                models = turn_models(turn + 1)  # as the floor's bytes, these are there before
                started = time.perf_counter()
                append_all(session, models)
                await store.flush(session)
                product_s.append(time.perf_counter() - started)
                started = time.perf_counter()
                floor(turn)
                floor_s.append(time.perf_counter() - started)
        return product_s, floor_s

    return asyncio.run(run())


def _file_floor(path: Path, turns: list[bytes]) -> Callable[[int], None]:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    sync = getattr(os, "fdatasync", os.fsync)

    def store(turn: int) -> None:
        os.write(fd, turns[turn])
        sync(fd)

    return store


def _row_floor(path: str, turns: list[list[tuple[object, ...]]]) -> Callable[[int], None]:
    connection = open_writer(path, "wal")
    connection.execute("INSERT INTO sessions (id, version, created_at) VALUES ('floor', 0, 0)")

    def store(turn: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", turns[turn])
        connection.execute("COMMIT")

    return store


# ---------------------------------------------------------------- load


class _LazyEnvelope(msgspec.Struct):
    type: str
    seq: int
    time: int
    data: msgspec.Raw


def _load(root: Path) -> Iterator[Row]:
    (header,) = asyncio.run(_listed(JsonlPersistence(root / "files")))
    path = Layout(str(root / "files")).locate(header.id)
    if path is None:
        message = "the product stored no file"
        raise AssertionError(message)
    decode = msgspec.json.Decoder(_LazyEnvelope).decode

    def floor() -> None:
        kept = []
        for line in Path(path).read_bytes().split(b"\n")[1:-1]:
            envelope = decode(line)
            kept.append((envelope, line))

    def load(opened: Callable[[], SessionPersistence], session_id: SessionId) -> Callable[[], float]:
        return lambda: asyncio.run(_load_s(opened(), session_id))

    jsonl, floor_s = _repeat(load(lambda: JsonlPersistence(root / "files"), header.id), floor, 11)
    note = "decoding envelopes lazily"
    yield f"JSONL: load {TURNS * EVENTS_A_TURN} events", jsonl, floor_s, note
    (stored,) = asyncio.run(_listed(SqlitePersistence(root / "product.db")))
    database = root / "product.db"
    row_decode = msgspec.json.Decoder(msgspec.Raw).decode

    def row_floor() -> None:
        with closing(sqlite3.connect(database)) as connection:
            connection.text_factory = bytes
            select = "SELECT seq, type, time, data, source_event_seqs, surface_op FROM events ORDER BY seq"
            kept = [(row_decode(row[3]), row) for row in connection.execute(select)]
        if len(kept) != TURNS * EVENTS_A_TURN:
            message = "the floor read other rows"
            raise AssertionError(message)

    sqlite, row_floor_s = _repeat(load(lambda: SqlitePersistence(database), stored.id), row_floor, 11)
    note = f"rows, data decoded lazily; {sqlite / floor_s:.2f} times the floor of the file"
    yield f"SQLite: load {TURNS * EVENTS_A_TURN} events", sqlite, row_floor_s, note


async def _load_s(persistence: SessionPersistence, session_id: SessionId) -> float:
    async with persistence:
        started = time.perf_counter()
        await persistence.load(session_id)
        return time.perf_counter() - started


async def _listed(persistence: SessionPersistence) -> list[SessionHeader]:
    async with persistence:
        return await persistence.list()


def _repeat(product: Callable[[], object], floor: Callable[[], object], times: int) -> tuple[float, float]:
    """Alternate the two; return the medians. A call that returns seconds has measured itself."""
    product_s, floor_s = [], []
    for _ in range(times):
        for call, seconds in ((product, product_s), (floor, floor_s)):
            gc.collect()
            started = time.perf_counter()
            measured = call()
            elapsed = time.perf_counter() - started
            seconds.append(measured if isinstance(measured, float) else elapsed)
    return statistics.median(product_s), statistics.median(floor_s)


# ---------------------------------------------------------------- list


def _list(root: Path) -> Iterator[Row]:
    listed = root / "listed"
    layout = Layout(str(listed))
    folders = [layout.make_folder(f"/home/me/project-{number}")[0] for number in range(20)]
    events = b"".join(line for line, _ in encoded_turns()[0])
    for number in range(LISTED):
        header = SessionHeader(
            id=SessionId(f"00000000-0000-4000-8000-{number:012}"),
            created_at=number,
            cwd=f"/home/me/project-{number % len(folders)}",
        )
        path = Path(folders[number % len(folders)], layout.name(header.id))
        path.write_bytes(header.line + b"\n" + events)

    def floor() -> None:
        for folder in folders:
            with os.scandir(folder) as entries:
                for entry in entries:
                    fd = os.open(entry.path, os.O_RDONLY)
                    os.read(fd, 4096)
                    os.close(fd)

    def product() -> None:
        if len(asyncio.run(_listed(JsonlPersistence(listed)))) != LISTED:
            message = "not all sessions were listed"
            raise AssertionError(message)

    product_s, floor_s = _repeat(product, floor, 5)
    yield f"JSONL: list {LISTED} sessions", product_s, floor_s, "reading 4 KiB of each file"


# ---------------------------------------------------------------- a million events


def _million(root: Path) -> Iterator[Row]:
    folder = root / "million"
    header = SessionHeader(id=SessionId("million"), created_at=0)
    layout = Layout(str(folder))
    path = Path(layout.make_folder(None)[0], layout.name(header.id))
    _write_million(path, header)
    size = path.stat().st_size
    product_s, floor_s, late_s, held = asyncio.run(_load_million(folder, header.id, path))
    name = f"JSONL: load {MILLION} events, {size >> 20} MiB, beyond the raw read"
    note = f"floor: the raw read; held {held / size:.2f} times the file; heartbeat late by {late_s * 1e3:.0f} ms"
    yield name, product_s - floor_s, floor_s, note


def _write_million(path: Path, header: SessionHeader) -> None:
    """Write turns of 1,000 events, of about 265 bytes each."""
    text = "y" * 145
    with path.open("wb") as file:
        file.write(header.line + b"\n")
        for start in range(0, MILLION, 1_000):
            turn = start // 1_000 + 1
            opening = {"turn": turn, "trigger": {"kind": "message", "source": {"kind": "user"}}}
            lines = [SessionEvent(type="turn/start", seq=start, time=1_700_000_000_000, data=opening).line.decode()]
            lines += [
                f'{{"type":"assistant/chunk","seq":{seq},"time":1700000000000,"data":{{"turn":{turn},"step":1,'
                f'"chunk":{{"type":"text-delta","index":0,"text":"{text}"}}}}}}'
                for seq in range(start + 1, start + 999)
            ]
            lines.append(
                f'{{"type":"turn/end","seq":{start + 999},"time":1700000000000,"data":{{"turn":{turn},'
                '"reason":{"kind":"completed"}}}'
            )
            file.write("\n".join(lines).encode() + b"\n")


async def _load_million(folder: Path, session_id: SessionId, path: Path) -> tuple[float, float, float, int]:
    """Return the seconds of the load and of the raw read, the worst lateness of a heartbeat, the bytes held."""
    started = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
    floor_s = time.perf_counter() - started
    gc.collect()
    held_before = _resident_bytes()
    late_s = 0.0

    async def beat() -> None:
        nonlocal late_s
        while True:
            due = time.perf_counter() + 0.01
            await asyncio.sleep(0.01)
            late_s = max(late_s, time.perf_counter() - due)

    heartbeat = asyncio.ensure_future(beat())
    async with JsonlPersistence(folder) as persistence:
        await asyncio.sleep(0.02)
        started = time.perf_counter()
        stored = await persistence.load(session_id)
        product_s = time.perf_counter() - started
        held = _resident_bytes() - held_before
        await asyncio.sleep(0.05)
    heartbeat.cancel()
    with suppress(asyncio.CancelledError):
        await heartbeat
    if len(stored.events) != MILLION:
        message = "not all events were loaded"
        raise AssertionError(message)
    return product_s, floor_s, late_s, held


def _resident_bytes() -> int:
    """Return what the process holds in memory; 0 where that is not told."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError):
        return 0


def main() -> None:
    """Print the table of this module alone."""
    for name, product_s, floor_s, note in rows():
        ratio = f"{product_s / floor_s:6.2f}" if floor_s else ""
        print(f"{name:<62} {product_s * 1e3:9.1f} ms {(floor_s or 0) * 1e3:9.1f} ms {ratio:>7}  {note}")


if __name__ == "__main__":
    with closing(sys.stdout):
        main()
