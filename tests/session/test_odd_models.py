"""Models that nobody should write, and some will: an append takes them as it always did, or says what is wrong."""

import copy
import enum
import inspect
import logging
from collections.abc import Iterator
from typing import Annotated, Any
from unittest import mock

import msgspec
import pytest
from pydantic import AfterValidator, Field, field_serializer, model_serializer, model_validator

from dsh_session import (
    InvalidEvent,
    InvalidSeed,
    NotJsonSerializable,
    Session,
    SessionEvent,
    SessionHeader,
    SessionId,
    SessionStore,
)
from dsh_session.bulk import decode_block, decode_many
from dsh_session.envelope import Replace
from dsh_session.event import decode_line
from dsh_session.vocabulary import (
    AssistantMessage,
    EventData,
    OpenBlock,
    OpenTrigger,
    ToolResultBlock,
    TurnStart,
    Usage,
    UserMessage,
)

USER = {"kind": "user"}


@pytest.fixture
def session():
    """A session with an open turn, in which any event of a plugin may stand."""
    made = Session(SessionHeader(id=SessionId("odd"), created_at=0))
    made.append(TurnStart(turn=1, trigger={"kind": "message", "source": USER}))
    return made


def test_a_type_that_an_instance_decides_is_asked_for_each_time(session):
    """What was seen of a class once does not hold for what its instances say."""

    class Dynamic(EventData):
        name: str

        @property
        def event_type(self):
            """Depend on a field."""
            return f"test/{self.name}"

    assert [session.append(Dynamic(name=name)).type for name in "abab"] == ["test/a", "test/b"] * 2


def test_a_type_that_is_given_to_a_class_later_counts_from_then_on(session):
    """As above, for a class that is changed."""

    class Changed(EventData, type="test/before"):
        x: int = 0

    assert session.append(Changed()).type == "test/before"
    Changed.event_type = "test/after"
    assert session.append(Changed()).type == "test/after"


class Kind(enum.StrEnum):
    """Types, as an enum."""

    ODD = "test/from-an-enum"


def test_a_member_of_an_enum_is_a_type(session):
    """It is a text, and is kept as one."""

    class Odd(EventData, type=Kind.ODD):
        x: int = 0

    for _ in range(2):
        event = session.append(Odd())
        assert event.type == "test/from-an-enum"
        assert type(event.type) is str


def test_an_integer_beyond_the_limit_of_digits_is_refused_by_name(session):
    """In a field that is vouched for, too."""
    usage = Usage(input_tokens=10**5000, output_tokens=1)
    with pytest.raises(NotJsonSerializable, match=r"usage\.inputTokens"):
        SessionEvent(
            type="assistant/message",
            seq=0,
            time=0,
            data=AssistantMessage(turn=1, step=1, content=[], usage=usage),
        )


def test_a_turn_that_an_instance_lacks_is_no_turn(session):
    """An instance that was made without validation may lack any field."""

    class Lacking(EventData, type="test/lacking"):
        turn: int | None
        step: int | None

    for _ in range(2):
        assert session.append(Lacking.model_construct()).data == {"turn": None, "step": None}
    assert session.append(Lacking.model_construct(turn=1)).data == {"turn": 1, "step": None}


def test_a_turn_of_a_plugin_is_its_own_affair(session):
    """Only the types that the automaton knows are compared with it."""

    class Vector:
        def __eq__(self, other) -> bool:
            raise ValueError("ambiguous")

        __hash__ = None

    class Moved(EventData, type="test/moved"):
        step: Any

        @field_serializer("step")
        def serialize(self, _step):
            """Write it as a list."""
            return [1, 2]

    for _ in range(2):
        assert session.append(Moved(step=Vector())).data == {"step": [1, 2]}


class Name(str):
    """A text of another class."""

    __slots__ = ()


class Aliased(EventData, type="test/aliased"):
    """A wire name of another class."""

    x: int = Field(alias=Name("xx"))


class Limited(EventData, type="test/limited"):
    """A limit that cannot be written."""

    x: Annotated[int, Field(le=10**5000)]


