"""The automaton: what may follow what."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dsh_session import (
    AssistantChunk,
    AssistantMessage,
    Completed,
    ContextMessage,
    InvalidEvent,
    MessageTrigger,
    NestingViolation,
    PromptBlocked,
    Session,
    SessionHeader,
    Source,
    SteeringMessage,
    StepEnd,
    StepStart,
    Text,
    TextDelta,
    TodoItem,
    TodoWrite,
    ToolCall,
    ToolCallBlock,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
    interrupted_turn_closers,
)

USER = Source(kind="user")
HELLO = [Text(text="hello")]


def start(turn: int) -> TurnStart:
    """Begin a turn."""
    return TurnStart(turn=turn, trigger=MessageTrigger(source=USER))


def chunk(turn: int, step: int) -> AssistantChunk:
    """Stream a little."""
    return AssistantChunk(turn=turn, step=step, chunk=TextDelta(index=0, text="x"))


def end(turn: int) -> TurnEnd:
    """End a turn."""
    return TurnEnd(turn=turn, reason=Completed())


def user() -> UserMessage:
    """Say something."""
    return UserMessage(content=HELLO, source=USER)


REFUSED = {
    "a message outside a turn": ([], user()),
    "a step outside a turn": ([], StepStart(turn=1, step=1)),
    "the end of no turn": ([], end(1)),
    "a turn inside a turn": ([start(1)], start(2)),
    "a turn number that does not rise": ([start(2), end(2)], start(2)),
    "the end of another turn": ([start(1)], end(2)),
    "a step of another turn": ([start(1)], StepStart(turn=2, step=1)),
    "a step inside a step": ([start(1), StepStart(turn=1, step=1)], StepStart(turn=1, step=2)),
    "a step number that does not rise": (
        [start(1), StepStart(turn=1, step=1), StepEnd(turn=1, step=1)],
        StepStart(turn=1, step=1),
    ),
    "the end of another step": ([start(1), StepStart(turn=1, step=1)], StepEnd(turn=1, step=2)),
    "the end of no step": ([start(1)], StepEnd(turn=1, step=1)),
    "the end of a turn in a step": ([start(1), StepStart(turn=1, step=1)], end(1)),
    "a chunk outside a step": ([start(1)], chunk(1, 1)),
    "a chunk of another step": ([start(1), StepStart(turn=1, step=1)], chunk(1, 2)),
    "a chunk of another turn": ([start(1), StepStart(turn=1, step=1)], chunk(2, 1)),
    "a message in a step": ([start(1), StepStart(turn=1, step=1)], user()),
    "context in a step": (
        [start(1), StepStart(turn=1, step=1)],
        ContextMessage(content=HELLO, source=USER),
    ),
    "steering of another turn": ([start(1)], SteeringMessage(turn=2, content=HELLO, source=USER)),
    "a call outside a step": ([start(1)], ToolCall(turn=1, step=1, call_id="c", name="t", arguments="{}")),
    "a result outside a step": ([start(1)], ToolResult(turn=1, step=1, call_id="c", content=[])),
    "a plan outside a turn": ([], TodoWrite(todos=[])),
}


@pytest.mark.parametrize(("before", "refused"), REFUSED.values(), ids=REFUSED.keys())
def test_what_does_not_nest_is_refused_and_leaves_no_trace(session: Session, before, refused):
    """A reader of the log relies on the nesting, so no writer may break it."""
    for event in before:
        session.append(event)
    open_turn, open_step = session.open_turn, session.open_step
    with pytest.raises(NestingViolation) as caught:
        session.append(refused)
    assert caught.value.event_type == refused.event_type
    assert (caught.value.open_turn, caught.value.open_step) == (open_turn, open_step)
    assert len(session.events) == len(before)
    assert (session.open_turn, session.open_step) == (open_turn, open_step)


def test_a_type_without_a_model_lives_inside_a_turn_too(session: Session):
    """Plugins follow the same rule as the core."""
    with pytest.raises(NestingViolation):
        session.append("hook/invoked", {"hook": "pre-tool"})
    session.append(start(1))
    session.append("hook/invoked", {"hook": "pre-tool"})
    session.append(StepStart(turn=1, step=1))
    session.append("hook/result", {"turn": 99, "hook": "pre-tool"})
    session.append(TodoWrite(todos=[TodoItem(content="x", status="pending")]))
    session.append(PromptBlocked(content=HELLO, source=USER, reason="no"))
    assert len(session.events) == 6


def test_dicts_are_held_to_the_same_nesting(session: Session):
    """How an event is spelled does not matter."""
    session.append("turn/start", {"turn": 1, "trigger": {"kind": "injection"}})
    with pytest.raises(NestingViolation):
        session.append("step/start", {"turn": 2, "step": 1})
    session.append("step/start", {"turn": 1, "step": 1})
    with pytest.raises(InvalidEvent):
        session.append("step/end", {"turn": 1, "step": "1"})
    session.append("step/end", {"turn": 1, "step": 1})
    assert session.open_step is None


def test_numbering_continues_from_the_last_turn_of_a_seed(session: Session, store):
    """A resumed agent asks the session, not its own memory."""
    assert session.last_turn == 0
    for turn in (1, 5):
        session.append(start(turn))
        session.append(end(turn))
    resumed = store.create(id="again", seed=session.events)
    assert resumed.last_turn == 5
    with pytest.raises(NestingViolation):
        resumed.append(start(5))
    resumed.append(start(6))
    assert resumed.last_turn == 6


def test_a_seed_that_is_open_continues_where_it_stands(step: Session, store):
    """A live session is the authority on its own open turn."""
    continued = store.create(id="again", seed=step.events)
    assert (continued.open_turn, continued.open_step) == (1, 1)
    continued.append(chunk(1, 1))
    with pytest.raises(NestingViolation):
        continued.append(end(1))


class Appending(RuleBasedStateMachine):
    """Any sequence of appends, some of them wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Session(SessionHeader(id="s", created_at=0), clock=lambda: 0)
        self.calls = 0
        self.accepted: list[str] = []

    def attempt(self, model) -> None:
        """Append what may be refused; a refusal must change nothing."""
        before = len(self.session.events)
        try:
            self.session.append(model)
        except NestingViolation:
            assert len(self.session.events) == before
        else:
            self.accepted.append(model.event_type)

    @property
    def here(self) -> dict[str, int]:
        """The open turn and step, or plausible ones."""
        return {"turn": self.session.open_turn or 1, "step": self.session.open_step or 1}

    @rule()
    def begin_turn(self) -> None:
        """Begin the next turn."""
        self.attempt(start(self.session.last_turn + 1))

    @rule()
    def end_turn(self) -> None:
        """End the turn."""
        self.attempt(end(self.here["turn"]))

    @rule(step=st.integers(1, 4))
    def begin_step(self, step) -> None:
        """Begin a step."""
        self.attempt(StepStart(turn=self.here["turn"], step=step))

    @rule()
    def end_step(self) -> None:
        """End the step."""
        self.attempt(StepEnd(**self.here))

    @rule()
    def say(self) -> None:
        """A prompt."""
        self.attempt(user())

    @rule(count=st.integers(0, 3))
    def answer(self, count) -> None:
        """The model speaks, and asks for tools."""
        calls = [ToolCallBlock(id=f"c{self.calls + n}", name="t", arguments="{}") for n in range(count)]
        self.calls += count
        self.attempt(AssistantMessage(**self.here, content=[*HELLO, *calls]))

    @precondition(lambda self: self.calls)
    @rule(data=st.data(), started=st.booleans())
    def finish_tool(self, data, started) -> None:
        """A tool's result, for a call that exists or existed."""
        call_id = f"c{data.draw(st.integers(0, self.calls - 1))}"
        if started:
            self.attempt(ToolCall(**self.here, call_id=call_id, name="t", arguments="{}"))
        else:
            self.attempt(ToolResult(**self.here, call_id=call_id, content=HELLO))

    @invariant()
    def events_nest(self) -> None:
        """Read the log with a checker of its own."""
        turn = step = None
        for event in self.session.events:
            data = event.data
            if event.type == "turn/start":
                assert turn is None
                turn = data["turn"]
            elif event.type == "turn/end":
                assert (turn, step) == (data["turn"], None)
                turn = None
            elif event.type == "step/start":
                assert (turn, step) == (data["turn"], None)
                step = data["step"]
            elif event.type == "step/end":
                assert (turn, step) == (data["turn"], data["step"])
                step = None
            else:
                assert turn is not None
                assert ("step" in data) is (step is not None)

    @invariant()
    def the_transcript_is_valid(self) -> None:
        """Every call is answered once, right after, in order; only the latest of an open step may wait."""
        messages = self.session.derive_messages()
        waiting: list[str] = []
        is_running = self.session.open_step is not None
        for position, message in enumerate(messages):
            results = [block.tool_call_id for block in message.content if block.type == "tool-result"]
            is_latest = all(later.content[0].type == "tool-result" for later in messages[position:])
            if not results:
                assert not waiting
                waiting = [block.id for block in message.content if block.type == "tool-call"]
                continue
            if is_running and is_latest:
                while waiting and waiting[0] != results[0]:
                    waiting.pop(0)
            assert waiting[:1] == results
            waiting.pop(0)
        assert not waiting or is_running

    @invariant()
    def closers_balance_the_last_turn(self) -> None:
        """Whenever the process ends, the log can be closed, and every call of its last turn has a result."""
        events = self.session.events[:]
        closed = events + interrupted_turn_closers(events)
        assert [event.seq for event in closed] == list(range(len(closed)))
        assert interrupted_turn_closers(closed) == []
        again = Session(self.session.header, seed=closed)
        assert (again.open_turn, again.open_step) == (None, None)
        if self.session.open_turn is None:
            assert closed == events
            return
        first = max(event.seq for event in closed if event.type == "turn/start")
        results = [event.data["callId"] for event in closed[first:] if event.type == "tool/result"]
        for event in closed[first:]:
            if event.type == "assistant/message":
                asked = [block["id"] for block in event.data["content"] if block["type"] == "tool-call"]
                assert set(asked) <= set(results)


Appending.TestCase.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)
TestAppending = Appending.TestCase
