"""From a model to its wire form: a function for each class, made once from the class's fields.

Owns what counts as vouched for: an instance that holds only declared fields, each of them exactly of a declared
type and in its range. Refuses to validate: for what it cannot vouch it says None, and the strict way takes over.
Flow: a model's class -> the source of a function -> `closed_wire[class](model)` -> a struct that encodes as it is.
Source: the RFC on writers made from models.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from dsh_session.vocabulary.model import EventData, Part

Wire = msgspec.Struct | None
Writer = Callable[[Any], Wire]
Reader = Callable[[Any], tuple[str, msgspec.Struct, Any, Any] | None]

_HOW_IT_IS_READ = {"strict", "union_mode"}
_LIMITS = (("ge", ">="), ("gt", ">"), ("le", "<="), ("lt", "<"))


class _Writers(dict[type, Writer]):
    """The writers made so far, by class; what is missing is made."""

    def __missing__(self, kind: type) -> Writer:
        if not issubclass(kind, Part):
            return _vouch_for_nothing  # not kept: there is no end of such classes
        writer = self[kind] = _compile(kind) or _vouch_for_nothing
        return writer


class _Members(dict[type, Writer]):
    """The writers of the classes that a field declares."""

    def __init__(self, declared: frozenset[type]) -> None:
        super().__init__()
        self._declared = declared

    def __missing__(self, kind: type) -> Writer:
        if kind not in self._declared:
            return _vouch_for_nothing
        writer = self[kind] = closed_wire[kind]
        return writer


def _vouch_for_nothing(_model: object) -> None:
    return None


closed_wire = _Writers()
"""For each class, the function that gives the wire form of an instance, or None if it cannot vouch for it."""


def may_be_absent(info: FieldInfo) -> bool:
    """Tell whether a field that is None is left out of the wire form: it reads as None again."""
    return not info.is_required() and info.default is None and info.default_factory is None


@cache
def has_serializers(model: type[BaseModel]) -> bool:
    """Tell whether a plugin's model defines how it is written."""
    decorators = model.__pydantic_decorators__
    return bool(decorators.field_serializers or decorators.model_serializers or decorators.computed_fields)


def _has_validators(model: type[BaseModel]) -> bool:
    """Tell whether more is asked of an instance than its fields say."""
    decorators = model.__pydantic_decorators__
    own = (
        decorators.validators,
        decorators.field_validators,
        decorators.model_validators,
        decorators.root_validators,
    )
    return any(own)


# ---------------------------------------------------------------- what a field may hold


@dataclass(slots=True)
class _Kinds:
    """What may stand in a field as it is; whatever is not listed is not vouched for."""

    scalars: set[type] = field(default_factory=set)
    literals: set[str] = field(default_factory=set)
    parts: set[type] = field(default_factory=set)
    items: set[type] = field(default_factory=set)
    bounds: list[str] = field(default_factory=list)
    is_checkable: bool = True  # whether the above is all that is asked of a value


def _kinds(info: FieldInfo) -> _Kinds:
    kinds = _Kinds()
    _add(kinds, info.annotation, info.metadata)
    return kinds


def _add(kinds: _Kinds, annotation: Any, metadata: Any) -> None:
    """Sort an annotation's alternatives by what they take to check."""
    _add_metadata(kinds, metadata)
    if annotation in (int, str, bool):
        kinds.scalars.add(annotation)
    elif isinstance(annotation, type) and issubclass(annotation, Part):
        kinds.parts.add(annotation)
    elif hasattr(annotation, "__metadata__"):
        _add(kinds, get_args(annotation)[0], annotation.__metadata__)
    elif get_origin(annotation) is Literal:
        kinds.literals.update(value for value in get_args(annotation) if type(value) is str)
    elif get_origin(annotation) in (Union, UnionType):
        for member in get_args(annotation):
            _add(kinds, member, ())
    elif get_origin(annotation) is list:
        listed = _Kinds()
        _add(listed, get_args(annotation)[0], ())
        kinds.items |= listed.parts
        kinds.is_checkable &= listed.is_checkable


def _add_metadata(kinds: _Kinds, metadata: Any) -> None:
    """Take over what is asked beside the type: limits of a whole number, which are compared; nothing else is."""
    for item in metadata:
        if isinstance(item, FieldInfo):
            _add_metadata(kinds, item.metadata)
            continue
        settings = getattr(item, "__dict__", None)
        if settings and settings.keys() <= _HOW_IT_IS_READ:
            continue
        limits = [(sign, getattr(item, name, None)) for name, sign in _LIMITS]
        given = [(sign, limit) for sign, limit in limits if limit is not None]
        if given and all(type(limit) is int and abs(limit) < 2**64 for _, limit in given):
            kinds.bounds += [f"{{}} {sign} {limit}" for sign, limit in given]
        else:
            kinds.is_checkable = False


# ---------------------------------------------------------------- the function of a class


