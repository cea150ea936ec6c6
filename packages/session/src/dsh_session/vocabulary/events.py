"""The core event types, one model each, in the order in which a turn meets them.

Owns the fields of each type's data. Which of them may stand where is the automaton's business.
"""

from dsh_session.vocabulary.blocks import Block
from dsh_session.vocabulary.chunks import Chunk
from dsh_session.vocabulary.model import Bool, EventData, Object, Ordinal, Str, close_core
from dsh_session.vocabulary.parts import Reason, Source, TodoItem, ToolError, Trigger, Usage


class TurnStart(EventData, type="turn/start"):
    """A turn begins; `trigger` says by what."""

    turn: Ordinal
    trigger: Trigger


class TurnEnd(EventData, type="turn/end"):
    """A turn is over; `reason` says why."""

    turn: Ordinal
    reason: Reason


class StepStart(EventData, type="step/start"):
    """A step begins: one request to the model, and the tools it asks for."""

    turn: Ordinal
    step: Ordinal


class StepEnd(EventData, type="step/end"):
    """A step is over."""

    turn: Ordinal
    step: Ordinal


class UserMessage(EventData, type="user/message"):
    """A prompt that entered the history."""

    content: list[Block]
    source: Source


class PromptBlocked(EventData, type="prompt/blocked"):
    """A prompt that a hook kept out of the history."""

    content: list[Block]
    source: Source
    reason: Str


class ContextMessage(EventData, type="context/message"):
    """Context that something other than the user added."""

    content: list[Block]
    source: Source


class SteeringMessage(EventData, type="steering/message"):
    """A message that entered between the steps of a running turn."""

    turn: Ordinal
    content: list[Block]
    source: Source


class AssistantChunk(EventData, type="assistant/chunk"):
    """One piece of the model's stream, as it came."""

    turn: Ordinal
    step: Ordinal
    chunk: Chunk


class AssistantMessage(EventData, type="assistant/message"):
    """What the model said in a step, assembled."""

    turn: Ordinal
    step: Ordinal
    content: list[Block]
    usage: Usage | None = None


class ToolCall(EventData, type="tool/call"):
    """A tool is about to run; `arguments` is the JSON text as the model wrote it."""

    turn: Ordinal
    step: Ordinal
    call_id: Str
    name: Str
    arguments: Str


class ToolResult(EventData, type="tool/result"):
    """The outcome of a tool call, a failure too."""

    turn: Ordinal
    step: Ordinal
    call_id: Str
    content: list[Block]
    is_error: Bool = False
    error: ToolError | None = None
    meta: Object | None = None


class TodoWrite(EventData, type="todo/write"):
    """The plan, in full, as it stands from here on."""

    todos: list[TodoItem]


CORE_MODELS = close_core()
