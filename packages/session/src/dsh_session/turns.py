"""The automaton of turns and steps: which event may come next.

Owns the open turn, the open step and the highest turn number. It is told types and numbers, never whole events.
Flow: `check` (refuses, changes nothing) -> the event is logged -> `advance`. A seed only advances: a foreign log is
followed as far as it makes sense, and never refused.
"""

from typing import Any

from dsh_session.errors import NestingViolation

BOUNDARIES = frozenset({"turn/start", "turn/end", "step/start", "step/end"})
IN_STEP = frozenset({"assistant/chunk", "assistant/message", "tool/call", "tool/result"})
BETWEEN_STEPS = frozenset({"user/message", "context/message", "steering/message"})
NUMBERED = BOUNDARIES | IN_STEP | {"steering/message"}
"""Types whose data names its turn."""


class Turns:
    """Where a log stands: the open turn, the open step, and the numbers used so far."""

    __slots__ = ("last_step", "last_turn", "open_step", "open_step_seq", "open_turn")

    def __init__(self) -> None:
        self.open_turn: int | None = None
        self.open_step: int | None = None
        self.open_step_seq: int | None = None
        self.last_turn = 0
        self.last_step = 0

    def check(self, event_type: str, turn: Any, step: Any) -> None:
        """Refuse an event that does not fit.

        Args:
            event_type: The event's type.
            turn: The `turn` of its data, when the type has one.
            step: The `step` of its data, when the type has one.

        Raises:
            NestingViolation: Outside a turn, in the wrong turn or step, or a number that does not rise.
        """
        problem = self._problem(event_type, turn, step)
        if problem:
            raise NestingViolation(event_type, problem, open_turn=self.open_turn, open_step=self.open_step)

    def _problem(self, event_type: str, turn: Any, step: Any) -> str:
        if event_type == "turn/start":
            if self.open_turn is not None:
                return f"turn {self.open_turn} is open"
            return "" if turn > self.last_turn else f"turn {turn} does not follow turn {self.last_turn}"
        if self.open_turn is None:
            return "no turn is open"
        if event_type in NUMBERED and turn != self.open_turn:
            return f"names turn {turn}, but turn {self.open_turn} is open"
        if event_type == "step/start" and self.open_step is None and step <= self.last_step:
            return f"step {step} does not follow step {self.last_step}"
        if event_type in BETWEEN_STEPS or event_type in {"turn/end", "step/start"}:
            return "" if self.open_step is None else f"step {self.open_step} is open"
        if event_type in IN_STEP or event_type == "step/end":
            if self.open_step is None:
                return "no step is open"
            if step != self.open_step:
                return f"names step {step}, but step {self.open_step} is open"
        return ""

    def advance(self, event_type: str, seq: int, turn: Any, step: Any) -> None:
        """Follow a boundary that was logged; numbers that make no sense are passed over."""
        is_turn = type(turn) is int
        if is_turn and turn > self.last_turn:
            self.last_turn = turn
        if event_type == "step/start":
            self.open_step = self.last_step = step if type(step) is int else self.last_step + 1
            self.open_step_seq = seq
            return
        self.open_step = self.open_step_seq = None
        if event_type == "turn/start":
            self.open_turn = turn if is_turn else self.last_turn + 1
            self.last_step = 0
        elif event_type == "turn/end":
            self.open_turn = None
