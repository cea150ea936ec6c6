"""Where other code may look at a turn, and change it.

Owns the points, what a hook is told at each, and what its answer means. Refuses to run one: the turn does, and in
what order. Flow: `Hooks` -> turn -> hook -> answer. Source: the RFC on the loop's order.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from dsh_session import AssistantMessage, Session, Source

A = TypeVar("A")
R = TypeVar("R")

__all__ = ["BeforeStep", "Deny", "Hooks", "PromptSubmit", "StepResult", "invoke"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptSubmit:
    """A prompt that is about to enter the history.

    Attributes:
        session: The session, inside the turn that the prompt began or joined.
        turn: Number of that turn.
        content: The prompt's blocks, in wire form.
        source: Who it comes from.
    """

    session: Session
    turn: int
    content: Sequence[Any]
    source: Source


@dataclass(frozen=True, kw_only=True, slots=True)
class Deny:
    """The answer that blocks a prompt.

    Attributes:
        reason: Why, in words; it enters the log with the prompt.
    """

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StepResult:
    """What the model said in a step, before anybody acts on it.

    Attributes:
        session: The session; the chunks are in it, the message is not.
        message: The assembled message.
    """

    session: Session
    message: AssistantMessage


@dataclass(frozen=True, kw_only=True, slots=True)
class BeforeStep:
    """A step is about to begin; the turn is open, no step is.

    Attributes:
        session: The session; a plugin may append events of its own, such as a compaction's.
        turn: Number of the turn.
        step: Number of the step that follows.
    """

    session: Session
    turn: int
    step: int


PromptSubmitHook: TypeAlias = Callable[[PromptSubmit], Awaitable[Deny | None] | Deny | None]
StepResultHook: TypeAlias = Callable[[StepResult], Awaitable[AssistantMessage | None] | AssistantMessage | None]
BeforeStepHook: TypeAlias = Callable[[BeforeStep], Awaitable[None] | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hooks:
    """The hooks of an agent; those of one point run in order. A hook is a function, async or not.

    Attributes:
        prompt_submit: May answer `Deny`. One that raises blocks the prompt: a guard that cannot judge lets nothing
            through.
        step_result: May answer an amended message; the log and the dispatch of tools use that one. One that raises
            ends the turn with an error.
        before_step: Sees the session between steps, before the request is derived. One that raises ends the turn
            with an error.
    """

    prompt_submit: Sequence[PromptSubmitHook] = ()
    step_result: Sequence[StepResultHook] = ()
    before_step: Sequence[BeforeStepHook] = ()


async def invoke(hook: Callable[[A], Awaitable[R] | R], told: A) -> R:
    """Call a hook and return its answer, awaited if it has to be."""
    answer = hook(told)
    if inspect.isawaitable(answer):
        return await answer
    return answer
