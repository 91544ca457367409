"""Tools of other programs: servers of the Model Context Protocol, one connection for each scope.

Nothing here imports the package ``mcp``, an extra, before a bot has a server.
"""

from workers.tools.mcp.missing_server import Missing
from workers.tools.mcp.tool_servers import ToolServers

__all__ = ["Missing", "ToolServers"]
