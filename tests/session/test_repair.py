"""Closing an interrupted turn."""

import pytest

from dsh_session import (
    AssistantMessage,
    Session,
    SessionEvent,
    SessionHeader,
    StepEnd,
    Text,
    ToolCall,
    ToolCallBlock,
    ToolResult,
    TurnEnd,
    interrupted_turn_closers,
    is_tool_pairing_balanced,
)

HERE = {"turn": 1, "step": 1}


def ask(*ids: str) -> AssistantMessage:
    """Ask for tools."""
    return AssistantMessage(**HERE, content=[ToolCallBlock(id=i, name="t", arguments="{}") for i in ids])


def begin(call_id: str) -> ToolCall:
    """A tool begins to run."""
    return ToolCall(**HERE, call_id=call_id, name="t", arguments="{}")


def finish(call_id: str) -> ToolResult:
    """A tool is done."""
    return ToolResult(**HERE, call_id=call_id, content=[Text(text="ok")])


def types(closers: list[SessionEvent]) -> list[str]:
    """The types of events."""
    return [closer.type for closer in closers]


def test_a_closed_log_and_an_empty_one_need_nothing(turn: Session):
    """A second load must add nothing."""
    assert interrupted_turn_closers([]) == []
    turn.append(TurnEnd(turn=1, reason={"kind": "completed"}))
    assert interrupted_turn_closers(turn.events) == []
    assert interrupted_turn_closers([SessionEvent(type="alien", seq=0, time=0, data={})]) == []


def test_a_turn_without_a_step_is_ended(turn: Session):
    """The reason says that nobody decided to end it."""
    (end,) = interrupted_turn_closers(turn.events)
    assert end == SessionEvent(
        type="turn/end", seq=1, time=1_000, data={"turn": 1, "reason": {"kind": "interrupted"}}
    )


def test_an_open_step_is_ended_first(step: Session, clock):
    """Closers nest, and their time is the last real event's."""
    clock.now = 9_000
    step.append("hook/invoked", {})
    clock.now = 20_000
    closers = interrupted_turn_closers(step.events)
    assert types(closers) == ["step/end", "turn/end"]
    assert closers[0].data == {"turn": 1, "step": 1}
    assert [(closer.seq, closer.time) for closer in closers] == [(3, 9_000), (4, 9_000)]


def test_every_call_without_a_result_gets_an_error_result_in_order(step: Session):
    """A closer says in words whether the tool had been started."""
    step.append(ask("a", "b", "c"))
    started = step.append(begin("b"))
    step.append(begin("c"))
    step.append(finish("c"))
    closers = interrupted_turn_closers(step.events)
    assert types(closers) == ["tool/result", "tool/result", "step/end", "turn/end"]
    first, second = (closer.payload() for closer in closers[:2])
    assert (first.call_id, second.call_id) == ("a", "b")
    for result in (first, second):
        assert result.is_error
        assert (result.error.name, result.error.code) == ("InterruptedError", "interrupted")
    assert closers[0].source_event_seqs is None
    assert closers[1].source_event_seqs == (started.seq,)
    assert first.content != second.content
    assert "unknown" in second.content[0].text
    assert "unknown" not in first.content[0].text
    assert [closer.surface_op for closer in closers] == ["append", "append", None, None]
    closed = step.events[:] + closers
    assert is_tool_pairing_balanced(closed)
    assert Session(step.header, seed=closed).open_turn is None


def test_the_closers_can_be_appended_as_they_are(step: Session):
    """They follow the automaton like anybody's events."""
    step.append(ask("a"))
    step.append(begin("a"))
    for closer in interrupted_turn_closers(step.events):
        written = step.append(
            closer.type,
            dict(closer.data),
            surface_op=closer.surface_op,
            source_event_seqs=closer.source_event_seqs,
        )
        assert written == closer


def test_a_call_of_a_step_that_is_over_is_answered_in_its_step(step: Session):
    """A foreign writer may have ended the step; the result still belongs to it."""
    step.append(ask("a"))
    step.append(StepEnd(**HERE))
    closers = interrupted_turn_closers(step.events)
    assert types(closers) == ["tool/result", "turn/end"]
    assert closers[0].data["step"] == 1


