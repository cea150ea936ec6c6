"""A small event-sourced agent loop: resume, replay and fork on dsh sessions."""

from dsh_agent.agent import Agent
from dsh_agent.agents import Agents
from dsh_agent.compaction import CompactEnd, Compaction, CompactStart, CompactSummary, replace_range
from dsh_agent.errors import (
    AgentClosed,
    InvalidTool,
    LimitExceeded,
    ModelError,
    ModelProtocolError,
    ToolFailure,
    UnbalancedCut,
)
from dsh_agent.hooks import BeforeStep, Deny, Hooks, PromptSubmit, StepResult
from dsh_agent.limits import Limits
from dsh_agent.models import Call, Chunk, Model, ReplayModel, Reply, ScriptedModel, recorded_tools
from dsh_agent.tools import Tool, ToolContext, ToolOutput, ToolSpec, tool
from dsh_session_persistence import ConcurrentWriter, PersistenceUnavailable

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentClosed",
    "Agents",
    "BeforeStep",
    "Call",
    "Chunk",
    "CompactEnd",
    "CompactStart",
    "CompactSummary",
    "Compaction",
    "ConcurrentWriter",
    "Deny",
    "Hooks",
    "InvalidTool",
    "LimitExceeded",
    "Limits",
    "Model",
    "ModelError",
    "ModelProtocolError",
    "PersistenceUnavailable",
    "PromptSubmit",
    "ReplayModel",
    "Reply",
    "ScriptedModel",
    "StepResult",
    "Tool",
    "ToolContext",
    "ToolFailure",
    "ToolOutput",
    "ToolSpec",
    "UnbalancedCut",
    "__version__",
    "recorded_tools",
    "replace_range",
    "tool",
]
