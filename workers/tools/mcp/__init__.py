"""Tools of other programs: servers of the Model Context Protocol, one connection for each scope.

Nothing here imports the package ``mcp``, an extra, before a bot has a server.
"""

from workers.tools.mcp.tool_servers import MissingServer, ToolServers

__all__ = ["MissingServer", "ToolServers"]