def compile_reader(model: type[EventData], event_type: str) -> Reader | None:
    """Make the function that reads an instance for the log; None if there is nothing that it could vouch for.

    Args:
        model: The class.
        event_type: The event type of its instances, the very object that they give.

    Returns:
        A function that gives an instance's event type, its wire form, and the turn and the step that it names
        (None for what it does not); or None if it cannot vouch for the instance.
    """
    return _compile(model, event_type)


def _compile(model: type[Part], event_type: str | None = None) -> Callable[[Any], Any] | None:
    """Make the function of a class. Names stand in its source as literals, so nothing in them is read as code."""
    if has_serializers(model) or _has_validators(model):
        return None
    source = _Source()
    try:
        for name, info in model.model_fields.items():
            alias = str.__str__(info.serialization_alias or name)
            source.add(name, alias, _kinds(info), is_optional=may_be_absent(info))
        namespace = source.namespace | {"wire": source.struct(), "absent": msgspec.UNSET, "event_type": event_type}
    except ValueError:  # a key that JSON has to escape
        return None
    text = source.text(is_event=event_type is not None)
    exec(compile(text, "<the writer of a model>", "exec"), namespace)  # noqa: S102 # our own text
    written: Callable[[Any], Any] = namespace["write"]
    return written


class _Source:
    """The source of one writer, built field by field."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {}
        self._reads: list[str] = []
        self._checks: list[str] = []
        self._members: list[str] = []
        self._aliases: list[str] = []
        self._places = {"turn": "None", "step": "None"}

    def add(self, name: str, alias: str, kinds: _Kinds, *, is_optional: bool) -> None:
        """Add a field: read it, check it, put it into the wire form or leave it out."""
        number = len(self._reads)
        value = f"v{number}"
        self._aliases.append(alias)
        if name in self._places:
            self._places[name] = value
        self._reads.append(f"{value} = fields[{name!r}]")
        check = self._check(number, kinds)
        if is_optional:
            self._checks += [f"if {value} is not None:", *_indented(check)]
            self._members.append(f"absent if {value} is None else {value}")
        else:
            self._checks += check
            self._members.append(value)

    def struct(self) -> type[msgspec.Struct]:
        """Return the class of the wire form.

        Raises:
            ValueError: A key has characters that JSON escapes.
        """
        keys = {f"m{number}": alias for number, alias in enumerate(self._aliases)}
        return msgspec.defstruct("Wire", [(key, Any) for key in keys], rename=keys, gc=False)

    def _check(self, number: int, kinds: _Kinds) -> list[str]:
        """Write the statements that return unless a value is of its kinds; parts are put in their wire form."""
        value = f"v{number}"
        refuse = "return None"
        if not kinds.is_checkable:
            return [refuse]
        if len(kinds.literals) == 1 and kinds == _Kinds(literals=kinds.literals):
            self.namespace[f"c{number}"] = next(iter(kinds.literals))  # nearly always the value is this very text
            return [f"if {value} is not c{number} and (type({value}) is not str or {value} != c{number}): {refuse}"]
        branches: list[tuple[str, list[str]]] = []
        for scalar in (str, int, bool):
            if scalar in kinds.scalars:
                bounds = " and ".join(kinds.bounds).replace("{}", value) if scalar is int else ""
                branches.append((scalar.__name__, [f"if not ({bounds}): {refuse}"] if bounds else []))
            elif scalar is str and kinds.literals:
                branches.append(("str", [f"if {value} not in {_constant(kinds.literals)}: {refuse}"]))
        if kinds.items:
            self.namespace[f"i{number}"] = _Members(frozenset(kinds.items))
            listed = [f"{value} = [i{number}[type(item)](item) for item in {value}]"]
            branches.append(("list", [*listed, f"if None in {value}: {refuse}"]))
        if len(branches) == 1 and not kinds.parts:
            ((kind, body),) = branches
            return [f"if type({value}) is not {kind}: {refuse}", *body]
        lines: list[str] = []
        for kind, body in branches:
            lines += [f"{'elif' if lines else 'if'} type({value}) is {kind}:", *_indented(body or ["pass"])]
        if kinds.parts:
            self.namespace[f"p{number}"] = _Members(frozenset(kinds.parts))
            last = [f"{value} = p{number}[type({value})]({value})", f"if {value} is None: {refuse}"]
        else:
            last = [refuse]
        return [*lines, "else:", *_indented(last)] if lines else last

    def text(self, *, is_event: bool) -> str:
        """Return the source of `write(model)`; that of an event tells its type and place beside the wire form."""
        unless = " or model.event_type is not event_type" if is_event else ""
        start = [f"if model.__pydantic_extra__{unless}: return None", "fields = model.__dict__"]
        reads = ["try:", *_indented(self._reads), "except KeyError: return None"] if self._reads else []
        body = [*start, *reads, *self._checks]
        result = f"wire({', '.join(self._members)})"
        if is_event:
            result = f"event_type, {result}, {self._places['turn']}, {self._places['step']}"
        return "\n".join(["def write(model):", *_indented(body), f"    return {result}"])


def _constant(values: set[str]) -> str:
    """Write a set of texts so that the interpreter keeps it as one constant."""
    return "{" + ", ".join(map(repr, sorted(values))) + "}"


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
