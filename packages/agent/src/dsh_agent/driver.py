"""The driver: the one task that runs an agent's turns, one after another.

Owns what waits, which turn runs and who hears of its end. Refuses to know what happens inside a turn.
Flow: inbox -> `Driver` -> `Turn` -> reason -> whoever waits.
"""

from __future__ import annotations

import asyncio

from dsh_agent.errors import AgentClosed
from dsh_agent.inbox import Aside, Inbox, Prompt
from dsh_agent.interrupt import Interrupt
from dsh_agent.journal import Journal
from dsh_agent.scope import Scope, Setup
from dsh_agent.turn import Turn, aside_event
from dsh_session import Completed, InjectionTrigger, TurnEnd, TurnStart

__all__ = ["Driver"]


class Driver:
    """Runs turns until nothing waits; `wake` starts it again.

    Attributes:
        inbox: What waits.
        scope: The surroundings of the turn that runs, or None.
        is_closed: Whether no further turn may begin.
    """

    def __init__(self, journal: Journal, setup: Setup) -> None:
        self._journal = journal
        self._setup = setup
        self._task: asyncio.Task[None] | None = None
        self._batch: list[Prompt] = []
        self._turn_over = asyncio.Event()
        self._has_unflushed = False
        self.inbox = Inbox()
        self.scope: Scope | None = None
        self.is_closed = False

    @property
    def is_running(self) -> bool:
        """Whether a turn runs, or one is about to."""
        return self._task is not None and not self._task.done()

    def wake(self) -> None:
        """Start the driver unless it runs.

        Raises:
            RuntimeError: No event loop runs.
        """
        if not self.is_running:
            loop = asyncio.get_running_loop()
            self._task = loop.create_task(self._drive(), name=f"agent of session {self._journal.session.id}")

    async def wait_idle(self) -> None:
        """Wait until no turn runs and none waits."""
        while self._task is not None and not self._task.done():
            await asyncio.wait({self._task})

    def abort(self, reason: str | None) -> bool:
        """End the turn that is open; return whether there was one."""
        if self.scope is None or self._journal.session.open_turn is None:
            return False
        self.scope.interrupt.request("aborted", reason)
        return True

    async def _drive(self) -> None:
        """Run turns until nothing waits. Nothing is awaited between the last look and the end."""
        while True:
            self._enter_leftovers()
            if self._has_unflushed:
                self._has_unflushed = False
                await self._journal.flush()
                continue
            if self.is_closed:
                self._refuse_waiting()
            if not self.inbox.prompts:
                return
            await self._run_turn(self.inbox.take_prompts())

    async def _run_turn(self, batch: list[Prompt]) -> None:
        self._batch = batch
        self._turn_over = asyncio.Event()
        self.scope = Scope(
            setup=self._setup,
            journal=self._journal,
            inbox=self.inbox,
            interrupt=Interrupt(self._setup.limits.stop_grace_s),
            turn=self._journal.session.last_turn + 1,
        )
        waiting = [prompt.outcome for prompt in batch if prompt.outcome is not None]
        try:
            reason = await Turn(self.scope, batch).run()
        except asyncio.CancelledError:
            for outcome in waiting:
                outcome.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - the log could not be balanced: whoever waits must hear of it
            self._journal.report(error)
            for outcome in waiting:
                if not outcome.done():
                    outcome.set_exception(error)
        else:
            for outcome in waiting:
                if not outcome.done():
                    outcome.set_result(reason)
        finally:
            self.scope = None
            self._batch = []
            self._turn_over.set()

    def _enter_leftovers(self) -> None:
        """Give what arrived after the end of a turn a place: a turn of its own, or the next turn's prompts."""
        while self.inbox.asides:
            aside = self.inbox.asides.popleft()
            if aside.kind == "inject":
                self.enter_alone(aside)
            else:
                self.inbox.prompts.append(Prompt(content=aside.content, source=aside.source))

    def enter_alone(self, aside: Aside) -> None:
        """Give an aside a turn of its own, now; it is flushed when the driver runs."""
        turn = self._journal.session.last_turn + 1
        self._journal.append(TurnStart(turn=turn, trigger=InjectionTrigger(source=aside.source)))
        self._journal.append(*aside_event(aside, turn))
        self._journal.append(TurnEnd(turn=turn, reason=Completed()))
        self._has_unflushed = True

    async def withdraw(self, prompt: Prompt) -> None:
        """Take back a prompt that waits; abort a turn that now runs for nobody, and wait for its end."""
        if prompt in self.inbox.prompts:
            self.inbox.prompts.remove(prompt)
        elif prompt in self._batch and all(entry.outcome and entry.outcome.cancelled() for entry in self._batch):
            self.abort("the caller was cancelled")
            await self._turn_over.wait()

    def _refuse_waiting(self) -> None:
        for prompt in self.inbox.take_prompts():
            error = AgentClosed(self._journal.session.id)
            if prompt.outcome is None:
                self._journal.report(error)
            elif not prompt.outcome.done():
                prompt.outcome.set_exception(error)
