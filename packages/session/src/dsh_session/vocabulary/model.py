"""The two base classes of the vocabulary, and the registry of event types.

Owns what every model has in common: strict scalars, camelCase on the wire, unknown fields carried, frozen. Knows no
particular type. Flow: `class CompactStart(EventData, type="compact/start")` -> registry -> `model_for`.
"""

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, Strict
from pydantic.alias_generators import to_camel

from dsh_session.errors import ReservedEventType
from dsh_session.ids import has_surrogates

Str = Annotated[str, Strict()]
Int = Annotated[int, Strict(), Field(ge=0)]
Ordinal = Annotated[int, Strict(), Field(ge=1, le=2**63 - 1)]
Bool = Annotated[bool, Strict()]
Object = Annotated[dict[str, Any], Strict()]


class Part(BaseModel):
    """A piece of an event's data. Unknown fields are kept; instances do not change."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        populate_by_name=True,
        alias_generator=to_camel,
        protected_namespaces=(),
    )


class EventData(Part):
    """The data of one event type; a subclass that names its type joins the vocabulary.

    The latest definition of a type wins, so that a plugin can be reloaded. Core types cannot be redefined.

    Args:
        type: A class keyword, not a field: the event type, such as `compact/start`.

    Raises:
        ReservedEventType: The type belongs to the core vocabulary, or is no usable text.

    Example:
        >>> class Note(EventData, type="note/taken"):
        ...     text: str
        >>> Note(text="hi").event_type
        'note/taken'
    """

    event_type: ClassVar[str] = ""

    def __init_subclass__(cls, type: str | None = None, **kwargs: Any) -> None:  # noqa: A002 # the class keyword
        """Accept the class keyword; pydantic hands it on once the model is complete."""
        super().__init_subclass__(**kwargs)

    @classmethod
    def __pydantic_init_subclass__(cls, type: str | None = None, **kwargs: Any) -> None:  # noqa: A002 # as above
        """Register the finished model under its type."""
        super().__pydantic_init_subclass__(**kwargs)
        if type is None:
            return
        if type in _core or not type or has_surrogates(type):
            raise ReservedEventType(type)
        cls.event_type = str.__str__(type)  # the text itself: a member of an enum is another one
        _models[cls.event_type] = cls


_models: dict[str, type[EventData]] = {}
_core: set[str] = set()


def close_core() -> tuple[type[EventData], ...]:
    """Reserve every type that is registered by now, and return the models in order of definition."""
    _core.update(_models)
    return tuple(_models.values())


def model_for(event_type: str) -> type[EventData] | None:
    """Look up the model of an event type; None for a type that this build does not know."""
    return _models.get(event_type)


def registered_models() -> dict[str, type[EventData]]:
    """List every registered model by its type, core types first, in order of definition."""
    return dict(_models)
