"""What enters a log comes back as it was, or does not enter."""

import copy
import datetime as dt
import decimal
import itertools
import json
import math
import pickle
import sys
import uuid
from collections import OrderedDict
from enum import IntEnum
from typing import Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dsh_session import InvalidEvent, NotJsonSerializable, Session, SessionEvent, ToolResult
from dsh_session.event import decode_line
from dsh_session.frozen import is_same_json
from dsh_session.json_reader import read_json
from dsh_session.json_value import MAX_DEPTH, encode_json

MERGING = [high + low for high in "\ud800\udbff" for low in "\udc00\udfff"]


def has_merging_pair(value: Any) -> bool:
    """Tell whether a text somewhere in a value holds a high surrogate before a low one."""
    if isinstance(value, str):
        return any("\ud800" <= a <= "\udbff" and "\udc00" <= b <= "\udfff" for a, b in itertools.pairwise(value))
    if isinstance(value, dict):
        return any(has_merging_pair(item) for pair in value.items() for item in pair)
    return isinstance(value, list) and any(map(has_merging_pair, value))


def identical(left: Any, right: Any) -> bool:
    """Compare two values down to types, signs of zero and key order."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(identical(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(identical, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return type(left) is type(right) and left == right


TEXTS = st.text(st.characters(exclude_categories=()), max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**400), max_value=10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=5)


@given(OBJECTS)
@example({"": "", "z": 1, "a": 1.0, "n": -0.0, "t": 5e-324, "big": 10**4000, "u": "\x00\u2028\u2029\x85\x7f"})
@example({"lone": "\ud800", "\udfff": ["a\udc80b"], "reversed": "\udc00\ud800"})
def test_any_json_value_comes_back_from_the_line_as_it_was(data):
    """Exactness is the promise on which replay and resume stand."""
    if has_merging_pair(data):
        with pytest.raises(NotJsonSerializable):
            SessionEvent(type="x", seq=0, time=0, data=data)
        return
    event = SessionEvent(type="x", seq=0, time=0, data=data)
    again = decode_line(event.line)
    assert identical(again.data, data)
    assert again == event
    assert again.line == event.line
    assert identical(json.loads(event.data_json), data)


@given(OBJECTS)
def test_a_line_is_one_line_of_utf8_json(data):
    """A file of lines is split at newlines, so no value may bring one."""
    if has_merging_pair(data):
        return
    line = SessionEvent(type="x", seq=0, time=0, data=data).line
    assert len(line.splitlines()) == 1
    assert json.loads(line.decode("utf-8"))["type"] == "x"


@given(st.text(alphabet='{}[]",:\\u0123456789eE+-.truefalsn dD \n\ud800é', max_size=24))
def test_the_reader_without_recursion_takes_what_the_standard_library_takes(text):
    """Two readers that disagree would make a log mean two things."""
    import dsh_session.json_reader as reader

    try:
        expected = reader._decoder.decode(text)
    except ValueError:
        with pytest.raises(ValueError, match=r".*"):
            reader._Reader(text).document()
    else:
        assert identical(reader._Reader(text).document(), expected)


@given(VALUES)
def test_the_reader_without_recursion_reads_every_value(value):
    """It takes over where the stack ends, and must give the same value there."""
    import dsh_session.json_reader as reader

    text = json.dumps(value, indent=1)
    assert identical(reader._Reader(text).document(), json.loads(text))


class Level(IntEnum):
    """An enumeration whose members are ints."""

    LOW = 1


class Point(NamedTuple):
    """A tuple with names."""

    x: int
    y: int


CYCLE: list[Any] = []
CYCLE.append({"again": CYCLE})
WIDE_CYCLE: list[Any] = []
WIDE_CYCLE.extend([WIDE_CYCLE] * 3)

REFUSED = {
    "nan": (math.nan, "content[2].meta.size"),
    "infinity": (math.inf, "content[2].meta.size"),
    "negative infinity": (-math.inf, "content[2].meta.size"),
    "tuple": ((1,), "content[2].meta.size"),
    "named tuple": (Point(1, 2), "content[2].meta.size"),
    "set": ({1}, "content[2].meta.size"),
    "frozenset": (frozenset({1}), "content[2].meta.size"),
    "bytes": (b"x", "content[2].meta.size"),
    "datetime": (dt.datetime.now(dt.UTC), "content[2].meta.size"),
    "date": (dt.date(2026, 1, 1), "content[2].meta.size"),
    "decimal": (decimal.Decimal(1), "content[2].meta.size"),
    "uuid": (uuid.UUID(int=0), "content[2].meta.size"),
    "object": (object(), "content[2].meta.size"),
    "enum": (Level.LOW, "content[2].meta.size"),
    "ordered dict": (OrderedDict(a=1), "content[2].meta.size"),
    "integer key": ({1: 2}, "content[2].meta.size"),
    "null key": ({None: 2}, "content[2].meta.size"),
    "cycle": (CYCLE, "content[2].meta.size[0].again"),
    "wide cycle": (WIDE_CYCLE, "content[2].meta.size[0]"),
    "merging surrogates": (MERGING[0], "content[2].meta.size"),
    "merging surrogates in a key": ({MERGING[1]: 1}, "content[2].meta.size"),
    "too many digits": (10 ** (sys.get_int_max_str_digits() + 1), "content[2].meta.size"),
}


@pytest.mark.parametrize(("value", "path"), REFUSED.values(), ids=REFUSED.keys())
def test_what_json_would_lose_is_refused_with_its_type_and_path(turn: Session, value, path):
    """The error must lead to the line that is to blame, and the log must not notice."""
    before = list(turn.events)
    with pytest.raises(NotJsonSerializable) as caught:
        turn.append("plugin/note", {"content": [1, 2, {"meta": {"size": value}}]})
    assert (caught.value.event_type, caught.value.path) == ("plugin/note", path)
    assert turn.events == before


def test_what_json_would_lose_is_refused_inside_a_model_too(step: Session):
    """Free fields of a model are as dangerous as a dict."""
    result = ToolResult(turn=1, step=1, call_id="c", content=[{"type": "image", "size": (1, 2)}], meta={"a": 1})
    with pytest.raises(NotJsonSerializable) as caught:
        step.append(result)
    assert (caught.value.event_type, caught.value.path) == ("tool/result", "content[0].size")
    with pytest.raises(NotJsonSerializable) as caught:
        step.append(ToolResult(turn=1, step=1, call_id="c", content=[], meta={"size": math.nan}))
    assert caught.value.path == "meta.size"


def test_a_model_that_holds_a_cycle_is_refused_like_a_dict(step: Session):
    """The way through a model must not be the one that never ends."""
    with pytest.raises(NotJsonSerializable) as caught:
        step.append(ToolResult(turn=1, step=1, call_id="c", content=[{"type": "image", "v": WIDE_CYCLE}]))
    assert caught.value.path == "content[0].v[0]"


def test_a_model_carries_the_deepest_value_wherever_the_stack_stands(step: Session, at_depth, deep_stack):
    """Models and dicts have one limit."""
    result = ToolResult(turn=1, step=1, call_id="c", content=[], meta={"v": nested(MAX_DEPTH - 1)})
    event = at_depth(deep_stack, lambda: step.append(result))
    assert is_same_json(at_depth(deep_stack, event.payload).meta, result.meta)
    with pytest.raises(NotJsonSerializable):
        step.append(ToolResult(turn=1, step=1, call_id="c", content=[], meta={"v": nested(MAX_DEPTH)}))


def nested(levels: int) -> Any:
    """Make lists inside lists."""
    value: Any = "core"
    for _ in range(levels):
        value = [value]
    return value


def test_the_deepest_value_is_taken_wherever_the_stack_stands(turn: Session, at_depth, deep_stack):
    """A tool deep in some framework must not get an error that depends on where it was called from."""
    data = {"value": nested(MAX_DEPTH)}
    line = at_depth(deep_stack, lambda: turn.append("plugin/deep", data).line)
    event = at_depth(deep_stack, lambda: decode_line(line))
    read = at_depth(deep_stack, lambda: event.data)
    assert is_same_json(read, data)
    assert at_depth(deep_stack, lambda: event == turn.events[-1])


def test_what_is_nested_deeper_is_refused(turn: Session):
    """There is one limit, the same for every caller and every backend."""
    with pytest.raises(NotJsonSerializable, match="512 levels"):
        turn.append("plugin/deep", {"value": nested(MAX_DEPTH + 1)})
    with pytest.raises(NotJsonSerializable, match="512 levels"):
        turn.append("plugin/deep", {"value": nested(100_000)})
    assert len(turn.events) == 1


def test_a_foreign_line_that_is_nested_deeper_is_carried():
    """The limit is for what is written here; a log of somebody else is not ours to refuse."""
    line = b'{"type":"x","seq":0,"time":0,"data":{"v":' + b"[" * 5_000 + b"]" * 5_000 + b"}}"
    event = decode_line(line)
    assert event.line == line
    assert event.data_json == line[36:-1]
    assert is_same_json(event.data, {"v": read_json("[" * 5_000 + "]" * 5_000)})


def test_a_text_of_fifty_megabytes_comes_back(turn: Session):
    """Tool output is sometimes a whole file."""
    text = "0123456789" * 5_000_000
    event = turn.append("plugin/file", {"text": text})
    assert decode_line(event.line).data["text"] == text


def test_shared_containers_are_no_cycle(turn: Session):
    """The same list twice is legal JSON, twice."""
    shared = [1]
    assert turn.append("plugin/note", {"a": shared, "b": [shared, shared]}).data == {"a": [1], "b": [[1], [1]]}


def test_nothing_a_caller_holds_can_change_the_log(turn: Session):
    """The log is the state; aliasing would make it anybody's."""
    given_data: dict[str, Any] = {"list": [1, {"deep": [2]}], "map": {"k": []}}
    expected = copy.deepcopy(given_data)
    event = turn.append("plugin/note", given_data)
    given_data["list"][1]["deep"].append(3)
    given_data["map"].clear()
    assert event.data == expected
    for attack in (
        lambda value: value.update(x=1),
        lambda value: value.clear(),
        lambda value: value.__setitem__("list", 0),
        lambda value: value["list"].append(0),
        lambda value: value["list"][1]["deep"].sort(),
        lambda value: value["list"][1].pop("deep"),
        lambda value: value["map"].setdefault("z", 1),
        lambda value: value["list"].__iadd__([1]),
        lambda value: value.__ior__({"x": 1}),
    ):
        with pytest.raises(TypeError):
            attack(event.data)
    assert event.data == expected
    assert decode_line(event.line).data == expected
    for name in ("seq", "data", "line", "type", "other"):
        with pytest.raises(AttributeError):
            setattr(event, name, 5)
        with pytest.raises(AttributeError):
            delattr(event, name)


