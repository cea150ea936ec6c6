"""The derivation: from the surface to the messages that a model sees.

Owns the shape of each message, and the promise that the list is a valid transcript: the results of a call stand
right after the message that asked, in the order of its calls; a call that was left unanswered has an error
result; a result without a call is left out. The log is never touched.
Flow: new surface events -> messages, with a place kept for every result -> a new list at each call.
"""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from dsh_session.calls import asked_ids
from dsh_session.errors import InvalidEvent
from dsh_session.event import SessionEvent
from dsh_session.surface import Surface, text_of

if TYPE_CHECKING:
    from dsh_session.vocabulary import Message, Part

NO_RESULT = "No result of this tool call was recorded."
"""What the model reads where a call was left unanswered."""

_TAGS = {"context/message": "context", "steering/message": "steering"}


class History:
    """The messages of a surface, derived once and kept up to date.

    Args:
        events: The log.
        surface: The surface of that log.
    """

    __slots__ = ("_answers", "_events", "_gaps", "_generation", "_last_said", "_messages", "_read", "_surface")

    def __init__(self, events: Sequence[SessionEvent], surface: Surface) -> None:
        self._events = events
        self._surface = surface
        self._reset()

    def _reset(self) -> None:
        self._generation = self._surface.generation
        self._read = 0
        self._messages: list[Message] = []
        self._last_said = 0  # position of the last message that is no result
        self._gaps: dict[int, int] = {}  # position of a stand-in result -> seq of the message that asked
        self._answers: dict[str, list[int]] = {}  # call id -> positions that wait for its results

    def messages(self, open_step_seq: int | None) -> "list[Message]":
        """Derive the messages.

        Args:
            open_step_seq: The seq of the `step/start` of the open step. Calls that were asked in it are still
                running if nothing but results follows them, so they have no stand-in result yet.

        Returns:
            A new list of frozen messages.
        """
        if self._generation != self._surface.generation:
            self._reset()
        seqs = self._surface.seqs
        while self._read < len(seqs):
            self._add(self._events[seqs[self._read]])
            self._read += 1
        messages = self._messages.copy()
        if open_step_seq is not None:
            for position, seq in reversed(self._gaps.items()):
                if seq < open_step_seq or position < self._last_said:
                    break
                del messages[position]
        return messages

    def _add(self, event: SessionEvent) -> None:
        blocks = _blocks(event)
        if event.type == "tool/result":
            self._answer(event, blocks or [])
        elif event.type == "assistant/message":
            if blocks:
                self._say(_message("assistant", blocks))
                self._keep_places(event)
        elif blocks is not None:
            tag = _TAGS.get(event.type)
            self._say(_message("user", blocks if tag is None else _tagged(tag, event, blocks)))

    def _say(self, message: "Message") -> None:
        self._last_said = len(self._messages)
        self._messages.append(message)

    def _keep_places(self, event: SessionEvent) -> None:
        asked: dict[str, list[int]] = {}
        for call_id in asked_ids(event):
            position = len(self._messages)
            asked.setdefault(call_id, []).append(position)
            self._gaps[position] = event.seq
            self._messages.append(_result(call_id, [_text(NO_RESULT)], is_error=True))
        self._answers.update(asked)

    def _answer(self, event: SessionEvent, blocks: "list[Part]") -> None:
        call_id = text_of(event.data, "callId") or ""
        places = self._answers.get(call_id)
        if places:
            position = places.pop(0)
            del self._gaps[position]
            self._messages[position] = _result(call_id, blocks, is_error=event.data.get("isError") is True)


def _message(role: str, blocks: "Sequence[Part]") -> "Message":
    from dsh_session.vocabulary import Message, freeze_part

    fields: dict[str, Any] = {"role": role, "content": blocks}
    message = Message.model_construct(_fields_set=set(fields), **fields)
    freeze_part(message)
    return message


def _result(call_id: str, blocks: "list[Part]", *, is_error: bool) -> "Message":
    from dsh_session.vocabulary import ToolResultBlock

    fields: dict[str, Any] = {"tool_call_id": call_id, "content": blocks, "is_error": is_error}
    return _message("user", [ToolResultBlock.model_construct(_fields_set=set(fields), **fields)])


def _text(text: str) -> "Part":
    from dsh_session.vocabulary import Text

    return Text(text=text)


def _blocks(event: SessionEvent) -> "list[Part] | None":
    """Read the content blocks of an event, also of one whose data no model would take; None without content."""
    try:
        payload = event.payload()
    except InvalidEvent:
        return _loose_blocks(event)
    content = getattr(payload, "content", None)
    return content if isinstance(content, list) else None


def _loose_blocks(event: SessionEvent) -> "list[Part] | None":
    from dsh_session.vocabulary import read_block

    content = event.data.get("content")
    if not isinstance(content, list):
        return None
    return [block for block in map(read_block, content) if block is not None]


def _tagged(tag: str, event: SessionEvent, blocks: "list[Part]") -> "list[Part]":
    """Put content into an envelope that names the kind of its source."""
    source = event.data.get("source")
    kind = text_of(source, "kind") if isinstance(source, dict) else None
    opening = f'<{tag} source="{escape(kind or "unknown")}">\n'
    closing = f"\n</{tag}>"
    texts = [getattr(block, "text", "") if _is_text(block) else None for block in blocks]
    first = texts[0] if texts else None
    if len(blocks) == 1 and first is not None:
        return [_text(opening + first + closing)]
    head = [_text(opening + first), *blocks[1:]] if first is not None else [_text(opening), *blocks]
    last = texts[-1] if texts else None
    return [*head[:-1], _text(last + closing)] if last is not None else [*head, _text(closing)]


def _is_text(block: "Part") -> bool:
    return getattr(block, "type", None) == "text" and isinstance(getattr(block, "text", None), str)