class Renamed(EventData, type="test/renamed"):
    """A class with a name that is none."""

    x: int


Renamed.__qualname__ = "a\0b"


@pytest.mark.parametrize(
    ("model", "data"),
    [(Aliased(xx=1), {"xx": 1}), (Limited(x=1), {"x": 1}), (Renamed(x=1), {"x": 1})],
    ids=["alias", "limit", "name"],
)
def test_a_class_for_which_no_writer_can_be_made_is_written_all_the_same(session, model, data):
    """The strict way takes over."""
    for _ in range(2):
        assert session.append(model).data == data


class Short(EventData, type="test/short"):
    """Constraints of many kinds."""

    text: Annotated[str, Field(min_length=3)] = "long"
    even: Annotated[int, Field(multiple_of=2)] = 2
    upper: Annotated[str, AfterValidator(lambda text: text if text.isupper() else 1 / 0)] = "UP"

    @model_validator(mode="after")
    def agree(self):
        """Ask for more than the fields say."""
        if self.text == "none":
            raise ValueError("anything but that")
        return self


@pytest.mark.parametrize("change", [{"text": "no"}, {"even": 3}, {"text": "none"}])
def test_a_constraint_is_looked_at_again(session, change):
    """An instance that was never validated does not get past it."""
    session.append(Short())
    with pytest.raises(InvalidEvent):
        session.append(Short.model_construct(**change))


@pytest.mark.parametrize(
    "model",
    [
        TurnStart(turn=2, trigger=OpenTrigger(kind="later")).model_copy(
            update={"trigger": OpenTrigger.model_construct(kind="message")}
        ),
        UserMessage.model_construct(content=[OpenBlock.model_construct(type="text")], source=USER),
    ],
)
def test_a_known_kind_does_not_pass_for_an_unknown_one(model):
    """It lacks the fields of its kind, and could not be read again."""
    with pytest.raises(InvalidEvent):
        SessionEvent(type=model.event_type, seq=0, time=0, data=model)


def test_a_serializer_that_gives_no_object_is_refused(session):
    """The line could not be read again."""

    class Text(EventData, type="test/text"):
        a: str

        @model_serializer
        def serialize(self):
            """Give a text."""
            return self.a

        @model_validator(mode="before")
        @classmethod
        def validate(cls, value) -> Any:
            """Take a text."""
            return {"a": value} if isinstance(value, str) else value

    with pytest.raises(InvalidEvent):
        session.append(Text(a="x"))


def test_parts_in_parts_without_end_are_refused(session):
    """Whether they go deep or round."""
    deep = ToolResultBlock(tool_call_id="a", content=[])
    for _ in range(2000):
        deep = ToolResultBlock.model_construct(tool_call_id="a", content=[deep], is_error=False)
    cyclic = ToolResultBlock(tool_call_id="a", content=[])
    cyclic.content.append(cyclic)
    session.append(UserMessage(content=[], source=USER))
    for block in (deep, cyclic):
        model = UserMessage.model_construct(content=[block], source=UserMessage(content=[], source=USER).source)
        with pytest.raises(NotJsonSerializable):
            session.append(model)


class Hiding(dict):
    """A dict that shows nothing of what it holds."""

    def values(self):
        """Show nothing."""
        return []

    def items(self):
        """Show nothing."""
        return []

    def __iter__(self) -> Iterator[Any]:
        return iter(())


@pytest.mark.parametrize("data", [Hiding(a=float("nan")), Hiding({1: 2})])
def test_a_dict_of_another_class_is_looked_into(data):
    """What it holds counts, not what it shows."""
    with pytest.raises(NotJsonSerializable):
        SessionEvent(type="note", seq=0, time=0, data=data)
    assert SessionEvent(type="note", seq=0, time=0, data=Hiding(a=1)).data == {"a": 1}


def _cycle():
    made: dict[str, Any] = {}
    made["op"] = made
    return made


