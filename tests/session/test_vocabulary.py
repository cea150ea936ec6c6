"""The models: strict about what they know, open to what they do not."""

import json
from datetime import datetime

import pydantic
import pytest

import dsh_session as d
from dsh_session.event import decode_line
from dsh_session.vocabulary import CORE_MODELS
from dsh_session.vocabulary.samples import SAMPLES

HERE = {"turn": 1, "step": 1}


@pytest.mark.parametrize("model", CORE_MODELS, ids=lambda model: model.event_type)
def test_every_core_type_is_written_and_read_as_its_model(model):
    """A model that its own line did not give back would lie about the log."""
    sample = SAMPLES[model.event_type]
    event = d.SessionEvent(type=model.event_type, seq=0, time=0, data=sample)
    assert event.payload() == sample
    assert type(event.payload()) is model
    spelled = d.SessionEvent(type=model.event_type, seq=0, time=0, data=json.loads(event.data_json))
    assert spelled.line == event.line


def test_wire_names_are_camel_case_and_absent_fields_are_left_out(step: d.Session):
    """Other implementations read these names."""
    step.append(d.AssistantMessage(**HERE, content=[], usage=d.Usage(input_tokens=1, output_tokens=2)))
    event = step.append(d.ToolResult(**HERE, call_id="c", content=[d.Text(text="x")]))
    assert step.events[-2].data["usage"] == {"inputTokens": 1, "outputTokens": 2}
    assert event.data_json == (
        b'{"turn":1,"step":1,"callId":"c","content":[{"type":"text","text":"x"}],"isError":false}'
    )


def test_parts_may_be_given_as_models_or_in_their_wire_form(session: d.Session):
    """Either spelling makes the same event."""
    as_models = d.TurnEnd(turn=1, reason=d.Failed(step=1, message="m", code="c"))
    as_dicts = d.TurnEnd(turn=1, reason={"kind": "error", "step": 1, "message": "m", "code": "c"})
    assert as_models == as_dicts
    assert d.TurnStart(turn=1, trigger={"kind": "message", "source": {"kind": "user"}}) == d.TurnStart(
        turn=1, trigger=d.MessageTrigger(source=d.Source(kind="user"))
    )
    block = {"type": "tool-call", "id": "c", "name": "n", "arguments": "{}"}
    assert d.AssistantMessage(**HERE, content=[block]).content == [
        d.ToolCallBlock(id="c", name="n", arguments="{}")
    ]
    assert d.AssistantChunk(**HERE, chunk={"type": "text-delta", "index": 0, "text": "x"}).chunk == d.TextDelta(
        index=0, text="x"
    )


def test_a_dict_of_a_known_type_is_stored_as_given(step: d.Session):
    """Key order, unknown fields and explicit nulls are part of what the caller said."""
    data = {
        "isError": False,
        "content": [{"text": "x", "type": "text", "cache": None}, {"type": "image", "url": "u"}],
        "callId": "c",
        "step": 1,
        "turn": 1,
        "meta": {"b": None, "a": 1.0},
        "future": [1],
    }
    event = step.append("tool/result", data)
    assert event.data_json == json.dumps(data, separators=(",", ":")).encode()
    payload = event.payload()
    assert payload.future == [1]
    assert payload.content[1] == d.OpenBlock(type="image", url="u")
    assert d.SessionEvent(type="tool/result", seq=0, time=0, data=payload).data["future"] == [1]


REFUSED = {
    "missing field": ("tool/result", {**HERE, "content": []}, "callId"),
    "python name on the wire": ("tool/result", {**HERE, "call_id": "c", "content": []}, "callId"),
    "text for a number": ("step/start", {"turn": "1", "step": 1}, "turn"),
    "bool for a number": ("step/start", {"turn": True, "step": 1}, "turn"),
    "float for a number": ("step/start", {"turn": 1.0, "step": 1}, "turn"),
    "zero for an ordinal": ("step/start", {"turn": 0, "step": 1}, "turn"),
    "number for a text": (
        "assistant/chunk",
        {**HERE, "chunk": {"type": "text-delta", "index": 0, "text": 5}},
        "chunk.text",
    ),
    "known block without its text": (
        "user/message",
        {"content": [{"type": "text"}], "source": {"kind": "u"}},
        "content[0].text",
    ),
    "block without a type": ("user/message", {"content": [{}], "source": {"kind": "u"}}, "content[0]"),
    "text as content": ("user/message", {"content": "x", "source": {"kind": "u"}}, "content"),
    "source without a kind": ("user/message", {"content": [], "source": {}}, "source.kind"),
    "error reason without a message": (
        "turn/end",
        {"turn": 1, "reason": {"kind": "error", "step": 1}},
        "reason.message",
    ),
    "list as meta": ("tool/result", {**HERE, "callId": "c", "content": [], "meta": []}, "meta"),
    "number as isError": ("tool/result", {**HERE, "callId": "c", "content": [], "isError": 0}, "isError"),
}


@pytest.mark.parametrize(("event_type", "data", "path"), REFUSED.values(), ids=REFUSED.keys())
def test_a_dict_that_its_model_refuses_is_refused_with_a_path(step: d.Session, event_type, data, path):
    """A plugin author sees which field is wrong, not a page of unions."""
    before = len(step.events)
    with pytest.raises(d.InvalidEvent) as caught:
        step.append(event_type, data)
    assert (caught.value.event_type, caught.value.path) == (event_type, path)
    assert len(step.events) == before


