"""Logs that another implementation of the format wrote."""

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_session import (
    EventData,
    Session,
    SessionEvent,
    SessionHeader,
    SessionStore,
    interrupted_turn_closers,
    is_tool_pairing_balanced,
)
from dsh_session.bulk import decode_many
from dsh_session.event import decode_line
from dsh_session.header import decode_header
from dsh_session.surface import SURFACE_TYPES


def read(path: Path) -> tuple[SessionHeader, list[SessionEvent]]:
    """Read a log."""
    header, *lines = path.read_bytes().splitlines()
    return decode_header(header), decode_many(lines)


def test_every_line_is_read_and_written_again_as_an_equal_event(log_path: Path):
    """Interchange is byte for byte where a line is kept, and by meaning where it is made anew."""
    header_line, *lines = log_path.read_bytes().splitlines()
    assert decode_header(header_line).line == header_line
    for line in lines:
        event = decode_line(line)
        assert event.line == line
        wire = json.loads(line)
        assert event.data == wire["data"]
        anew = SessionEvent(
            type=event.type,
            seq=event.seq,
            time=event.time,
            data=wire["data"],
            source_event_seqs=wire.get("sourceEventSeqs"),
            surface_op=wire.get("surfaceOp"),
        )
        assert anew == event
        payload = event.payload()
        if isinstance(payload, EventData):
            by_model = SessionEvent(
                type=event.type,
                seq=event.seq,
                time=event.time,
                data=payload,
                source_event_seqs=event.source_event_seqs,
                surface_op=event.surface_op,
            )
            assert by_model == event


def test_a_log_seeds_a_session_and_derives_one_message_per_surface_event(log_path: Path):
    """The view is the same one that the writer had."""
    header, events = read(log_path)
    session = SessionStore().create(header=header, seed=events)
    assert session.events == events
    assert session.header == header
    on_surface = [event for event in events if event.surface_op is not None]
    assert len(session.derive_messages()) == len(on_surface)
    assert all(event.type in SURFACE_TYPES for event in on_surface)


def test_a_log_can_be_appended_again_event_by_event(log_path: Path):
    """What the other implementation's loop writes, our automaton and models accept."""
    header, events = read(log_path)
    times = iter([event.time for event in events])
    session = Session(header, clock=lambda: next(times))
    for event in events:
        session.append(
            event.type,
            dict(event.data),
            surface_op=event.surface_op,
            source_event_seqs=event.source_event_seqs,
        )
    assert session.events == events
    assert [event.line for event in session.events] == [event.line for event in events]


def test_a_log_forks_at_every_seq(log_path: Path):
    """A user may go back to any point of a conversation."""
    header, events = read(log_path)
    store = SessionStore()
    session = store.create(header=header, seed=events)
    for upto in range(len(events)):
        child = store.fork(session, upto=upto)
        assert child.header.seed_length == upto + 1
        assert child.events[: upto + 1] == events[: upto + 1]
        assert interrupted_turn_closers(child.events) == []
        assert is_tool_pairing_balanced(child.events)
        assert child.last_turn >= 1


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            [*sorted(SURFACE_TYPES), "turn/start", "turn/end", "step/start", "step/end", "tool/call", "x"]
        ),
        st.dictionaries(
            st.sampled_from(["turn", "step", "callId", "content", "source", "isError", "z"]),
            st.none()
            | st.integers(-1, 3)
            | st.sampled_from(["c", ""])
            | st.lists(
                st.fixed_dictionaries(
                    {"type": st.sampled_from(["text", "tool-call", "image"])},
                    optional={"text": st.sampled_from(["t", 5]), "id": st.sampled_from(["c", 1])},
                ),
                max_size=3,
            ),
            max_size=4,
        ),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(EVENTS)
def test_any_seed_round_trips_and_can_be_derived_forked_and_repaired(shapes):
    """Foreign logs may hold anything that is JSON, and must never bring the reader down."""
    seed = [
        SessionEvent(type=event_type, seq=seq, time=0, data=data) for seq, (event_type, data) in enumerate(shapes)
    ]
    again = decode_many([event.line for event in seed])
    assert again == seed
    store = SessionStore()
    session = store.create(seed=again)
    assert session.events == seed
    messages = session.derive_messages()
    assert messages == session.derive_messages()
    for upto in range(len(seed)):
        child = store.fork(session, upto=upto)
        assert child.open_turn is None
        child.derive_messages()
    assert session.derive_messages() == messages