@pytest.mark.parametrize(
    "wrong",
    [
        {"source_event_seqs": 5},
        {"surface_op": object()},
        {"surface_op": mock.ANY},
        {"surface_op": {"\ud800": 1, "op": "replace"}},
        {"surface_op": _cycle()},
    ],
)
def test_an_argument_of_no_use_is_refused_as_such(wrong):
    """Not by an error of whatever looked at it."""
    with pytest.raises(InvalidEvent):
        SessionEvent(type="user/message", seq=0, time=0, data={}, **wrong)


def test_an_operation_of_another_class_of_texts_is_that_text():
    """And is written as one."""
    event = SessionEvent(type="user/message", seq=0, time=0, data={}, surface_op=Name("append"))
    assert event.line.endswith(b'"surfaceOp":"append"}')
    assert type(event.surface_op) is str


@pytest.mark.parametrize("operation", [b'"\\ud800"', b'{"\\ud800":1}', b'["\\ud800"]'])
def test_an_operation_that_utf8_cannot_carry_is_an_unreadable_line(operation):
    """A log with such a line is judged, not choked on."""
    line = b'{"type":"a","seq":0,"time":0,"data":{},"surfaceOp":' + operation + b"}"
    with pytest.raises(InvalidEvent):
        decode_line(line)
    with pytest.raises(InvalidEvent):
        decode_many([line])


def test_an_event_is_what_only_this_package_makes():
    """A library that meets one by chance neither makes nor writes half of it."""
    event = SessionEvent(type="note", seq=0, time=0, data={"a": 1})
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(event.line, type=SessionEvent)
    for _ in range(2):
        with pytest.raises(TypeError):
            msgspec.json.encode(event)
        assert event.data == {"a": 1}
    with pytest.raises(TypeError):
        event.__replace__(seq=1)
    assert copy.copy(event) is event
    assert list(inspect.signature(SessionEvent).parameters) == [
        "type",
        "seq",
        "time",
        "data",
        "source_event_seqs",
        "surface_op",
    ]


def test_a_buffer_that_is_read_in_a_block_does_not_reach_the_events():
    """A reader hands out views of its buffer."""
    buffer = bytearray(b'{"type":"note","seq":0,"time":0,"data":{}}\n')
    events = decode_block(buffer)
    assert events is not None
    buffer[:] = bytes(len(buffer))
    assert events[0].line == b'{"type":"note","seq":0,"time":0,"data":{}}'


def test_the_first_event_of_a_seed_that_is_wrong_is_the_one_that_is_named():
    """Whatever is wrong with it."""
    good = SessionEvent(type="note", seq=0, time=0, data={})
    lost = SessionEvent(type="user/message", seq=1, time=0, data={}, surface_op=Replace(start=7, end=8))
    late = SessionEvent(type="note", seq=5, time=0, data={})
    for seed, index in (([good, lost, late], 1), ([good, lost, "x"], 1), ([good, late, lost], 1), (["x", lost], 0)):
        with pytest.raises(InvalidSeed) as caught:
            Session(SessionHeader(id=SessionId("odd"), created_at=0), seed=seed)
        assert caught.value.index == index


def test_a_log_that_fails_does_not_make_a_session_fall_silent():
    """A listener failed, and so did the handler that was to say so."""

    class Broken(logging.Handler):
        def emit(self, record):
            """Fail as well."""
            raise RuntimeError("no log either")

    class Failing:
        def event(self, session, event):
            """Fail."""
            raise ValueError("listener")

    class Hearing:
        def __init__(self) -> None:
            self.heard = []

        def event(self, session, event):
            """Take note."""
            self.heard.append(event.seq)

    store, hearing = SessionStore(), Hearing()
    store.subscribe(Failing())
    store.subscribe(hearing)
    session = store.create()
    handler = Broken()
    logger = logging.getLogger("dsh_session")
    logger.addHandler(handler)
    try:
        for turn in (1, 2):
            session.append(TurnStart(turn=turn, trigger={"kind": "message", "source": USER}))
            session.append("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
    finally:
        logger.removeHandler(handler)
    assert hearing.heard == [0, 1, 2, 3]
