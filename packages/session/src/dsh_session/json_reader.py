"""The patient JSON reader: for what msgspec refuses although it is JSON.

Owns reading of lone surrogates, of any nesting wherever the stack stands, and of integers of any size.
Refuses what is not JSON (NaN, trailing commas, raw control characters) and numbers that become an infinity.
Flow: text -> the standard library's scanner; out of stack -> a reader without recursion -> plain containers.
"""

import json
import re
from collections.abc import Callable
from math import isfinite
from typing import Any, NoReturn

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_scan_string: Callable[[str, int], tuple[str, int]] = json.decoder.scanstring  # type: ignore[attr-defined] # not in the stubs
_CONSTANTS = {"true": True, "false": False, "null": None}


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:40]} is beyond every float")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)


def read_json(text: str) -> Any:
    """Read one JSON value.

    Raises:
        ValueError: It is not JSON, or a number in it cannot be held.
    """
    if text[:1] == "\ufeff":
        raise ValueError("a byte order mark is no JSON")
    try:
        return _decoder.decode(text)
    except RecursionError:
        return _Reader(text).document()


class _Reader:
    """A JSON reader that keeps its own stack."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fail(self, what: str) -> NoReturn:
        raise ValueError(f"{what} at character {self.at}")

    def peek(self) -> str:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def take(self, mark: str) -> bool:
        if self.peek() != mark:
            return False
        self.at += 1
        return True

    def string(self) -> str:
        if not self.take('"'):
            self.fail("expected a string")
        value, self.at = _scan_string(self.text, self.at)
        return value

    def scalar(self) -> Any:
        mark = self.peek()
        if mark == '"':
            return self.string()
        for name, value in _CONSTANTS.items():
            if self.text.startswith(name, self.at):
                self.at += len(name)
                return value
        number = _NUMBER.match(self.text, self.at)
        if not number:
            self.fail("expected a value")
        self.at = number.end()
        return _finite(number[0]) if number[2] or number[3] else int(number[0])

    def document(self) -> Any:
        holder: list[Any] = []
        stack: list[Any] = [holder]
        self.value(stack)
        while len(stack) > 1:
            self.member(stack)
        if self.peek():
            self.fail("unexpected text")
        return holder[0]

    def value(self, stack: list[Any], key: str | None = None) -> None:
        """Read a scalar or open a container, and put it into the innermost open one."""
        opened: Any = {} if self.take("{") else [] if self.take("[") else None
        item = self.scalar() if opened is None else opened
        if key is None:
            stack[-1].append(item)
        else:
            stack[-1][key] = item
        if opened is not None:
            stack.append(opened)

    def member(self, stack: list[Any]) -> None:
        """Read the next member of the innermost container, or its end."""
        container = stack[-1]
        is_object = isinstance(container, dict)
        if self.take("}" if is_object else "]"):
            stack.pop()
            return
        if container and not self.take(","):
            self.fail("expected a comma")
        if not is_object:
            self.value(stack)
            return
        self.peek()
        key = self.string()
        if not self.take(":"):
            self.fail("expected a colon")
        self.value(stack, key)


def member_span(text: str, key: str) -> tuple[int, int]:
    """Find the characters that a member's value takes in the text of a JSON object.

    Args:
        text: A JSON object that `read_json` takes.
        key: A key of it; of several equal ones the last counts, as in reading.

    Raises:
        KeyError: The object has no such member.
    """
    reader = _Reader(text)
    reader.take("{")
    span: tuple[int, int] | None = None
    while not reader.take("}"):
        reader.take(",")
        reader.peek()
        name = reader.string()
        reader.take(":")
        reader.peek()
        start = reader.at
        stack: list[Any] = [[]]
        reader.value(stack)
        while len(stack) > 1:
            reader.member(stack)
        if name == key:
            span = (start, reader.at)
    if span is None:
        raise KeyError(key)
    return span