def test_a_model_changed_after_the_append_leaves_the_log_alone(turn: Session):
    """Frozen models still hold plain lists."""
    from dsh_session import Source, Text, UserMessage

    message = UserMessage(content=[Text(text="a")], source=Source(kind="user"))
    event = turn.append(message)
    message.content.append(Text(text="b"))
    payload = event.payload()
    payload.content.append(Text(text="c"))
    assert event.payload().content == [Text(text="a")]


def test_data_is_decoded_once_and_copies_are_free_to_change():
    """Reading twice is not paid twice, and a reader who wants to edit gets plain containers."""
    event = SessionEvent(type="x", seq=0, time=0, data={"a": [1, {"b": 2}]})
    assert event.data is event.data
    for mine in (copy.deepcopy(event.data), pickle.loads(pickle.dumps(event.data))):  # noqa: S301 # our own bytes
        mine["a"][1]["b"] = 3
        assert type(mine) is dict
    shallow = copy.copy(event.data)
    shallow["c"] = 1
    assert event.data == {"a": [1, {"b": 2}]}
    assert pickle.loads(pickle.dumps(event)) == event  # noqa: S301 # as above
    assert copy.deepcopy(event) is event


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 0.0}, {"a": -0.0}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": [0]}, {"a": [False]}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": None}, {}, False),
        ({"a": "1"}, {"a": 1}, False),
    ],
)
def test_equality_is_equality_of_meaning(left, right, same):
    """Two writers order keys and spell numbers as they like; a bool is no number."""
    one = SessionEvent(type="x", seq=0, time=0, data=left)
    other = SessionEvent(type="x", seq=0, time=0, data=right)
    assert (one == other) is same
    assert not same or hash(one) == hash(other)


