"""The small parts that events share: sources, usage, triggers, reasons, to-do items and tool errors.

Owns their fields. Every set of kinds is open: `OpenTrigger` and `OpenReason` carry what this build does not know.
"""

from typing import Annotated, Literal

from pydantic import Field

from dsh_session.vocabulary.model import Int, Ordinal, Part, Str
from dsh_session.vocabulary.unknown import not_one_of, tags_of


class Source(Part):
    """Who produced a message: `kind` is `user`, `plugin` or any other; further fields are carried."""

    kind: Str


class Usage(Part):
    """Tokens that a model reported for a step."""

    input_tokens: Int
    output_tokens: Int
    cache_read_tokens: Int | None = None
    cache_write_tokens: Int | None = None
    reasoning_tokens: Int | None = None


class ToolError(Part):
    """What went wrong in a tool, for programs; the words for the model are in the result's content."""

    name: Str
    message: Str
    code: Str | None = None


class TodoItem(Part):
    """One entry of a plan; `status` is `pending`, `in_progress`, `completed` or any other."""

    content: Str
    status: Str


class MessageTrigger(Part):
    """The turn began with a prompt."""

    kind: Literal["message"] = "message"
    source: Source


class InjectionTrigger(Part):
    """The turn began with an injected message, without a prompt."""

    kind: Literal["injection"] = "injection"
    source: Source | None = None


_TRIGGERS = (MessageTrigger, InjectionTrigger)


class OpenTrigger(Part):
    """A trigger of a kind that this build does not know."""

    kind: Annotated[Str, not_one_of(tags_of("kind", _TRIGGERS))]


Trigger = Annotated[
    Annotated[MessageTrigger | InjectionTrigger, Field(discriminator="kind")] | OpenTrigger,
    Field(union_mode="left_to_right"),
]


class Completed(Part):
    """The turn came to its end."""

    kind: Literal["completed"] = "completed"


class Aborted(Part):
    """Somebody stopped the turn."""

    kind: Literal["aborted"] = "aborted"
    reason: Str | None = None


class Failed(Part):
    """A step failed and took the turn with it."""

    kind: Literal["error"] = "error"
    step: Ordinal
    message: Str
    code: Str | None = None


class Disposed(Part):
    """The agent was closed while the turn ran."""

    kind: Literal["disposed"] = "disposed"


class MaxTokens(Part):
    """A step hit the limit of output tokens."""

    kind: Literal["max-tokens"] = "max-tokens"


class Rejected(Part):
    """Every prompt of the turn was blocked."""

    kind: Literal["rejected"] = "rejected"
    reason: Str


class Interrupted(Part):
    """The process ended in the middle; the turn was closed when the log was next loaded."""

    kind: Literal["interrupted"] = "interrupted"


_REASONS = (Completed, Aborted, Failed, Disposed, MaxTokens, Rejected, Interrupted)


class OpenReason(Part):
    """A reason of a kind that this build does not know."""

    kind: Annotated[Str, not_one_of(tags_of("kind", _REASONS))]


Reason = Annotated[
    Annotated[
        Completed | Aborted | Failed | Disposed | MaxTokens | Rejected | Interrupted,
        Field(discriminator="kind"),
    ]
    | OpenReason,
    Field(union_mode="left_to_right"),
]
