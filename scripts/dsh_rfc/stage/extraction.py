"""What the API extractor has to be told about this code.

Owns an extension of griffe, named in `mkdocs.yml`: it knows constructors of classes that write none, and reads a
section `Example:` as the section of examples that it is. Refuses to change what a docstring says.
"""

import re
from collections.abc import Iterator
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^(\s*)Example:$", re.MULTILINE)
_ARGUMENTS = re.compile(r"^\s*Args:$", re.MULTILINE)
_CLASS_VARIABLE = re.compile(r"(?:\w+\.)?ClassVar\b")


class Construction(griffe.Extension):
    """Gives a class with documented arguments the constructor that `__new__`, its fields or its base make."""

    def on_instance(self, *, obj: griffe.Object, **_kwargs: Any) -> None:
        """Call the section of examples by the name that the parser knows."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(r"\1Examples:", obj.docstring.value)

    def on_class_members(self, *, cls: griffe.Class, **_kwargs: Any) -> None:
        """Add the constructor where the class writes none."""
        documented = cls.docstring is not None and _ARGUMENTS.search(cls.docstring.value)
        if documented and "__init__" not in cls.members and "dataclass" not in cls.labels:
            parameters = griffe.Parameters(*_parameters(cls))
            cls.set_member("__init__", griffe.Function("__init__", parameters=parameters, lineno=cls.lineno))


def _parameters(cls: griffe.Class) -> Iterator[griffe.Parameter]:
    yield griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
    for name in ("__new__", "__init_subclass__"):
        made = cls.members.get(name)
        if isinstance(made, griffe.Function):
            yield from (item for item in made.parameters if item.name not in {"cls", "kwargs"})
    if "__new__" in cls.members:
        return
    for member in cls.members.values():
        if isinstance(member, griffe.Attribute) and member.annotation is not None:
            if _CLASS_VARIABLE.match(str(member.annotation)) or member.name.startswith("_"):
                continue
            yield griffe.Parameter(
                member.name,
                annotation=member.annotation,
                kind=griffe.ParameterKind.keyword_only,
                default=member.value,
            )
