"""Every error of this package, by who must act.

Owns the classes and their fields; the branches come from `dsh_session.errors`. Holds no logic beyond the words.

    SessionError
    ├── CallerError
    │   ├── AgentClosed         the agent takes no more work
    │   ├── InvalidTool         what was given is no tool, or two tools share a name
    │   └── UnbalancedCut       a range that would part a tool call from its result
    ├── DataError
    │   └── ModelProtocolError  a model's stream is not what the protocol says
    └── WorldError
        ├── ModelError          the model failed
        ├── ToolFailure         a tool says what went wrong
        └── LimitExceeded       a turn went past a limit that was set for it

`PersistenceUnavailable` and `ConcurrentWriter` come from `dsh_session_persistence`, `DuplicateSession` from
`dsh_session`: `Agents.resume` raises them as they are.
"""

from __future__ import annotations

from typing import Any

from dsh_session.errors import CallerError, DataError, WorldError

__all__ = [
    "AgentClosed",
    "InvalidTool",
    "LimitExceeded",
    "ModelError",
    "ModelProtocolError",
    "ToolFailure",
    "UnbalancedCut",
]


class AgentClosed(CallerError):
    """The agent was closed; what was asked of it did not enter the log.

    Attributes:
        session_id: The session that the agent worked on.
    """

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(f"the agent of session {session_id!r} is closed")


class InvalidTool(CallerError):
    """What was given cannot be offered to a model as a tool.

    Attributes:
        name: The tool's name, as far as it is known.
        reason: What is wrong, in words.
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(f"tool {name!r}: {reason}")


class UnbalancedCut(CallerError):
    """A range of the surface cannot be replaced, because it would part tool calls from their results.

    Attributes:
        call_ids: The calls that have one half inside the range.
    """

    def __init__(self, call_ids: tuple[str, ...]) -> None:
        self.call_ids = call_ids
        super().__init__(f"the range parts calls from their results: {', '.join(call_ids)}")


class ModelProtocolError(DataError):
    """A model's stream breaks the protocol of chunks; the chunks up to there are in the log.

    Attributes:
        code: Always `protocol`; it becomes the code of the turn's end.
    """

    code = "protocol"


class ModelError(WorldError):
    """The model failed.

    Attributes:
        code: A short word for programs, or None; it becomes the code of the turn's end.
    """

    def __init__(self, message: str, code: str | None = None) -> None:
        self.code = code
        super().__init__(message)


class ToolFailure(WorldError):
    """Raised by a tool to say what went wrong; the model sees the message and the turn goes on.

    Attributes:
        code: A short word for programs, or None.
        meta: Further JSON for programs, or None; the model does not see it.
    """

    def __init__(self, message: str, *, code: str | None = None, meta: dict[str, Any] | None = None) -> None:
        self.code = code
        self.meta = meta
        super().__init__(message)


class LimitExceeded(WorldError):
    """A turn went past one of its `Limits`.

    Attributes:
        limit: The name of the limit.
        code: Always `limit`; it becomes the code of the turn's end.
    """

    code = "limit"

    def __init__(self, limit: str, value: float) -> None:
        self.limit = limit
        super().__init__(f"the turn went past {limit}={value:g}")
