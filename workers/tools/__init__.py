"""Contains the tools that a model can call, and reports their errors to the model.

Public: ``Registry`` runs the calls of a ``Tool``, ``ToolContext`` has what a tool may use, ``ToolResult`` is its
result.
Begin with ``registry``. ``command_sandbox`` limits shell commands, ``file_access`` limits files.
"""

from workers.tools.exec import EXEC, EXEC_APPROVED
from workers.tools.file_access import BOOTSTRAP_FILES, FileAccess
from workers.tools.file_search import GREP, LIST_FILES
from workers.tools.file_writing import EDIT_FILE, WRITE_FILE
from workers.tools.memory_tools import COMPACT, CONVERSATION_SEARCH, MEMORY_GET, MEMORY_SEARCH
from workers.tools.message import MESSAGE
from workers.tools.read_file import READ_FILE
from workers.tools.registry import Registry, Saying, Tool, ToolContext
from workers.tools.remind import REMIND
from workers.tools.time_tool import TIME
from workers.tools.tool_result import FAILED, Content, Image, ToolResult, failure
from workers.tools.web_tools import WEB_FETCH, WEB_SEARCH

_TOOLS = (
    *(TIME, MESSAGE, READ_FILE, WRITE_FILE, EDIT_FILE, LIST_FILES, GREP, COMPACT),
    *(MEMORY_SEARCH, MEMORY_GET, CONVERSATION_SEARCH, REMIND, WEB_SEARCH, WEB_FETCH),
)

BUILTIN = Registry((*_TOOLS, EXEC))
"""Every tool that comes with Millpond; a bot's configuration names the ones it may use."""

APPROVED = Registry((*_TOOLS, EXEC_APPROVED))
"""The same for a bot whose commands wait for approval."""

__all__ = [
    "APPROVED",
    "BOOTSTRAP_FILES",
    "BUILTIN",
    "FAILED",
    "Content",
    "FileAccess",
    "Image",
    "Registry",
    "Saying",
    "Tool",
    "ToolContext",
    "ToolResult",
    "failure",
]