def test_a_started_call_that_nobody_asked_for_is_answered_too(step: Session):
    """It may have had an effect, and the log should say that nobody knows."""
    call = step.append(begin("ghost"))
    closers = interrupted_turn_closers(step.events)
    assert closers[0].data["callId"] == "ghost"
    assert closers[0].source_event_seqs == (call.seq,)


def test_an_id_used_twice_is_answered_as_often_as_it_was_asked(step: Session):
    """Some providers give every call the same id."""
    step.append(ask("x", "x"))
    step.append(begin("x"))
    step.append(finish("x"))
    closers = interrupted_turn_closers(step.events)
    assert types(closers).count("tool/result") == 1
    assert closers[0].source_event_seqs is None


def test_an_earlier_turn_that_was_left_open_is_not_repaired():
    """Only the last turn is looked at; derivation fills the gaps of the others."""
    seed = [
        SessionEvent(type="turn/start", seq=0, time=0, data={"turn": 1, "trigger": {"kind": "injection"}}),
        SessionEvent(
            type="assistant/message",
            seq=1,
            time=0,
            data={**HERE, "content": [{"type": "tool-call", "id": "a", "name": "t", "arguments": ""}]},
        ),
        SessionEvent(type="turn/start", seq=2, time=5, data={"turn": 2, "trigger": {"kind": "injection"}}),
    ]
    closers = interrupted_turn_closers(seed)
    assert types(closers) == ["turn/end"]
    assert closers[0].data["turn"] == 2
    session = Session(SessionHeader(id="s", created_at=0), seed=seed + closers)
    assert [message.content[0].type for message in session.derive_messages()] == ["tool-call", "tool-result"]


def test_a_foreign_log_that_makes_no_sense_is_closed_all_the_same():
    """Repair must not fall over what nobody has validated."""
    seed = [
        SessionEvent(type="turn/start", seq=0, time=0, data={}),
        SessionEvent(type="step/start", seq=1, time=0, data={}),
        SessionEvent(type="assistant/message", seq=2, time=0, data={"content": [5, {"type": "tool-call"}]}),
        SessionEvent(type="tool/call", seq=3, time=0, data={"callId": 5}),
        SessionEvent(type="tool/result", seq=4, time=0, data={}),
    ]
    closers = interrupted_turn_closers(seed)
    assert types(closers) == ["step/end", "turn/end"]
    assert Session(SessionHeader(id="s", created_at=0), seed=seed + closers).open_turn is None


def test_only_the_last_turn_is_read(step: Session):
    """A log of a million events is repaired as quickly as a short one."""

    class Counting(list):
        reads = 0

        def __getitem__(self, index) -> object:
            Counting.reads += 1
            return super().__getitem__(index)

    events = [SessionEvent(type="note", seq=seq, time=0, data={}) for seq in range(5_000)]
    events.append(SessionEvent(type="turn/start", seq=5_000, time=0, data={"turn": 1}))
    assert types(interrupted_turn_closers(Counting(events))) == ["turn/end"]
    assert Counting.reads < 20


@pytest.mark.parametrize(
    ("events", "balanced"),
    [
        ([], True),
        ([ask("a")], False),
        ([ask("a"), finish("a")], True),
        ([ask("a", "b"), finish("b"), finish("a")], True),
        ([ask("a"), begin("a"), finish("a")], True),
        ([begin("a")], False),
        ([finish("a")], False),
        ([finish("a"), ask("a")], False),
        ([ask("a"), finish("a"), finish("a")], False),
        ([ask("a", "a"), finish("a")], False),
        ([ask("a"), finish("a"), ask("a"), finish("a")], True),
    ],
)
def test_pairing_is_balanced_when_every_call_has_its_one_result(events, balanced):
    """Compaction may only cut where this holds."""
    log = [SessionEvent(type=model.event_type, seq=seq, time=0, data=model) for seq, model in enumerate(events)]
    assert is_tool_pairing_balanced(log) is balanced
