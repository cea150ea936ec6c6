"""Between models and JSON: the quick way for what the models guarantee, the strict way for the rest.

Owns the validation of data against its type's model, in both directions. Knows no envelope.
Flow in: model -> plain containers by the writer of its class. Whatever that does not vouch for (unknown fields,
free JSON, an instance that was never validated) is validated again and takes the strict check.
"""

from typing import TYPE_CHECKING, Any

import msgspec
from pydantic import BaseModel, ValidationError

from dsh_session.errors import InvalidEvent, NotJsonSerializable
from dsh_session.frozen import FrozenDict
from dsh_session.json_value import encode_json, join_path
from dsh_session.vocabulary.model import EventData, model_for
from dsh_session.vocabulary.wire import closed_wire, has_serializers, may_be_absent

if TYPE_CHECKING:
    from dsh_session.event import SessionEvent


def read_model(model: EventData, event_type: str) -> msgspec.Struct | msgspec.Raw:
    """Turn a model into its wire form: aliases, in order of definition, absent fields left out.

    Returns:
        Its wire form, if that is vouched for, or the JSON of what had to be checked in the strict way.

    Raises:
        NotJsonSerializable: A free field holds what JSON would lose.
        InvalidEvent: The instance does not fit its own model (it was made without validation).
    """
    try:
        closed = closed_wire[type(model)](model)
        if closed is not None:
            return closed
        wire = to_wire(model)
    except RecursionError as error:
        raise NotJsonSerializable(event_type, "", "parts in parts, too deep") from error
    if not isinstance(wire, dict):
        raise InvalidEvent("its serializer gives no JSON object", event_type=event_type, path="data")
    encoded = encode_json(wire, event_type)
    check_wire(type(model), wire, event_type)
    return msgspec.Raw(encoded)


def to_wire(value: Any) -> Any:
    """Turn models into plain containers with wire names; everything else stays as it is."""
    if isinstance(value, BaseModel):
        if has_serializers(type(value)):
            return value.model_dump(by_alias=True)
        wire: dict[str, Any] = {}
        for name, field in type(value).model_fields.items():
            item = value.__dict__.get(name)
            if item is not None or not may_be_absent(field):
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
