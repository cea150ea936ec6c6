"""How far a turn may go.

Owns the numbers. Refuses to enforce them. Flow: `Limits` -> turn, step.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Bounds against models and tools that do not come to an end.

    Attributes:
        max_steps: Steps of one turn; past it the turn ends with an error.
        max_chunks: Chunks of one step; past it the turn ends with an error.
        model_timeout_s: Time of one model stream, in seconds; None for no limit.
        stop_grace_s: How long stopped code may take to stop before it is left behind, in seconds.
    """

    max_steps: int = 500
    max_chunks: int = 200_000
    model_timeout_s: float | None = None
    stop_grace_s: float = 1.0
