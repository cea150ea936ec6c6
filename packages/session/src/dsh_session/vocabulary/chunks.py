"""Stream chunks: what a model sent, piece by piece, as `assistant/chunk` records it.

Owns the kinds of chunks and the reasons why a stream finished. Chunks derive nothing; they are for replay.
"""

from typing import Annotated, Literal

from pydantic import Field

from dsh_session.vocabulary.blocks import Block
from dsh_session.vocabulary.model import Int, Part, Str
from dsh_session.vocabulary.parts import Usage
from dsh_session.vocabulary.unknown import not_one_of, tags_of


class BlockStart(Part):
    """A block begins; `block_type` is `text`, `reasoning`, `tool-call` or any other."""

    type: Literal["block-start"] = "block-start"
    index: Int
    block_type: Str


class TextDelta(Part):
    """More text of a block."""

    type: Literal["text-delta"] = "text-delta"
    index: Int
    text: Str


class ReasoningDelta(Part):
    """More reasoning of a block."""

    type: Literal["reasoning-delta"] = "reasoning-delta"
    index: Int
    text: Str


class ToolCallDelta(Part):
    """More of a tool call: its id and name when they are known, and a piece of its arguments."""

    type: Literal["tool-call-delta"] = "tool-call-delta"
    index: Int
    id: Str | None = None
    name: Str | None = None
    arguments_delta: Str | None = None


class BlockEnd(Part):
    """A block is complete."""

    type: Literal["block-end"] = "block-end"
    index: Int
    block: Block


class UsageChunk(Part):
    """Tokens that the model reported while it streamed."""

    type: Literal["usage"] = "usage"
    usage: Usage


class FinishReason(Part):
    """Why a stream finished: `kind` is `stop`, `tool-calls`, `max-tokens`, `error` or any other."""

    kind: Str


class Finish(Part):
    """The stream is over."""

    type: Literal["finish"] = "finish"
    reason: FinishReason


_CHUNKS = (BlockStart, TextDelta, ReasoningDelta, ToolCallDelta, BlockEnd, UsageChunk, Finish)


class OpenChunk(Part):
    """A chunk of a type that this build does not know."""

    type: Annotated[Str, not_one_of(tags_of("type", _CHUNKS))]


Chunk = Annotated[
    Annotated[
        BlockStart | TextDelta | ReasoningDelta | ToolCallDelta | BlockEnd | UsageChunk | Finish,
        Field(discriminator="type"),
    ]
    | OpenChunk,
    Field(union_mode="left_to_right"),
]
