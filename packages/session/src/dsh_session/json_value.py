"""What may enter a log: the strict check of a value, and its exact way to JSON and back.

Owns the rule that everything stored survives JSON without loss. Knows no envelope and no vocabulary.
Flow in: value -> `encode_json` (check, then msgspec, or the patient encoder for what msgspec cannot take) -> bytes.
Flow out: bytes -> `decode_json` (msgspec, or the patient decoder) -> plain containers.

The patient pair handles lone surrogates and any depth of the caller's stack; it keeps no recursion of its own.
"""

import re
from collections.abc import Iterator
from json.encoder import encode_basestring
from math import isfinite
from types import NoneType
from typing import Any

import msgspec

from dsh_session.errors import NotJsonSerializable
from dsh_session.frozen import CONTAINERS
from dsh_session.json_reader import read_json

MAX_DEPTH = 512
"""Levels of containers below an event's data object."""

_msgspec_encode = msgspec.json.Encoder().encode
_msgspec_decode = msgspec.json.Decoder().decode
_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1
_SURROGATE = re.compile("[\ud800-\udfff]")
_MERGING_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_PLAIN_KEY = re.compile(r"[^\W\d][\w-]*")


def encode_json(value: dict[str, Any], event_type: str) -> bytes:
    """Encode an event's data, refusing whatever would not come back equal.

    Args:
        value: The data object; only exact dicts, lists, texts, ints, floats, bools and None may be in it.
        event_type: Named in the error.

    Returns:
        Compact UTF-8 JSON on one line, keys in the order given.

    Raises:
        NotJsonSerializable: NaN, an infinity, a tuple, set, bytes, object, non-text key, a cycle, too deep,
            two surrogates that would merge, or an integer beyond Python's limit of digits.
    """
    if type(value) is not dict:
        value = dict(dict.items(value))  # what is in it, whatever a subclass makes of it
    if not _is_plain(value):
        _refuse_unplain(value, event_type)
        return _encode_patiently(value, event_type)
    try:
        return _msgspec_encode(value)
    except (UnicodeEncodeError, RecursionError):
        _refuse_unplain(value, event_type)
        return _encode_patiently(value, event_type)


def decode_json(data: bytes) -> Any:
    """Decode JSON exactly.

    Raises:
        ValueError: It is not JSON, holds a number that no float reaches, or an integer beyond Python's limit.
    """
    try:
        return _msgspec_decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return read_json(data.decode("utf-8"))


def join_path(path: str, key: object) -> str:
    """Extend a path by a key or an index: `content`, `2`, `size` give `content[2].size`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    text = str(key)
    if not _PLAIN_KEY.fullmatch(text):
        return f"{path}[{text!r}]"
    return f"{path}.{text}" if path else text


def _is_plain(root: Any) -> bool:
    """Tell whether msgspec encodes the value exactly, texts aside (it refuses surrogates by itself)."""
    pending = [(root, 0)]
    while pending:
        container, depth = pending.pop()
        if depth > MAX_DEPTH:
            return False
        if isinstance(container, dict):
            for key in container:
                if type(key) is not str:
                    return False
            values: Any = container.values()
        else:
            values = container
        for value in values:
            kind = type(value)
            if kind is str or kind is bool or value is None:
                continue
            if kind is int:
                if not _INT_MIN <= value <= _INT_MAX:
                    return False
            elif kind is float:
                if not isfinite(value):
                    return False
            elif kind in CONTAINERS:
                pending.append((value, depth + 1))
            else:
                return False
    return True


def _children(container: Any) -> Iterator[tuple[object, Any]]:
    return iter(container.items()) if isinstance(container, dict) else iter(enumerate(container))


def _refuse_unplain(root: Any, event_type: str) -> None:
    """Raise for the first value, in document order, that JSON would not carry."""
    walk = [(root, "", _children(root))]
    while walk:
        container, path, children = walk[-1]
        for key, value in children:
            if isinstance(container, dict) and (problem := _key_problem(key)):
                raise NotJsonSerializable(event_type, path, problem)
            place = join_path(path, key)
            if type(value) in CONTAINERS:
                if any(value is ancestor for ancestor, _, _ in walk):
                    raise NotJsonSerializable(event_type, place, "a cycle")
                if len(walk) > MAX_DEPTH:
                    raise NotJsonSerializable(event_type, place, f"nested more than {MAX_DEPTH} levels deep")
                walk.append((value, place, _children(value)))
                break
            if problem := _scalar_problem(value):
                raise NotJsonSerializable(event_type, place, problem)
        else:
            walk.pop()


def _key_problem(key: object) -> str:
    if type(key) is not str:
        return f"the key {key!r} is no text"
    return text_problem(key)


def text_problem(text: str) -> str:
    """Say why JSON would not give a text back as it is; empty if it would."""
    if not text.isascii() and _MERGING_PAIR.search(text):
        return "two surrogates that would merge into one character"
    return ""


def _scalar_problem(value: object) -> str:
    kind = type(value)
    if kind is str:
        return text_problem(value)  # type: ignore[arg-type] # narrowed by the exact type
    if kind is bool or kind is NoneType:
        return ""
    if kind is float:
        return "" if isfinite(value) else f"{value!r} is no JSON number"  # type: ignore[arg-type] # as above
    if kind is int:
        try:
            str(value)
        except ValueError:
            return "an integer beyond Python's limit of digits"
        return ""
    return f"{kind.__name__} is no JSON type"


def encode_text(text: str) -> str:
    """Write a text as a JSON string; lone surrogates become escapes."""
    quoted = encode_basestring(text)
    if quoted.isascii():
        return quoted
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return encode_text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return float.__repr__(value) if isinstance(value, float) else str(value)


def _encode_patiently(root: Any, event_type: str) -> bytes:
    """Encode a checked value without recursion and with surrogates as escapes."""
    out: list[str] = []
    walk: list[tuple[Iterator[tuple[object, Any]], str]] = []
    _open(root, out, walk)
    while walk:
        children, closing = walk[-1]
        for key, value in children:
            if out[-1] not in "{[":
                out.append(",")
            if closing == "}":
                out.append(encode_text(str(key)) + ":")
            if type(value) in CONTAINERS:
                _open(value, out, walk)
                break
            out.append(_scalar(value))
        else:
            out.append(closing)
            walk.pop()
    try:
        return "".join(out).encode()
    except UnicodeEncodeError as error:
        raise NotJsonSerializable(event_type, "", str(error)) from error


def _open(value: Any, out: list[str], walk: list[tuple[Iterator[tuple[object, Any]], str]]) -> None:
    is_object = isinstance(value, dict)
    out.append("{" if is_object else "[")
    walk.append((_children(value), "}" if is_object else "]"))
