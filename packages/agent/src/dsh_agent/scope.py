"""What the parts of a running turn share.

Owns nothing but the bundle. Flow: agent -> `Scope` -> turn -> step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from dsh_agent.hooks import Hooks
from dsh_agent.inbox import Inbox
from dsh_agent.interrupt import Interrupt
from dsh_agent.journal import Journal
from dsh_agent.limits import Limits
from dsh_agent.models.protocol import Model
from dsh_agent.tools import Tool

__all__ = ["Scope", "Setup"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """What an agent is made of, beside its session."""

    model: Model
    tools: Mapping[str, Tool]
    hooks: Hooks
    limits: Limits


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """One turn's surroundings.

    Attributes:
        setup: The agent's parts.
        journal: Where events go.
        inbox: What waits to enter.
        interrupt: The wish to end this turn.
        turn: Number of the turn.
        call_ids: The ids that calls of this turn carry.
        running: The tool calls that run, each with the future that cancels it.
    """

    setup: Setup
    journal: Journal
    inbox: Inbox
    interrupt: Interrupt
    turn: int
    call_ids: set[str] = field(default_factory=set)
    running: dict[str, asyncio.Future[str | None]] = field(default_factory=dict)
