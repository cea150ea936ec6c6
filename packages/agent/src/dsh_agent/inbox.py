"""What waits to enter a session: prompts for the next turn, and asides for the open one.

Owns the queues, and the snapshot of content at the caller's line. Refuses to append.
Flow: content -> `read_content` -> `Prompt`, `Aside` -> `Inbox` -> turn.
"""

from __future__ import annotations

import asyncio
import copy
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dsh_session import InvalidEvent, Part, Reason, SessionEvent, Source, Text
from dsh_session.vocabulary import to_wire

__all__ = ["Aside", "Content", "Inbox", "Prompt", "read_content"]

Content: TypeAlias = str | Sequence[Part | Mapping[str, Any]]
"""A text, or blocks: models such as `Text`, or their wire form."""


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Prompt:
    """A prompt that waits for a turn.

    Attributes:
        content: Its blocks, in wire form, frozen.
        source: Who it comes from.
        outcome: Where the reason of its turn is awaited; None if nobody waits.
    """

    content: Sequence[Any]
    source: Source
    outcome: asyncio.Future[Reason] | None = None


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Aside:
    """Something that enters the open turn between two steps."""

    kind: Literal["steer", "inject"]
    content: Sequence[Any]
    source: Source


@dataclass(kw_only=True, slots=True)
class Inbox:
    """Both queues of an agent."""

    prompts: deque[Prompt] = field(default_factory=deque)
    asides: deque[Aside] = field(default_factory=deque)

    def take_prompts(self) -> list[Prompt]:
        """Return all prompts that wait, and forget them."""
        taken = list(self.prompts)
        self.prompts.clear()
        return taken


def read_content(content: Content, source: Source) -> Sequence[Any]:
    """Return blocks in wire form, frozen: nothing that the caller holds can change them.

    Raises:
        InvalidEvent: They are no blocks, or there are none.
        NotJsonSerializable: They hold what JSON cannot carry.
    """
    blocks = [Text(text=content)] if isinstance(content, str) else list(content)
    if not blocks:
        raise InvalidEvent("no content", event_type="user/message", path="content")
    wire = [to_wire(block) if isinstance(block, Part) else copy.deepcopy(block) for block in blocks]
    event = SessionEvent(type="user/message", seq=0, time=0, data={"content": wire, "source": to_wire(source)})
    event.payload()
    frozen: Sequence[Any] = event.data["content"]
    return frozen
