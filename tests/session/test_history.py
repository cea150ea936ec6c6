"""The derived history: always a valid transcript, never a change to the log."""

import pytest

from dsh_session import (
    AssistantMessage,
    ContextMessage,
    InvalidEvent,
    InvalidSeed,
    InvalidSurfaceOp,
    Message,
    Replace,
    Session,
    SessionEvent,
    SessionHeader,
    Source,
    SteeringMessage,
    StepEnd,
    StepStart,
    Text,
    ToolCallBlock,
    ToolResult,
    ToolResultBlock,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from dsh_session.history import NO_RESULT

USER = Source(kind="user")
HERE = {"turn": 1, "step": 1}


def call(call_id: str) -> ToolCallBlock:
    """Ask for a tool."""
    return ToolCallBlock(id=call_id, name="t", arguments="{}")


def result(call_id: str, text: str = "ok", *, is_error: bool = False) -> Message:
    """The message that a result derives."""
    block = ToolResultBlock(tool_call_id=call_id, content=[Text(text=text)], is_error=is_error)
    return Message(role="user", content=[block])


def gap(call_id: str) -> Message:
    """The message that stands in for a result that never came."""
    return result(call_id, NO_RESULT, is_error=True)


def seeded(*events: tuple[str, dict], **extra: dict) -> Session:
    """Make a session from types and data."""
    seed = [
        SessionEvent(type=event_type, seq=seq, time=0, data=data, **extra.get(f"at{seq}", {}))
        for seq, (event_type, data) in enumerate(events)
    ]
    return Session(SessionHeader(id="s", created_at=0), seed=seed)


def says(*blocks: ToolCallBlock | Text) -> tuple[str, dict]:
    """An assistant message for a seed."""
    return "assistant/message", {**HERE, "content": [block.model_dump() for block in blocks]}


def answers(call_id: str) -> tuple[str, dict]:
    """A tool result for a seed."""
    return "tool/result", {
        **HERE,
        "callId": call_id,
        "content": [{"type": "text", "text": "ok"}],
        "isError": False,
    }


def asks(text: str) -> tuple[str, dict]:
    """A user message for a seed."""
    return "user/message", {"content": [{"type": "text", "text": text}], "source": {"kind": "user"}}


def user(text: str) -> Message:
    """The message that a prompt derives."""
    return Message(role="user", content=[Text(text=text)])


def assistant(*blocks: ToolCallBlock | Text) -> Message:
    """The message that the model's words derive."""
    return Message(role="assistant", content=list(blocks))


def test_every_surface_event_derives_one_message(turn: Session):
    """The shapes that a model's adapter is written against."""
    turn.append(UserMessage(content=[Text(text="hi"), Text(text="there")], source=USER))
    turn.append(ContextMessage(content=[Text(text="ctx")], source=Source(kind="plugin")))
    turn.append(StepStart(**HERE))
    turn.append(AssistantMessage(**HERE, content=[Text(text="let me"), call("c")]))
    turn.append(ToolResult(**HERE, call_id="c", content=[Text(text="ok")], is_error=True))
    turn.append(StepEnd(**HERE))
    turn.append(SteeringMessage(turn=1, content=[Text(text="faster")], source=Source(kind='a"<b')))
    assert turn.derive_messages() == [
        Message(role="user", content=[Text(text="hi"), Text(text="there")]),
        user('<context source="plugin">\nctx\n</context>'),
        assistant(Text(text="let me"), call("c")),
        result("c", is_error=True),
        user('<steering source="a&quot;&lt;b">\nfaster\n</steering>'),
    ]


def test_an_envelope_keeps_the_blocks_that_are_no_text(turn: Session):
    """An image in a context message must reach the model."""
    image = {"type": "image", "url": "u"}
    turn.append(ContextMessage(content=[image], source=USER))
    turn.append(ContextMessage(content=[Text(text="a"), image, Text(text="b")], source=USER))
    turn.append(ContextMessage(content=[], source=USER))
    sandwich, mixed, empty = turn.derive_messages()
    assert [block.type for block in sandwich.content] == ["text", "image", "text"]
    assert [getattr(block, "text", block.type) for block in mixed.content] == [
        '<context source="user">\na',
        "image",
        "b\n</context>",
    ]
    assert "".join(block.text for block in empty.content).startswith("<context")


def test_chunks_boundaries_and_an_empty_message_derive_nothing(step: Session):
    """They are for replay and for accounting."""
    step.append("assistant/chunk", {**HERE, "chunk": {"type": "text-delta", "index": 0, "text": "x"}})
    event = step.append(AssistantMessage(**HERE, content=[]))
    assert event.surface_op == "append"
    assert step.derive_messages() == []


def test_a_running_call_has_no_stand_in_until_its_step_is_over(step: Session):
    """While a tool runs its result is not missing; it is not there yet."""
    step.append(AssistantMessage(**HERE, content=[call("a"), call("b")]))
    assert step.derive_messages() == [assistant(call("a"), call("b"))]
    step.append(ToolResult(**HERE, call_id="b", content=[Text(text="ok")]))
    assert step.derive_messages() == [assistant(call("a"), call("b")), result("b")]
    step.append(StepEnd(**HERE))
    assert step.derive_messages() == [assistant(call("a"), call("b")), gap("a"), result("b")]


def test_results_stand_in_the_order_of_their_calls(step: Session):
    """Tools finish in any order; providers want theirs."""
    step.append(AssistantMessage(**HERE, content=[call("a"), call("b"), call("c")]))
    for call_id in ("c", "a", "b"):
        step.append(ToolResult(**HERE, call_id=call_id, content=[Text(text="ok")]))
    assert step.derive_messages()[1:] == [result("a"), result("b"), result("c")]


def test_a_call_left_unanswered_by_an_aborted_turn_gets_an_error_result(step: Session):
    """The next request would be refused by every provider otherwise."""
    step.append(AssistantMessage(**HERE, content=[call("a")]))
    step.append(StepEnd(**HERE))
    step.append(TurnEnd(turn=1, reason={"kind": "aborted"}))
    lines = [event.line for event in step.events]
    assert step.derive_messages() == [assistant(call("a")), gap("a")]
    step.append(TurnStart(turn=2, trigger={"kind": "injection"}))
    step.append(UserMessage(content=[Text(text="go on")], source=USER))
    assert step.derive_messages() == [assistant(call("a")), gap("a"), user("go on")]
    assert [event.line for event in step.events][: len(lines)] == lines


def test_a_result_without_a_call_is_left_out():
    """A provider refuses it."""
    assert seeded(asks("x"), answers("ghost")).derive_messages() == [user("x")]


def test_a_second_result_of_one_call_is_left_out():
    """Every call is answered once; the first answer stands."""
    session = seeded(says(call("a")), answers("a"), answers("a"), asks("x"))
    assert session.derive_messages() == [assistant(call("a")), result("a"), user("x")]


def test_a_late_result_takes_the_place_of_its_stand_in():
    """A foreign writer logs context before the result; the transcript is in order all the same."""
    session = seeded(says(call("a")), asks("between"), answers("a"))
    assert session.derive_messages() == [assistant(call("a")), result("a"), user("between")]


def test_an_id_that_is_used_again_answers_its_latest_call():
    """Some providers number their calls from zero in every message."""
    session = seeded(says(call("0")), says(call("0")), answers("0"), says(call("0"), call("0")), answers("0"))
    assert session.derive_messages() == [
        assistant(call("0")),
        gap("0"),
        assistant(call("0")),
        result("0"),
        assistant(call("0"), call("0")),
        result("0"),
        gap("0"),
    ]


def test_derivation_is_the_same_at_once_and_step_by_step(turn: Session):
    """The incremental view must never drift from the full one."""
    turn.append(UserMessage(content=[Text(text="hi")], source=USER))
    for step in range(1, 6):
        turn.append(StepStart(turn=1, step=step))
        turn.append(AssistantMessage(turn=1, step=step, content=[call(f"{step}a"), call(f"{step}b")]))
        turn.derive_messages()
        if step % 2:
            turn.append(ToolResult(turn=1, step=step, call_id=f"{step}b", content=[]))
        turn.derive_messages()
        turn.append(StepEnd(turn=1, step=step))
        fresh = Session(turn.header, seed=turn.events)
        assert turn.derive_messages() == fresh.derive_messages()


def test_each_call_returns_a_new_list_of_frozen_messages(turn: Session):
    """What a caller does to the history must not change the next one."""
    content = [Text(text="hi"), {"type": "image", "tags": ["a"], "size": {"w": 1}}]
    turn.append(UserMessage(content=content, source=USER))
    first = turn.derive_messages()
    message = first[0]
    for attack in (
        lambda: message.content.append(Text(text="x")),
        lambda: message.content[1].tags.append("b"),
        lambda: message.content[1].size.update(w=2),
        lambda: message.content[1].model_extra.update(x=1),
        message.content.sort,
    ):
        with pytest.raises(TypeError):
            attack()
    with pytest.raises(ValueError, match="frozen"):
        message.role = "assistant"
    first.clear()
    assert len(turn.derive_messages()) == 1


def test_a_message_made_by_hand_keeps_nothing_of_its_callers():
    """Frozen means that nobody else can change it either."""
    text = Text(text="a")
    content = [text, ToolResultBlock(tool_call_id="c", content=[text])]
    message = Message(role="user", content=content)
    content.clear()
    assert len(message.content) == 2
    with pytest.raises(TypeError):
        message.content[1].content.append(text)


def test_a_replacement_shortens_the_history_and_not_the_log(turn: Session):
    """This is how compaction works."""
    for text in "abcd":
        turn.append(UserMessage(content=[Text(text=text)], source=USER))
    turn.derive_messages()
    lines = [event.line for event in turn.events]
    summary = UserMessage(content=[Text(text="b and c")], source=Source(kind="compaction"))
    turn.append(summary, surface_op=Replace(start=2, end=3), source_event_seqs=[2, 3])
    assert turn.derive_messages() == [user("a"), user("b and c"), user("d")]
    turn.append(UserMessage(content=[Text(text="all")], source=USER), surface_op=Replace(start=1, end=5))
    assert turn.derive_messages() == [user("all"), user("d")]
    assert [event.line for event in turn.events][: len(lines)] == lines
    fresh = Session(turn.header, seed=turn.events)
    assert fresh.derive_messages() == turn.derive_messages()


def test_a_replacement_that_cuts_a_call_from_its_result_is_mended():
    """A careless compaction must not make the session unusable."""
    session = seeded(
        says(call("a")),
        answers("a"),
        asks("sum"),
        asks("sum"),
        at3={"surface_op": Replace(start=1, end=2)},
    )
    assert session.derive_messages() == [assistant(call("a")), gap("a"), user("sum")]
    session = seeded(says(call("a")), answers("a"), asks("sum"), at2={"surface_op": Replace(start=0, end=0)})
    assert session.derive_messages() == [user("sum")]


@pytest.mark.parametrize(("start", "end"), [(0, 1), (1, 9), (2, 1), (3, 3), (9, 9)])
def test_a_replacement_of_what_is_not_on_the_surface_is_refused(turn: Session, start, end):
    """It would silently keep what was meant to go."""
    for text in "ab":
        turn.append(UserMessage(content=[Text(text=text)], source=USER))
    turn.append("hook/invoked", {})
    before = turn.derive_messages()
    with pytest.raises(InvalidSurfaceOp):
        turn.append(UserMessage(content=[], source=USER), surface_op=Replace(start=start, end=end))
    assert len(turn.events) == 4
    assert turn.derive_messages() == before


def test_a_seed_with_such_a_replacement_is_reported():
    """The index leads to the event."""
    with pytest.raises(InvalidSeed) as caught:
        seeded(asks("a"), asks("b"), at1={"surface_op": Replace(start=0, end=5)})
    assert caught.value.index == 1


def test_only_message_types_carry_a_surface_op(turn: Session):
    """Anything else would be marked for a history that it never enters."""
    with pytest.raises(InvalidSurfaceOp):
        turn.append("hook/invoked", {}, surface_op="append")
    with pytest.raises(InvalidSurfaceOp):
        turn.append(StepStart(**HERE), surface_op="append")
    assert turn.append("hook/invoked", {}, source_event_seqs=[0]).source_event_seqs == (0,)


def test_sources_name_earlier_events(turn: Session):
    """An event is made from what was there."""
    message = UserMessage(content=[], source=USER)
    assert turn.append(message, source_event_seqs=[0, 0]).source_event_seqs == (0, 0)
    for wrong in ([2], [-1], ["0"], [True]):
        with pytest.raises(InvalidEvent):
            turn.append(message, source_event_seqs=wrong)
    assert len(turn.events) == 2


def test_the_four_field_shape_derives_as_append_and_is_never_rewritten():
    """Older logs have no surface fields."""
    session = seeded(asks("a"), says(Text(text="b")))
    assert session.derive_messages() == [user("a"), assistant(Text(text="b"))]
    assert all(event.surface_op is None and b"surfaceOp" not in event.line for event in session.events)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({}, []),
        ({"content": "text"}, []),
        ({"content": [{"type": "text", "text": 5}], "source": 5}, [("text", 5)]),
        ({"content": [5, {"no": "type"}, {"type": "text", "text": "ok"}]}, [("text", "ok")]),
    ],
)
def test_a_foreign_message_that_its_model_refuses_derives_what_can_be_read(data, expected):
    """A seed is not checked against models, so derivation must not fall over it."""
    for event_type in ("user/message", "context/message", "assistant/message", "tool/result"):
        session = seeded((event_type, data), (event_type, {**data, "callId": 5}))
        messages = session.derive_messages()
        if event_type in {"user/message", "assistant/message"}:
            found = [(block.type, block.text) for message in messages[:1] for block in message.content]
            assert found == expected
