"""From a stream's chunks to the message that they amount to.

Owns the protocol of chunks: what may follow what, and what a broken stream is called. Refuses to append: a chunk is
in the log before it is judged here. Flow: wire chunk -> `Assembly.add` -> `Assembly.finish` -> blocks, usage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dsh_agent.errors import ModelError, ModelProtocolError

__all__ = ["Assembly", "check_call_ids"]

_DELTAS = {"text-delta": "text", "reasoning-delta": "reasoning", "tool-call-delta": "tool-call"}


@dataclass(slots=True)
class _Open:
    """A block under way."""

    kind: str
    pieces: list[str] = field(default_factory=list)
    id: str = ""
    name: str = ""
    block: Mapping[str, Any] | None = None

    def assembled(self) -> dict[str, Any] | None:
        """Return the block, from its end or from its deltas; None for an unfinished one of an unknown kind."""
        if self.block is not None:
            return dict(self.block)
        text = "".join(self.pieces)
        if self.kind in {"text", "reasoning"}:
            return {"type": self.kind, "text": text} if text else None
        if self.kind == "tool-call":
            return {"type": "tool-call", "id": self.id, "name": self.name, "arguments": text}
        return None


class Assembly:
    """The message of one step, as far as it has arrived.

    Attributes:
        usage: The last usage that the stream reported, in wire form, or None.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, _Open] = {}
        self._finish: Mapping[str, Any] | None = None
        self.usage: Mapping[str, Any] | None = None

    @property
    def hit_limit(self) -> bool:
        """Whether the stream ended at the limit of output tokens."""
        return self._finish is not None and self._finish.get("kind") == "max-tokens"

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take the next chunk, in wire form. One of an unknown type changes nothing.

        Raises:
            ModelProtocolError: It may not stand here.
        """
        kind = chunk["type"]
        if kind == "usage":
            self.usage = chunk["usage"]
            return
        if self._finish is not None:
            raise ModelProtocolError(f"a {kind} after the finish")
        if kind == "finish":
            self._finish = chunk["reason"]
        elif kind == "block-start":
            self._start(chunk)
        elif kind in _DELTAS:
            self._grow(chunk, _DELTAS[kind])
        elif kind == "block-end":
            self._end(chunk)

    def finish(self) -> list[dict[str, Any]]:
        """Return the blocks in the order of their start.

        A tool call that the limit of output cut off is dropped: what the model meant is not known.

        Raises:
            ModelProtocolError: The stream ended without saying so.
            ModelError: The stream ended by saying that it failed.
        """
        if self._finish is None:
            raise ModelProtocolError("the stream ended without a finish")
        if self._finish.get("kind") == "error":
            message, code = self._finish.get("message"), self._finish.get("code")
            raise ModelError(
                message if isinstance(message, str) and message else "the model reported an error",
                code if isinstance(code, str) else None,
            )
        blocks: list[dict[str, Any]] = []
        for open_block in self._blocks.values():
            if self.hit_limit and open_block.kind == "tool-call" and open_block.block is None:
                continue
            assembled = open_block.assembled()
            if assembled is not None:
                blocks.append(assembled)
        return blocks

    def _start(self, chunk: Mapping[str, Any]) -> None:
        if chunk["index"] in self._blocks:
            raise ModelProtocolError(f"block {chunk['index']} starts twice")
        self._blocks[chunk["index"]] = _Open(kind=chunk["blockType"])

    def _block(self, chunk: Mapping[str, Any], kind: str) -> _Open:
        index = chunk["index"]
        found = self._blocks.get(index)
        if found is None:
            raise ModelProtocolError(f"a {chunk['type']} for block {index}, which has not started")
        if found.block is not None:
            raise ModelProtocolError(f"a {chunk['type']} for block {index}, which has ended")
        if found.kind != kind:
            raise ModelProtocolError(f"a {chunk['type']} of kind {kind} for block {index}, which is a {found.kind}")
        return found

    def _grow(self, chunk: Mapping[str, Any], kind: str) -> None:
        found = self._block(chunk, kind)
        if kind != "tool-call":
            found.pieces.append(chunk["text"])
            return
        found.pieces.append(chunk.get("argumentsDelta") or "")
        for key in ("id", "name"):
            value, known = chunk.get(key) or "", getattr(found, key)
            if value and known and value != known:
                raise ModelProtocolError(f"block {chunk['index']} changes its {key} from {known!r} to {value!r}")
            if value:
                setattr(found, key, value)

    def _end(self, chunk: Mapping[str, Any]) -> None:
        block = chunk["block"]
        self._block(chunk, block["type"]).block = block


def check_call_ids(blocks: list[dict[str, Any]], used: set[str]) -> list[dict[str, Any]]:
    """Return the tool calls among the blocks of a message.

    Args:
        blocks: The blocks of the message, in wire form.
        used: The ids that calls of this turn carry already.

    Raises:
        ModelProtocolError: A call has no id, or one that this turn has seen. An answer could not be told to belong
            to it.
    """
    calls = [block for block in blocks if block["type"] == "tool-call"]
    seen = set(used)
    for call in calls:
        if not call["id"]:
            raise ModelProtocolError(f"a call of {call['name']!r} without an id")
        if call["id"] in seen:
            raise ModelProtocolError(f"two calls with the id {call['id']!r}")
        seen.add(call["id"])
    return calls
