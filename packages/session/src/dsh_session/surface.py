"""The surface: the ordered view of the events that produce messages.

Owns which seqs are on it, and in what order. Reads no event's data and derives nothing.
Flow: every message-producing event -> `apply` (append, or replace a run) -> `seqs`, read by the derivation.
"""

from collections.abc import Mapping
from typing import Any

from dsh_session.errors import InvalidSurfaceOp
from dsh_session.event import Replace, SurfaceOp

SURFACE_TYPES = frozenset(
    {"user/message", "assistant/message", "tool/result", "context/message", "steering/message"}
)


class Surface:
    """The seqs that are on the surface, in the order of the derived history.

    `generation` rises whenever something other than an append has happened.
    """

    __slots__ = ("generation", "seqs")

    def __init__(self) -> None:
        self.seqs: list[int] = []
        self.generation = 0

    def span(self, event_type: str, operation: Replace) -> slice:
        """Find what a replacement names.

        Raises:
            InvalidSurfaceOp: One of its ends is not on the surface, or the end stands before the start.
        """
        try:
            start = self.seqs.index(operation.start)
            end = self.seqs.index(operation.end)
        except ValueError as error:
            reason = f"replaces {operation.start} to {operation.end}, which is not all on the surface"
            raise InvalidSurfaceOp(event_type, reason) from error
        if end < start:
            raise InvalidSurfaceOp(event_type, f"its end {operation.end} stands before {operation.start}")
        return slice(start, end + 1)

    def apply(self, event_type: str, seq: int, operation: SurfaceOp | None) -> None:
        """Put a logged event on the surface; without an operation it is appended.

        Raises:
            InvalidSurfaceOp: As `span`; the surface is unchanged.
        """
        if isinstance(operation, Replace):
            self.seqs[self.span(event_type, operation)] = [seq]
            self.generation += 1
        else:
            self.seqs.append(seq)


def text_of(data: Mapping[str, Any], key: str) -> str | None:
    """Read a text member of data that nobody has validated."""
    value = data.get(key)
    return value if isinstance(value, str) else None