def test_an_absent_surface_op_differs_from_append():
    """The four-field shape is a fact about the log that a round trip must keep."""
    plain = SessionEvent(type="user/message", seq=0, time=0, data={})
    marked = SessionEvent(type="user/message", seq=0, time=0, data={}, surface_op="append")
    assert plain != marked
    assert plain != "something else"


def test_a_dict_with_frozen_data_inside_can_be_appended_again(turn: Session):
    """Copying an event from one log to another is the commonest import."""
    first = turn.append("plugin/note", {"a": [{"b": 1}]})
    assert turn.append("plugin/note", {"copy": first.data}).data == {"copy": {"a": [{"b": 1}]}}
    assert turn.append("plugin/note", first.data).data == first.data


def test_the_root_must_be_an_object(turn: Session):
    """A row and a line hold an object, never a bare value."""
    for value in ([], "x", None, 5):
        with pytest.raises(InvalidEvent):
            turn.append("plugin/note", value)
        with pytest.raises(InvalidEvent):
            SessionEvent(type="x", seq=0, time=0, data=value)


def test_the_quick_and_the_patient_encoder_agree():
    """What is stored must not depend on which of the two had to write it."""
    import dsh_session.json_value as module

    value = {"a": [1, True, None, 'x\n"\\', {"b": [], "c": {}}], "": 0}
    assert module._encode_patiently(value, "x") == encode_json(value, "x")
