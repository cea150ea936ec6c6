"""The writer of a class vouches for what fits and for nothing else, and writes what the strict way writes."""

import gc
from typing import Literal

import pytest
from pydantic import Field, field_serializer, field_validator

from dsh_session import InvalidEvent, NotJsonSerializable, Session, SessionEvent, SessionHeader, SessionId
from dsh_session.vocabulary import (
    AssistantChunk,
    AssistantMessage,
    EventData,
    Part,
    StepStart,
    Text,
    TextDelta,
    ToolResult,
    ToolResultBlock,
    TurnStart,
    UserMessage,
    closed_wire,
)
from dsh_session.vocabulary import codec as codec_module
from dsh_session.vocabulary.samples import SAMPLES


class Colour(Part):
    """A part with a literal of two texts."""

    name: Literal["red", "blue"]


class Deep(EventData, type="test/deep"):
    """A literal that is no text."""

    depth: Literal[1, 2] = 1


class Painted(EventData, type="test/painted"):
    """A plugin's event: optional parts, lists, bounds, unions, a name that is taken."""

    colour: Colour | None = None
    others: list[Colour] = Field(default_factory=list)
    count: int | str = Field(default=0)
    within: int = Field(default=3, ge=-2, lt=10)
    is_done: bool | None = None
    wire: str = ""
    absent: str | None = None


class Quoted(EventData, type="test/quoted"):
    """A key that JSON has to escape."""

    field: int = Field(alias='a"b')


class Shouted(EventData, type="test/shouted"):
    """A model that says how it is written."""

    text: str

    @field_serializer("text")
    def shout(self, text: str) -> str:
        """Write it in capitals."""
        return text.upper()


class Empty(EventData, type="test/empty"):
    """No field at all."""


class Free(EventData, type="test/free"):
    """Free JSON."""

    value: dict[str, object]


VOUCHED = [
    *SAMPLES.values(),
    Painted(),
    Painted(colour=Colour(name="red"), others=[Colour(name="blue")], count="many", is_done=False),
    Painted(within=-2, wire='\u2028\x00"\\ \U0001f600'),
    Empty(),
    ToolResult(turn=1, step=1, call_id="c", content=[], is_error=True),
]
STRICT = [
    UserMessage(content=[{"type": "text", "text": "x", "more": 1}], source={"kind": "user", "name": "me"}),
    AssistantChunk(turn=1, step=1, chunk={"type": "later", "of": "ours"}),
    Deep(depth=2),
    Quoted(**{'a"b': 1}),
    Shouted(text="hey"),
    Free(value={"a": [1, None]}),
    ToolResult(turn=1, step=1, call_id="c", content=[], meta={"a": 1}),
]


def line(model):
    """Write a model as an event would hold it."""
    return SessionEvent(type=model.event_type, seq=0, time=0, data=model).line


@pytest.mark.parametrize("model", [*VOUCHED, *STRICT], ids=lambda model: model.event_type)
def test_both_ways_write_the_same(model, monkeypatch):
    """The quick way is an optimization, and nothing in the log may tell of it."""
    quick = line(model)
    monkeypatch.setattr(codec_module, "closed_wire", dict.fromkeys([type(model)], lambda _model: None))
    assert line(model) == quick


@pytest.mark.parametrize("model", VOUCHED, ids=lambda model: model.event_type)
def test_what_fits_is_vouched_for(model):
    """Else every chunk of a stream would be validated a second time."""
    if (
        not any(part.__pydantic_extra__ for part in (model, *_parts(model)))
        and getattr(model, "meta", None) is None
    ):
        assert closed_wire[type(model)](model) is not None


def _parts(model):
    for value in model.__dict__.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Part):
                yield item
                yield from _parts(item)


class Loud(Text):
    """A part that a plugin has made of one of ours."""

    volume: int = 11


