"""Frozen JSON containers: a `dict` and a `list` that read like any other and refuse to change.

Owns the two classes, `freeze` and `is_same_json`. They are real subclasses, so `==`, `isinstance`, `json.dumps`
and pattern matching work; `copy.copy`, `copy.deepcopy` and pickling give plain, changeable containers back.
Flow: decoded JSON -> `freeze` -> what `SessionEvent.data` hands out.
"""

import copy
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")


def _refuse(*_args: object, **_kwargs: object) -> NoReturn:
    message = "the log cannot be changed; copy.deepcopy() gives a value of your own"
    raise TypeError(message)


class FrozenDict(dict[str, Any]):
    """A JSON object that cannot be changed in place."""

    __slots__ = ()
    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return dict, (dict(self),)


class FrozenList(list[T]):
    """A JSON array that cannot be changed in place."""

    __slots__ = ()
    __setitem__ = __delitem__ = append = clear = extend = insert = pop = remove = _refuse
    reverse = sort = __iadd__ = __imul__ = _refuse

    def __copy__(self) -> list[T]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[T]:
        return [copy.deepcopy(value, memo) for value in self]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return list, (list(self),)


CONTAINERS = frozenset({dict, list, FrozenDict, FrozenList})


def _shell(value: Any) -> Any:
    return FrozenDict() if isinstance(value, dict) else FrozenList()


def freeze(value: Any) -> Any:
    """Copy a JSON value into frozen containers, however deep it is.

    Args:
        value: Any value made of dicts, lists and scalars.

    Returns:
        The scalar itself, or a frozen container that shares no container with `value`.
    """
    if not isinstance(value, (dict, list)):
        return value
    root = _shell(value)
    pending = [(value, root)]
    while pending:
        source, target = pending.pop()
        if isinstance(source, dict):
            for key, item in source.items():
                if type(item) in CONTAINERS:
                    shell = _shell(item)
                    pending.append((item, shell))
                    dict.__setitem__(target, key, shell)
                else:
                    dict.__setitem__(target, key, item)
        else:
            for item in source:
                if type(item) in CONTAINERS:
                    shell = _shell(item)
                    pending.append((item, shell))
                    list.append(target, shell)
                else:
                    list.append(target, item)
    return root


def is_same_json(left: Any, right: Any) -> bool:
    """Compare two JSON values by meaning: key order is free, `1 == 1.0`, and a bool is no number."""
    pending = [(left, right)]
    while pending:
        one, other = pending.pop()
        if isinstance(one, dict):
            if not isinstance(other, dict) or one.keys() != other.keys():
                return False
            pending.extend((value, other[key]) for key, value in one.items())
        elif isinstance(one, list):
            if not isinstance(other, list) or len(one) != len(other):
                return False
            pending.extend(zip(one, other, strict=True))
        elif isinstance(one, bool) is not isinstance(other, bool) or one != other:
            return False
    return True
