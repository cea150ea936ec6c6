"""One turn: from its prompts to the reason why it ended.

Owns the order between steps and the promise that every turn ends with a balanced log, whatever failed. Never emits
`interrupted`: that reason is for turns that no loop was there to end. Refuses to know when the next turn begins.
Flow: prompts -> `turn/start` -> hooks -> steps -> `turn/end` -> flush -> reason.
Source: the RFC on the loop's order.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from dsh_agent.errors import LimitExceeded
from dsh_agent.hooks import BeforeStep, PromptSubmit, invoke
from dsh_agent.inbox import Aside, Prompt
from dsh_agent.interrupt import Stopped
from dsh_agent.scope import Scope
from dsh_agent.step import Step
from dsh_agent.wording import code_of, describe, plain
from dsh_session import (
    Aborted,
    Completed,
    Disposed,
    Failed,
    MaxTokens,
    MessageTrigger,
    Reason,
    Rejected,
    TurnEnd,
    TurnStart,
)
from dsh_session.vocabulary import to_wire

__all__ = ["Turn", "aside_event"]


class Turn:
    """A turn that is being run.

    Args:
        scope: Its surroundings.
        prompts: What began it; at least one.
    """

    def __init__(self, scope: Scope, prompts: Sequence[Prompt]) -> None:
        self._scope = scope
        self._unjudged = deque(prompts)
        self._source = prompts[0].source
        self._step: Step | None = None
        self._step_number = 0
        self._had_calls = False
        self._hit_limit = False

    async def run(self) -> Reason:
        """Run the turn to its end and return why it ended. The log is balanced and flushed by then.

        Raises:
            asyncio.CancelledError: The loop was torn down; the turn was closed as disposed before.
        """
        journal = self._scope.journal
        journal.append(TurnStart(turn=self._scope.turn, trigger=MessageTrigger(source=self._source)))
        torn_down: asyncio.CancelledError | None = None
        reason: Reason
        try:
            reason = await self._body()
        except Stopped:
            reason = self._stop_reason()
        except asyncio.CancelledError as error:
            torn_down = error
            reason = Disposed()
        except Exception as error:  # noqa: BLE001 - models and hooks are foreign code: what they raise ends the turn
            journal.report(error)
            step = max(1, self._step_number)
            reason = Failed(step=step, message=describe(error), code=code_of(error))
        self._close(reason)
        await journal.flush()
        if torn_down is not None:
            raise torn_down
        return reason

    async def _body(self) -> Reason:
        rejection = await self._submit()
        if rejection is not None:
            return Rejected(reason=rejection)
        goes_on = True
        while goes_on:
            self._enter_asides()
            await self._run_step()
            goes_on = self._had_calls or any(aside.kind == "steer" for aside in self._scope.inbox.asides)
        self._scope.interrupt.check()
        return MaxTokens() if self._hit_limit else Completed()

    async def _submit(self) -> str | None:
        """Let the hooks judge every prompt, and log it as a message or as blocked.

        Returns:
            The last reason for blocking if nothing is left, else None.
        """
        journal = self._scope.journal
        reason, is_accepted = "", False
        while self._unjudged:
            prompt = self._unjudged[0]
            denial = await self._judge(prompt)
            self._unjudged.popleft()
            if denial is None:
                is_accepted = True
                data = {"content": prompt.content, "source": to_wire(prompt.source)}
                journal.append("user/message", data)
            else:
                reason = denial
                self._block(prompt, denial)
        return None if is_accepted else reason

    async def _judge(self, prompt: Prompt) -> str | None:
        """Return why a prompt is blocked, or None."""
        scope = self._scope
        told = PromptSubmit(
            session=scope.journal.session, turn=scope.turn, content=prompt.content, source=prompt.source
        )
        for hook in scope.setup.hooks.prompt_submit:
            try:
                denial = await scope.interrupt.run(invoke(hook, told))
            except Stopped:
                raise
            except Exception as error:  # noqa: BLE001 - a guard that cannot judge lets nothing through
                scope.journal.report(error)
                return f"a prompt hook failed: {describe(error)}"
            if denial is not None:
                return plain(denial.reason)
        return None

    async def _run_step(self) -> None:
        scope = self._scope
        number = self._step_number + 1
        if number > scope.setup.limits.max_steps:
            raise LimitExceeded("max_steps", scope.setup.limits.max_steps)
        for hook in scope.setup.hooks.before_step:
            told = BeforeStep(session=scope.journal.session, turn=scope.turn, step=number)
            await scope.interrupt.run(invoke(hook, told))
        scope.interrupt.check()
        step = Step(scope, number)
        self._step, self._step_number = step, number
        await step.run()
        self._step = None
        self._had_calls = step.had_calls
        self._hit_limit = self._hit_limit or step.hit_limit

    def _enter_asides(self) -> None:
        asides = self._scope.inbox.asides
        while asides:
            self._scope.journal.append(*aside_event(asides[0], self._scope.turn))
            asides.popleft()

    def _block(self, prompt: Prompt, reason: str) -> None:
        data = {"content": prompt.content, "source": to_wire(prompt.source), "reason": reason}
        self._scope.journal.append("prompt/blocked", data)

    def _stop_reason(self) -> Reason:
        interrupt = self._scope.interrupt
        if interrupt.kind == "disposed":
            return Disposed()
        return Aborted(reason=None if interrupt.reason is None else plain(interrupt.reason))

    def _close(self, reason: Reason) -> None:
        """Balance the log and end the turn; everything that waited for this turn enters it first."""
        kind = reason.kind
        if self._step is not None:
            name, why = _WORDS.get(kind, ("TurnError", "the turn ended with an error"))
            self._step.balance(name, kind, why)
            self._step = None
        while self._unjudged:
            self._block(self._unjudged.popleft(), f"the turn ended before this prompt was judged ({kind})")
        self._enter_asides()
        self._scope.journal.append(TurnEnd(turn=self._scope.turn, reason=reason))


_WORDS = {
    "aborted": ("AbortedError", "the turn was aborted"),
    "disposed": ("DisposedError", "the agent was closed"),
}


def aside_event(aside: Aside, turn: int) -> tuple[str, dict[str, object]]:
    """Return the type and data under which an aside enters a turn."""
    data: dict[str, object] = {"content": aside.content, "source": to_wire(aside.source)}
    if aside.kind == "inject":
        return "context/message", data
    return "steering/message", {"turn": turn, **data}
