"""What the loop needs of a model.

Owns the protocol. Refuses to know any provider.
Flow: messages, tools -> `Model.stream` -> chunks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from dsh_agent.tools import ToolSpec
from dsh_session import (
    BlockEnd,
    BlockStart,
    Finish,
    Message,
    OpenChunk,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    UsageChunk,
)

__all__ = ["Chunk", "Model"]

Chunk: TypeAlias = (
    BlockStart
    | TextDelta
    | ReasoningDelta
    | ToolCallDelta
    | BlockEnd
    | UsageChunk
    | Finish
    | OpenChunk
    | Mapping[str, Any]
)
"""A chunk model, or an equal wire-shaped dict."""


@runtime_checkable
class Model(Protocol):
    """Anything that answers a history with a stream of chunks."""

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncIterator[Chunk]:
        """Answer once.

        Blocks may interleave: each is a `block-start` with a fresh index, deltas, and a `block-end` that carries
        the whole block. A `finish` is last; only a `usage` may follow it.

        Args:
            messages: The derived history, oldest first, ending in what is to be answered.
            tools: What may be called.

        Returns:
            The chunks as they arrive. An exception ends the turn; its text, and its `code` if it has one, become
            the reason.
        """
        ...
