"""What a session costs: append, derivation, seeding and import, each beside its floor.

Every figure is the median of runs in which floor and product take turns, so that a machine that slows down slows
both.
"""

import gc
import statistics
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import msgspec

from dsh_session import EventData, Session, SessionEvent, SessionHeader, SessionId
from dsh_session.bulk import decode_many
from dsh_session.vocabulary import model_for

Row = tuple[str, float, float | None, str]

CHUNKS = 50
EVENTS_PER_TURN = 58
TURNS_PER_RUN = 200
SEED_EVENTS = 1_000_000


def turn_events(turn: int) -> list[tuple[str, dict[str, Any]]]:
    """Give the 58 typical events of a turn: 50 chunks of about 40 bytes, and a 2 KB tool result."""
    here = {"turn": turn, "step": 1}
    call = {"id": f"call_{turn}", "name": "read", "arguments": '{"path": "config.txt"}'}
    return [
        ("turn/start", {"turn": turn, "trigger": {"kind": "message", "source": {"kind": "user"}}}),
        (
            "user/message",
            {"content": [{"type": "text", "text": "What does the file say?"}], "source": {"kind": "user"}},
        ),
        ("step/start", here),
        *(
            ("assistant/chunk", {**here, "chunk": {"type": "text-delta", "index": 0, "text": "x" * 40}})
            for _ in range(CHUNKS)
        ),
        (
            "assistant/message",
            {
                **here,
                "content": [{"type": "text", "text": "x" * 400}, {"type": "tool-call", **call}],
                "usage": {"inputTokens": 123, "outputTokens": 55},
            },
        ),
        ("tool/call", {**here, "callId": call["id"], "name": "read", "arguments": call["arguments"]}),
        (
            "tool/result",
            {
                **here,
                "callId": call["id"],
                "content": [{"type": "text", "text": "line\n" * 400}],
                "isError": False,
            },
        ),
        ("step/end", here),
        ("turn/end", {"turn": turn, "reason": {"kind": "completed"}}),
    ]


def turn_models(turn: int) -> list[EventData]:
    """Give the same events as models."""
    models = []
    for event_type, data in turn_events(turn):
        model = model_for(event_type)
        assert model is not None
        models.append(model.model_validate(data))
    return models


def new_session() -> Session:
    """Make a session that nobody listens to."""
    return Session(SessionHeader(id=SessionId("bench"), created_at=0))


def filled_session(turns: int) -> Session:
    """Make a session of so many turns."""
    session = new_session()
    for turn in range(1, turns + 1):
        fill(session, turn)
    return session


def fill(session: Session, turn: int) -> list[SessionEvent]:
    """Append one turn."""
    return [session.append(model) for model in turn_models(turn)]


def paired(product: Callable[[], float], floor: Callable[[], float], runs: int) -> tuple[float, float]:
    """Let floor and product take turns; returns both medians."""
    figures: list[tuple[float, float]] = []
    for _ in range(runs):
        low = floor()
        figures.append((product(), low))
    return statistics.median(row[0] for row in figures), statistics.median(row[1] for row in figures)


def timed(work: Callable[[], object]) -> float:
    gc.collect()
    start = perf_counter()
    work()
    return perf_counter() - start


def append_rows() -> Iterator[Row]:
    turns = range(1, TURNS_PER_RUN + 1)
    models = [model for turn in turns for model in turn_models(turn)]
    dicts = [event for turn in turns for event in turn_events(turn)]
    encode = msgspec.json.Encoder().encode

    def bare() -> float:
        def work() -> None:
            for _, data in dicts:
                encode(data)

        return timed(work) / len(dicts) * 1_000

    def with_models() -> float:
        append = new_session().append

        def work() -> None:
            for model in models:
                append(model)

        return timed(work) / len(models) * 1_000

    def with_dicts() -> float:
        append = new_session().append

        def work() -> None:
            for event_type, data in dicts:
                append(event_type, data)

        return timed(work) / len(dicts) * 1_000

    for name, product in (("models", with_models), ("dicts", with_dicts)):
        figure, floor = paired(product, bare, 7)
        yield f"append, {name}, 1,000 events", figure, floor, "floor: msgspec's bare encode of the same dicts"


def derivation_rows() -> Iterator[Row]:
    for turns in (50, 200, 1_000, 4_000):
        session = filled_session(turns)
        events = session.events
        session.derive_messages()
        number = turns

        def after_one_turn() -> float:
            nonlocal number
            number += 1
            fill(session, number)  # noqa: B023 # used before the next session is made
            return timed(session.derive_messages)  # noqa: B023 # as above

        def scan() -> float:
            return timed(lambda: [event.seq for event in events])  # noqa: B023 # as above

        figure, floor = paired(after_one_turn, scan, 9)
        yield (
            f"derive after one new turn, {turns} turns",
            figure,
            floor,
            f"{len(events)} events; floor: a bare scan of the log",
        )


def seeding_rows() -> Iterator[Row]:
    lines: list[bytes] = []
    turn = 0
    session = new_session()
    while len(lines) < SEED_EVENTS:
        turn += 1
        lines += [event.line for event in fill(session, turn)]
    del session
    del lines[SEED_EVENTS:]
    size = sum(map(len, lines)) + len(lines)
    decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

    def floor() -> float:
        def work() -> None:
            for line in lines:
                decode(line)

        return timed(work)

    def product() -> float:
        def work() -> None:
            Session(SessionHeader(id=SessionId("bench"), created_at=0), seed=decode_many(lines))

        return timed(work)

    figure, low = paired(product, floor, 3)
    yield (
        f"decode and seed {SEED_EVENTS:,} events",
        figure,
        low,
        f"{size / 1e6:.0f} MB; floor: msgspec to undecoded members",
    )


def held_memory_ratio(events: int = 100_000) -> float:
    """Measure what decoded events hold, the lines included, over the size of the file."""
    session = new_session()
    lines = []
    turn = 0
    while len(lines) < events:
        turn += 1
        lines += [event.line for event in fill(session, turn)]
    blob = b"\n".join(lines) + b"\n"
    del session, lines
    tracemalloc.start()
    held = decode_many(blob.splitlines())
    seeded = Session(SessionHeader(id=SessionId("bench"), created_at=0), seed=held)
    del held
    current, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(seeded.events) >= events
    return current / len(blob)


def rows() -> Iterator[Row]:
    """Measure everything; each row is name, product and floor in seconds, and a note."""
    yield from append_rows()
    yield from derivation_rows()
    yield from seeding_rows()


def show(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.2f} {unit}"
    return f"{seconds * 1e6:.3f} us"


def main() -> None:
    print(f"{'path':<44}{'product':>12}{'floor':>12}{'ratio':>8}  note")
    for name, product, floor, note in rows():
        ratio = "-" if not floor else f"{product / floor:.1f}"
        print(f"{name:<44}{show(product):>12}{show(floor):>12}{ratio:>8}  {note}")
    if "--memory" in sys.argv:
        print(f"held by a seeded session, over the file's size: {held_memory_ratio():.2f}")


if __name__ == "__main__":
    main()
