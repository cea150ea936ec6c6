"""One example of every core event type, as the reference shows it.

Owns nothing but data; the reference is rendered from it, and it is validated like anything else that is made.
"""

from dsh_session.vocabulary.blocks import Reasoning, Text, ToolCallBlock
from dsh_session.vocabulary.chunks import TextDelta
from dsh_session.vocabulary.events import (
    AssistantChunk,
    AssistantMessage,
    ContextMessage,
    PromptBlocked,
    SteeringMessage,
    StepEnd,
    StepStart,
    TodoWrite,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from dsh_session.vocabulary.model import EventData
from dsh_session.vocabulary.parts import Completed, MessageTrigger, Source, TodoItem, ToolError, Usage

_USER = Source(kind="user")
_PLUGIN = Source(kind="plugin")
_ARGUMENTS = '{"path": "config.txt"}'

_EXAMPLES: tuple[EventData, ...] = (
    TurnStart(turn=1, trigger=MessageTrigger(source=_USER)),
    TurnEnd(turn=1, reason=Completed()),
    StepStart(turn=1, step=1),
    StepEnd(turn=1, step=1),
    UserMessage(content=[Text(text="What does config.txt say?")], source=_USER),
    PromptBlocked(content=[Text(text="Delete everything.")], source=_USER, reason="blocked by policy"),
    ContextMessage(content=[Text(text="The working folder has 3 files.")], source=_PLUGIN),
    SteeringMessage(turn=1, content=[Text(text="Answer in one line.")], source=_USER),
    AssistantChunk(turn=1, step=1, chunk=TextDelta(index=0, text="It says")),
    AssistantMessage(
        turn=1,
        step=1,
        content=[
            Reasoning(text="I should read the file."),
            ToolCallBlock(id="call_1", name="read", arguments=_ARGUMENTS),
        ],
        usage=Usage(input_tokens=123, output_tokens=55, cache_read_tokens=96),
    ),
    ToolCall(turn=1, step=1, call_id="call_1", name="read", arguments=_ARGUMENTS),
    ToolResult(
        turn=1,
        step=1,
        call_id="call_1",
        content=[Text(text="no such file")],
        is_error=True,
        error=ToolError(name="FileNotFoundError", message="no such file", code="ENOENT"),
    ),
    TodoWrite(todos=[TodoItem(content="read the file", status="in_progress")]),
)

SAMPLES: dict[str, EventData] = {example.event_type: example for example in _EXAMPLES}
