"""Between models and JSON: the quick way for what the models guarantee, the strict way for the rest.

Owns the validation of data against its type's model, in both directions. Knows no envelope.
Flow in: model -> plain containers by a plan per class -> msgspec. Whatever the plan does not vouch for (unknown
fields, free JSON, an instance that was never validated) is validated again and takes the strict check.
"""

from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import msgspec
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from dsh_session.errors import InvalidEvent
from dsh_session.frozen import FrozenDict
from dsh_session.json_value import encode_json, join_path
from dsh_session.vocabulary.model import EventData, Part, model_for

if TYPE_CHECKING:
    from dsh_session.event import SessionEvent

_encode = msgspec.json.Encoder().encode


def encode_model(model: EventData, event_type: str) -> bytes:
    """Encode a model in its wire form: aliases, in order of definition, absent fields left out.

    Raises:
        NotJsonSerializable: A free field holds what JSON would lose.
        InvalidEvent: The instance does not fit its own model (it was made without validation).
    """
    closed = _closed_wire(model)
    if closed is not None:
        try:
            return _encode(closed)
        except (UnicodeEncodeError, ValueError, RecursionError):
            return encode_json(closed, event_type)
    wire = to_wire(model)
    encoded = encode_json(wire, event_type)
    check_wire(type(model), wire, event_type)
    return encoded


def to_wire(value: Any) -> Any:
    """Turn models into plain containers with wire names; everything else stays as it is."""
    if isinstance(value, BaseModel):
        if _has_serializers(type(value)):
            return value.model_dump(by_alias=True)
        wire: dict[str, Any] = {}
        for name, field in type(value).model_fields.items():
            item = value.__dict__.get(name)
            if item is not None or not _may_be_absent(field):
                wire[field.serialization_alias or name] = to_wire(item)
        for name, item in (value.__pydantic_extra__ or {}).items():
            wire[name] = to_wire(item)
        return wire
    if not _holds_models(value):
        return value
    if isinstance(value, dict):
        return {key: to_wire(item) for key, item in value.items()}
    return [to_wire(item) for item in value]


def _holds_models(root: Any) -> bool:
    """Look for a model among containers, however deep they are, and also if they hold themselves."""
    pending, seen = [root], set()
    while pending:
        value = pending.pop()
        if isinstance(value, BaseModel):
            return True
        if type(value) in (dict, list) and id(value) not in seen:
            seen.add(id(value))
            pending.extend(value.values() if type(value) is dict else value)
    return False


def check_wire(model: type[EventData], wire: dict[str, Any], event_type: str) -> None:
    """Validate wire-shaped data against the model of its type.

    Raises:
        InvalidEvent: It does not fit; the path names the first place.
    """
    try:
        model.__pydantic_validator__.validate_python(wire, by_alias=True, by_name=False)
    except ValidationError as error:
        raise _refusal(error, wire, event_type) from error


def read_payload(event: "SessionEvent") -> "EventData | FrozenDict":
    """Read an event's data as the model of its type; without a model, the data itself.

    Raises:
        InvalidEvent: The data does not fit the model.
    """
    model = model_for(event.type)
    if model is None:
        return event.data
    try:
        return model.__pydantic_validator__.validate_json(event.data_json, by_alias=True, by_name=False)  # type: ignore[no-any-return] # the model's own instance
    except ValidationError:
        pass
    try:
        # The second way reads what the first cannot: lone surrogates, and any depth.
        return model.__pydantic_validator__.validate_python(event.data, by_alias=True, by_name=False)  # type: ignore[no-any-return] # as above
    except ValidationError as error:
        raise _refusal(error, event.data, event.type) from error


def _closed_wire(model: BaseModel) -> dict[str, Any] | None:
    """Make the wire form of a model that holds only declared fields of declared types; None for any other."""
    if model.__pydantic_extra__:
        return None
    fields = model.__dict__
    wire: dict[str, Any] = {}
    for name, alias, scalars, required in _plan(type(model)):
        value = fields.get(name)  # an instance made without validation may lack it
        if value is None:
            if required:
                return None
            continue
        kind = type(value)
        if kind in scalars or (kind is str and value in scalars):
            wire[alias] = value
            continue
        if isinstance(value, Part):
            nested: Any = _closed_wire(value)
        elif kind is list:
            nested = [_closed_wire(item) if isinstance(item, Part) else None for item in value]
            if None in nested:
                return None
        else:
            return None
        if nested is None:
            return None
        wire[alias] = nested
    return wire


@cache
def _plan(model: type[BaseModel]) -> tuple[tuple[str, str, frozenset[Any], bool], ...]:
    """List a model's fields: name, alias, the scalar types or literal values it may hold, and whether it must."""
    return tuple(
        (
            name,
            field.serialization_alias or name,
            frozenset(() if _has_serializers(model) else _scalars(field.annotation)),
            not _may_be_absent(field),
        )
        for name, field in model.model_fields.items()
    )


def _scalars(annotation: Any) -> Iterator[Any]:
    """List what may stand in a field as it is: exact scalar types, or the values of a literal."""
    if annotation in (int, str, bool):
        yield annotation
    elif get_origin(annotation) is Literal:
        yield from get_args(annotation)
    elif get_origin(annotation) in (Union, UnionType):
        for member in get_args(annotation):
            yield from _scalars(member)
    elif hasattr(annotation, "__metadata__"):
        yield from _scalars(get_args(annotation)[0])


def _may_be_absent(field: FieldInfo) -> bool:
    """Tell whether a field that is None is left out of the wire form: it reads as None again."""
    return not field.is_required() and field.default is None and field.default_factory is None


@cache
def _has_serializers(model: type[BaseModel]) -> bool:
    """Tell whether a plugin's model defines how it is written."""
    decorators = model.__pydantic_decorators__
    return bool(decorators.field_serializers or decorators.model_serializers or decorators.computed_fields)


def _refusal(error: ValidationError, wire: Any, event_type: str) -> InvalidEvent:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return InvalidEvent(
        first["msg"],
        event_type=event_type,
        path=_wire_path(first["loc"], wire, is_missing=first["type"] == "missing"),
    )


def _wire_path(location: tuple[int | str, ...], wire: Any, *, is_missing: bool) -> str:
    """Render a location; what unions put into it beside keys and indexes is dropped."""
    path, place = "", wire
    for position, key in enumerate(location):
        is_member = isinstance(place, dict) and key in place
        is_item = isinstance(place, list) and isinstance(key, int) and key < len(place)
        if is_member or is_item:
            place = place[key]
        elif not is_missing or position != len(location) - 1:
            continue
        path = join_path(path, key)
    return path
