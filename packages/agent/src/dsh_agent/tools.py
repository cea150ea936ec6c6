"""Tools: async functions that a model may call, with a pydantic model for their arguments.

Owns what a tool is, what it is told, and what its return value means. Refuses to run one: that is `dispatch`.
Flow: function -> `tool` -> `Tool` -> `ToolSpec` for the model, `Tool.parse` and `Tool.function` for a call.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_type_hints, overload

from pydantic import BaseModel

from dsh_agent.errors import InvalidTool
from dsh_session import Session, SessionEvent

__all__ = ["Tool", "ToolContext", "ToolOutput", "ToolSpec", "index_tools", "tool"]

ToolFunction = Callable[..., Awaitable[Any]]
F = TypeVar("F", bound=ToolFunction)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSpec:
    """A tool as a model sees it.

    Attributes:
        name: What the model calls it by.
        description: What it does, in words.
        parameters: JSON Schema of its arguments.
    """

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolContext:
    """What a tool may know of the call that it answers.

    Attributes:
        session: The session, open at this call; a tool may append events of its own, such as `todo/write`.
        turn: Number of the turn.
        step: Number of the step in the turn.
        call_id: The id that the model gave the call.
    """

    session: Session
    turn: int
    step: int
    call_id: str

    def append(self, *event: Any, **envelope: Any) -> SessionEvent:
        """Append an event of the tool's own; takes what `Session.append` takes."""
        return self.session.append(*event, **envelope)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolOutput:
    """A tool's outcome in full, for a tool that has more to say than a text.

    Attributes:
        content: Blocks for the model, such as `Text`, or their wire form.
        is_error: Whether the model shall take it as a failure.
        error: For programs, what failed: `{"name": …, "message": …, "code": …}`.
        meta: Further JSON for programs; the model does not see it.
    """

    content: Sequence[Any]
    is_error: bool = False
    error: Any = None
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool of an agent.

    Args:
        name: What the model calls it by.
        description: What it does, in words, for the model.
        function: An async function of the arguments, and of a `ToolContext` if it takes a second parameter. It
            returns a text, a `ToolOutput`, a pydantic model, None, or any JSON value, which becomes its JSON text.
        arguments: The pydantic model of the arguments; None hands the JSON text to the function as it is.
        parameters: JSON Schema for the model; None takes it from `arguments`.
        timeout_s: The time that a call has, in seconds; None for no limit.

    Raises:
        InvalidTool: There is no name, or the function is not async or takes something else.
    """

    name: str
    description: str
    function: ToolFunction
    arguments: type[BaseModel] | None = None
    parameters: Mapping[str, Any] | None = None
    timeout_s: float | None = None
    takes_context: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        if not self.name:
            raise InvalidTool(self.name, "it has no name")
        if not inspect.iscoroutinefunction(self.function):
            raise InvalidTool(self.name, "its function is not async")
        try:
            positional = _positional(self.function)
        except (TypeError, ValueError) as error:
            raise InvalidTool(self.name, f"its function cannot be inspected: {error}") from error
        if positional not in {1, 2}:
            raise InvalidTool(self.name, "its function takes the arguments, and at most a ToolContext beside them")
        object.__setattr__(self, "takes_context", positional == 2)

    @property
    def spec(self) -> ToolSpec:
        """The tool as a model sees it."""
        parameters = self.parameters
        if parameters is None:
            parameters = {"type": "object"} if self.arguments is None else self.arguments.model_json_schema()
        return ToolSpec(name=self.name, description=self.description, parameters=parameters)

    def parse(self, arguments: str) -> Any:
        """Return the arguments as their model, or as they are if there is none. An empty text is an empty object.

        Raises:
            ValueError: They are no JSON, or do not fit the model (pydantic's `ValidationError` is one).
        """
        if self.arguments is None:
            return arguments
        return self.arguments.model_validate_json(arguments or "{}")


@overload
def tool(function: F, /) -> Tool: ...


@overload
def tool(*, name: str | None = None, timeout_s: float | None = None) -> Callable[[F], Tool]: ...


def tool(
    function: F | None = None, /, *, name: str | None = None, timeout_s: float | None = None
) -> Tool | Callable[[F], Tool]:
    """Make a tool of an async function whose first parameter is annotated with a pydantic model.

    The function's docstring is the description that the model reads.

    Args:
        function: The function, when used without parentheses.
        name: What the model calls it by; the function's own name if None.
        timeout_s: The time that a call has, in seconds; None for no limit.

    Raises:
        InvalidTool: The function is not async, or its first parameter is not annotated with a pydantic model.

    Example:
        >>> class Sum(BaseModel):
        ...     numbers: list[int]
        >>> @tool
        ... async def add(arguments: Sum) -> str:
        ...     "Add numbers."
        ...     return str(sum(arguments.numbers))
        >>> add.spec.name
        'add'
    """

    def make(target: F) -> Tool:
        own_name = name if name is not None else str(getattr(target, "__name__", ""))
        return Tool(
            name=own_name,
            description=inspect.getdoc(target) or "",
            function=target,
            arguments=_arguments_model(target, own_name),
            timeout_s=timeout_s,
        )

    return make if function is None else make(function)


def index_tools(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Return tools by name.

    Raises:
        InvalidTool: Something is no `Tool`, or two share a name.
    """
    by_name: dict[str, Tool] = {}
    for entry in tools:
        if not isinstance(entry, Tool):
            raise InvalidTool(repr(entry), "it is no Tool; @tool makes one of an async function")
        if entry.name in by_name:
            raise InvalidTool(entry.name, "two tools share this name")
        by_name[entry.name] = entry
    return by_name


def _positional(function: ToolFunction) -> int:
    """Return how many positional parameters a function needs or offers."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in kinds for parameter in inspect.signature(function).parameters.values())


def _arguments_model(function: ToolFunction, name: str) -> type[BaseModel]:
    """Return the annotation of a function's first parameter, which must be a pydantic model."""
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        raise InvalidTool(name, "its function takes no arguments model")
    annotation = parameters[0].annotation
    if isinstance(annotation, str):
        try:
            annotation = get_type_hints(function).get(parameters[0].name)
        except NameError as error:
            raise InvalidTool(name, f"the annotation of its arguments cannot be resolved: {error}") from error
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        raise InvalidTool(name, "its first parameter is not annotated with a pydantic model")
    return annotation