@pytest.mark.parametrize(
    ("event_type", "data"),
    [
        ("turn/end", {"turn": 1, "reason": {"kind": "paused", "until": 5}}),
        ("turn/start", {"turn": 1, "trigger": {"kind": "timer", "every": {"s": 1}}}),
        ("assistant/chunk", {**HERE, "chunk": {"type": "audio-delta", "bytes": "..."}}),
        ("assistant/chunk", {**HERE, "chunk": {"type": "finish", "reason": {"kind": "moved"}}}),
        ("user/message", {"content": [{"type": "image"}], "source": {"kind": "mail", "from": "a"}}),
        ("todo/write", {"todos": [{"content": "x", "status": "someday", "owner": None}]}),
    ],
)
def test_kinds_that_this_build_does_not_know_are_carried(event_type, data):
    """A log passes through this library without losing a byte of meaning."""
    event = d.SessionEvent(type=event_type, seq=0, time=0, data=data)
    payload = event.payload()
    again = d.SessionEvent(type=event_type, seq=0, time=0, data=payload)
    assert again == event
    assert decode_line(again.line).payload() == payload


def test_a_plugin_registers_a_type_by_defining_its_model(turn: d.Session):
    """The vocabulary is open."""

    class FoldStart(d.EventData, type="fold/start"):
        upto: int
        note: str | None = None
        ratio: float = 0.5

    event = turn.append(FoldStart(upto=3, ratio=1.0))
    assert (event.type, event.data_json) == ("fold/start", b'{"upto":3,"ratio":1.0}')
    assert event.payload() == FoldStart(upto=3, ratio=1.0)
    turn.append("fold/start", {"upto": 4})
    with pytest.raises(d.InvalidEvent):
        turn.append("fold/start", {"upto": "four"})
    with pytest.raises(d.InvalidSurfaceOp):
        turn.append(FoldStart(upto=3), surface_op="append")


def test_what_a_plugins_model_holds_must_be_json_or_be_written_as_json(turn: d.Session):
    """A model is no way around the strict check; a serializer of its own is."""

    class Stamped(d.EventData, type="test/stamped"):
        at: datetime

    class Written(d.EventData, type="test/written"):
        at: datetime

        @pydantic.field_serializer("at")
        def write(self, value: datetime) -> str:
            """Write a time as text."""
            return value.isoformat()

    moment = datetime.fromisoformat("2026-01-02T03:04:05")
    with pytest.raises(d.NotJsonSerializable) as caught:
        turn.append(Stamped(at=moment))
    assert caught.value.path == "at"
    event = turn.append(Written(at=moment))
    assert event.data == {"at": "2026-01-02T03:04:05"}
    assert event.payload() == Written(at=moment)


def test_a_field_whose_default_is_not_null_keeps_an_explicit_null(turn: d.Session):
    """Left out, it would read back as its default."""

    class Limit(d.EventData, type="test/limit"):
        value: int | None = 5

    event = turn.append(Limit(value=None))
    assert event.payload() == Limit(value=None)


@pytest.mark.parametrize("event_type", ["turn/start", "tool/result", "", "\ud800"])
def test_core_types_and_unusable_names_are_reserved(event_type):
    """Two meanings of one core type would split every reader in two."""
    with pytest.raises(d.ReservedEventType):

        class Hostile(d.EventData, type=event_type):
            pass


def test_the_latest_definition_of_a_plugins_type_wins():
    """A plugin can be reloaded."""

    class First(d.EventData, type="test/reloaded"):
        a: int

    class Second(d.EventData, type="test/reloaded"):
        b: int

    assert type(d.SessionEvent(type="test/reloaded", seq=0, time=0, data={"b": 1}).payload()) is Second
    assert First.event_type == Second.event_type


@pytest.mark.parametrize(
    "break_it",
    [
        lambda model: model.model_copy(update={"turn": "x"}),
        lambda model: model.model_copy(update={"content": [{"type": "text"}]}),
        lambda model: model.model_copy(update={"content": "text"}),
        lambda model: model.model_copy(update={"usage": 5}),
        lambda model: type(model).model_construct(turn=1, step=1),
        lambda model: model.model_copy(update={"content": [d.Text.model_construct(text=5)]}),
        lambda model: model.model_copy(update={"content": [d.Text.model_construct(type="image", text="x")]}),
    ],
)
def test_an_instance_that_was_never_validated_is_validated_at_the_append(step: d.Session, break_it):
    """Copies and constructed instances skip the model's own checks."""
    model = d.AssistantMessage(**HERE, content=[d.Text(text="x")])
    before = len(step.events)
    bad = break_it(model)
    try:
        event = step.append(bad)
    except (d.InvalidEvent, d.NestingViolation):
        assert len(step.events) == before
    else:
        assert event.payload().content[0] == d.OpenBlock(type="image", text="x")


def test_an_unknown_type_gives_its_data_as_payload():
    """There is no model to validate it."""
    event = d.SessionEvent(type="alien/event", seq=0, time=0, data={"a": [1]})
    assert event.payload() == {"a": [1]}


def test_data_that_does_not_fit_its_model_is_carried_until_it_is_read_as_one():
    """A foreign log is not ours to refuse; a typed read of it is honest."""
    event = decode_line(b'{"type":"turn/start","seq":0,"time":0,"data":{"turn":"one"}}')
    assert event.data == {"turn": "one"}
    with pytest.raises(d.InvalidEvent):
        event.payload()


def test_lone_surrogates_pass_through_a_model(step: d.Session):
    """Broken tool output reaches models as it is."""
    event = step.append(d.ToolResult(**HERE, call_id="c", content=[d.Text(text="caf\udce9")]))
    assert event.payload().content[0].text == "caf\udce9"
    assert decode_line(event.line) == event


def test_models_do_not_change():
    """They are values."""
    with pytest.raises(pydantic.ValidationError):
        d.Text(text="a").text = "b"
    with pytest.raises(pydantic.ValidationError):
        d.Text(text=5)
