"""Models: the protocol, and two that need no provider."""

from dsh_agent.models.protocol import Chunk, Model
from dsh_agent.models.replay import ReplayModel, recorded_tools
from dsh_agent.models.scripted import Call, Reply, ScriptedModel

__all__ = ["Call", "Chunk", "Model", "ReplayModel", "Reply", "ScriptedModel", "recorded_tools"]