@pytest.mark.parametrize(
    "model",
    [
        StepStart.model_construct(turn=True, step=1),
        StepStart.model_construct(turn=0, step=1),
        StepStart.model_construct(turn=2**63, step=1),
        StepStart.model_construct(turn=1.0, step=1),
        StepStart.model_construct(turn=1),
        StepStart(turn=1, step=1).model_copy(update={"step": "one"}),
        AssistantChunk.model_construct(turn=1, step=1, chunk=TextDelta.model_construct(index=-1, text="x")),
        AssistantChunk.model_construct(turn=1, step=1, chunk=TextDelta.model_construct(index=0, text=b"x")),
        AssistantChunk.model_construct(turn=1, step=1, chunk=TextDelta.model_construct(index="0", text="x")),
        AssistantChunk.model_construct(turn=1, step=1, chunk=None),
        UserMessage.model_construct(content=[None], source={"kind": "user"}),
        UserMessage.model_construct(content=["text"], source={"kind": "user"}),
        Painted.model_construct(within=10),
        Painted.model_construct(colour=Colour.model_construct(name="green")),
        Painted.model_construct(is_done="perhaps"),
    ],
)
def test_what_was_never_validated_is_validated_now(model):
    """A frozen model can be made in ways that validate nothing."""
    assert closed_wire[type(model)](model) is None
    with pytest.raises((InvalidEvent, NotJsonSerializable)):
        line(model)


def test_another_part_in_the_place_of_a_declared_one_is_looked_at():
    """A block where a chunk belongs may pass for a chunk of a kind that is not known, and no field gets lost."""
    model = AssistantChunk.model_construct(turn=1, step=1, chunk=Text(text="a block"))
    assert closed_wire[AssistantChunk](model) is None
    assert b'"chunk":{"type":"text","text":"a block"}' in line(model)


def test_a_list_that_was_changed_afterwards_is_looked_at():
    """A model is frozen, the list in it is not."""
    model = UserMessage(content=[Text(text="x")], source={"kind": "user"})
    model.content.append(float("nan"))
    assert closed_wire[UserMessage](model) is None
    with pytest.raises(NotJsonSerializable):
        line(model)


def test_a_subclass_of_a_part_is_written_whole():
    """What the declared class does not know must not get lost."""
    model = UserMessage.model_construct(content=[Loud(text="x")], source=SAMPLES["user/message"].source)
    assert b'"volume":11' in line(model)


def test_a_part_that_holds_itself_is_no_end_of_it():
    """A tool's result is a block that holds blocks."""
    inner = ToolResultBlock(tool_call_id="b", content=[Text(text="deep")])
    model = AssistantMessage(turn=1, step=1, content=[ToolResultBlock(tool_call_id="a", content=[inner])])
    assert closed_wire[AssistantMessage](model) is not None
    assert b'"content":[{"type":"text","text":"deep"}]' in line(model)


def test_a_validator_that_changes_its_input_does_not_change_what_is_stored():
    """Data that is given by name is stored as it was given."""

    class Meddling(EventData, type="test/meddling"):
        value: list[int]

        @field_validator("value", mode="before")
        @classmethod
        def meddle(cls, value: list[int]) -> list[int]:
            """Change the caller's list."""
            value.append(5)
            return value

    session = Session(SessionHeader(id=SessionId("a"), created_at=0))
    session.append(TurnStart(turn=1, trigger={"kind": "message", "source": {"kind": "user"}}))
    assert session.append("test/meddling", {"value": [1]}).data_json == b'{"value":[1]}'


def test_surrogates_are_kept_and_those_that_would_merge_are_refused():
    """Both are found only when the line is written."""
    assert b"\\ud800" in line(AssistantChunk(turn=1, step=1, chunk=TextDelta(index=0, text="\ud800")))
    with pytest.raises(NotJsonSerializable):
        line(AssistantChunk(turn=1, step=1, chunk=TextDelta(index=0, text="\ud83d\ude00")))


def test_a_long_log_does_not_keep_the_collector_busy():
    """A million events that it had to look through would stop the world for seconds."""
    event = SessionEvent(type="note", seq=0, time=0, data={"a": [1]})
    assert event.data == {"a": [1]}
    assert not gc.is_tracked(event)
