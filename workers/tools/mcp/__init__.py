"""Connects to tool servers of the Model Context Protocol.

Public: ``ToolServers`` has the servers of a process, ``MissingServer`` describes one whose tools a turn does not have.
Begin with ``tool_servers``. The optional package ``mcp`` is imported when a bot has a server.
"""

from workers.tools.mcp.tool_servers import MissingServer, ToolServers

__all__ = ["MissingServer", "ToolServers"]
