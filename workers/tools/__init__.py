"""Tools that a model may call: one a file, collected in a registry; a failure is a result that the model reads."""

from workers.tools.registry import FAILED, Registry, Tool, ToolContext
from workers.tools.time_tool import TIME

BUILTIN = Registry((TIME,))
"""Every tool that comes with Millpond; a bot's configuration names the ones it may use."""

__all__ = ["BUILTIN", "FAILED", "Registry", "Tool", "ToolContext"]
