"""Content blocks, and the message that a model sees.

Owns the blocks of messages and tool results, and `Message`, which exists only as a derived view.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from dsh_session.frozen import FrozenList, freeze
from dsh_session.vocabulary.model import Bool, Part, Str
from dsh_session.vocabulary.unknown import not_one_of, tags_of


class Text(Part):
    """Text."""

    type: Literal["text"] = "text"
    text: Str


class Reasoning(Part):
    """What the model thought before it spoke."""

    type: Literal["reasoning"] = "reasoning"
    text: Str


class ToolCallBlock(Part):
    """The model asks for a tool; `arguments` is the JSON text exactly as the model wrote it."""

    type: Literal["tool-call"] = "tool-call"
    id: Str
    name: Str
    arguments: Str


class ToolResultBlock(Part):
    """The answer to a tool call, as derived messages carry it."""

    type: Literal["tool-result"] = "tool-result"
    tool_call_id: Str
    content: "list[Block]"
    is_error: Bool = False


_BLOCKS = (Text, Reasoning, ToolCallBlock, ToolResultBlock)


class OpenBlock(Part):
    """A block of a type that this build does not know."""

    type: Annotated[Str, not_one_of(tags_of("type", _BLOCKS))]


Block = Annotated[
    Annotated[Text | Reasoning | ToolCallBlock | ToolResultBlock, Field(discriminator="type")] | OpenBlock,
    Field(union_mode="left_to_right"),
]
ToolResultBlock.model_rebuild()
_adapter: TypeAdapter[Block] = TypeAdapter(Block)


def read_block(value: Any) -> Block | None:
    """Read a block that nobody has validated; one that its kind would refuse is carried as an open block."""
    try:
        return _adapter.validate_python(value, by_alias=True, by_name=False)
    except ValidationError:
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            return None
    block = OpenBlock.model_construct(type=value["type"])
    rest = {key: item for key, item in value.items() if key != "type"}
    object.__setattr__(block, "__pydantic_extra__", rest)
    return block


def freeze_part(part: Any) -> Any:
    """Make a part deeply unchangeable: its lists, its nested parts and its unknown fields."""
    if isinstance(part, Part):
        values = part.__dict__
        for name, value in values.items():
            if isinstance(value, (list, dict, Part)):
                values[name] = freeze_part(value)
        if part.__pydantic_extra__:
            object.__setattr__(part, "__pydantic_extra__", freeze(part.__pydantic_extra__))
        return part
    if isinstance(part, list):
        return FrozenList(freeze_part(item) for item in part)
    return freeze(part)


def _frozen_copy(blocks: list[Any]) -> list[Any]:
    return FrozenList(freeze_part(block.model_copy(deep=True)) for block in blocks)


class Message(Part):
    """One message of the derived history; deeply frozen.

    Args:
        role: `user` or `assistant`.
        content: Its blocks.
    """

    role: Literal["user", "assistant"]
    content: Annotated[list[Block], AfterValidator(_frozen_copy)]
