"""A model that says what it was told to say, for tests and demonstrations.

Owns the way from a short script to chunks. Refuses to think. Flow: `Reply` -> chunks, one script entry a request.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dsh_agent.errors import ModelError
from dsh_agent.models.protocol import Chunk
from dsh_agent.tools import ToolSpec
from dsh_session import (
    BlockEnd,
    BlockStart,
    Finish,
    FinishReason,
    Message,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCallBlock,
    ToolCallDelta,
    Usage,
    UsageChunk,
)

__all__ = ["Call", "Reply", "ScriptedModel"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A tool call that a scripted model makes.

    Attributes:
        name: The tool's name.
        arguments: A mapping, or the JSON text exactly as the model shall write it.
        id: The call's id; None gives it one that is new in the script.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """One answer of a scripted model.

    Attributes:
        text: What it says, or empty.
        reasoning: What it thinks before that, or empty.
        calls: The tools that it calls after that.
        usage: The tokens that it reports, or None.
        finish: Why it stopped; None gives `tool-calls` with calls and `stop` without.
    """

    text: str = ""
    reasoning: str = ""
    calls: Sequence[Call] = ()
    usage: Usage | None = None
    finish: str | None = None

    def chunks(self, new_id: str = "call") -> list[Chunk]:
        """Return the reply as a stream, a word a delta.

        Args:
            new_id: What the ids of calls without one begin with.
        """
        stream: list[Chunk] = []
        if self.reasoning:
            stream.append(BlockStart(index=0, block_type="reasoning"))
            stream.extend(ReasoningDelta(index=0, text=word) for word in _words(self.reasoning))
            stream.append(BlockEnd(index=0, block=Reasoning(text=self.reasoning)))
        if self.text:
            index = 1 if self.reasoning else 0
            stream.append(BlockStart(index=index, block_type="text"))
            stream.extend(TextDelta(index=index, text=word) for word in _words(self.text))
            stream.append(BlockEnd(index=index, block=Text(text=self.text)))
        first = bool(self.reasoning) + bool(self.text)
        for position, call in enumerate(self.calls):
            stream.extend(_call_chunks(first + position, call, f"{new_id}_{position + 1}"))
        if self.usage is not None:
            stream.append(UsageChunk(usage=self.usage))
        kind = self.finish or ("tool-calls" if self.calls else "stop")
        stream.append(Finish(reason=FinishReason(kind=kind)))
        return stream


class ScriptedModel:
    """Answers each request with the next entry of a script.

    Args:
        script: For each request a text, a `Reply`, an exception to raise, or the chunks themselves.
        id_prefix: What the ids of calls without one begin with. An agent that is resumed with a second script
            needs a prefix of its own if both scripts leave ids to the model.

    Attributes:
        requests: The history that each request came with, in order.

    Example:
        >>> model = ScriptedModel([Reply(text="Hello"), ModelError("busy", code="RATE")])
    """

    def __init__(
        self,
        script: Iterable[str | Reply | BaseException | Iterable[Chunk]],
        *,
        id_prefix: str = "call",
    ) -> None:
        self._script = list(script)
        self._id_prefix = id_prefix
        self.requests: list[list[Message]] = []

    async def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> AsyncIterator[Chunk]:
        """See `Model.stream`; a script that has run out raises `ModelError` with the code `script-ended`."""
        del tools  # a script calls what it likes
        position = len(self.requests)
        self.requests.append(list(messages))
        if position >= len(self._script):
            raise ModelError("the script has no further reply", code="script-ended")
        entry = self._script[position]
        if isinstance(entry, BaseException):
            raise entry
        if isinstance(entry, str):
            entry = Reply(text=entry)
        chunks = entry.chunks(f"{self._id_prefix}_{position + 1}") if isinstance(entry, Reply) else entry
        for chunk in chunks:
            yield chunk


def _words(text: str) -> list[str]:
    """Split a text into words that keep the space before them."""
    words: list[str] = []
    for word in text.split(" "):
        words.append(f" {word}" if words else word)
    return words


def _call_chunks(index: int, call: Call, new_id: str) -> list[Chunk]:
    arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))
    call_id = new_id if call.id is None else call.id
    return [
        BlockStart(index=index, block_type="tool-call"),
        ToolCallDelta(index=index, id=call_id, name=call.name, arguments_delta=arguments),
        BlockEnd(index=index, block=ToolCallBlock(id=call_id, name=call.name, arguments=arguments)),
    ]
