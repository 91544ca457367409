"""Tools that a model can call, one in each file. A failure is a result that the model reads."""

from workers.tools.compact import COMPACT
from workers.tools.conversation_search import CONVERSATION_SEARCH
from workers.tools.edit_file import EDIT_FILE
from workers.tools.exec import EXEC, EXEC_APPROVED
from workers.tools.grep import GREP
from workers.tools.list_files import LIST_FILES
from workers.tools.memory_get import MEMORY_GET
from workers.tools.memory_search import MEMORY_SEARCH
from workers.tools.message import MESSAGE
from workers.tools.read_file import READ_FILE
from workers.tools.registry import Registry, Saying, Tool, ToolContext
from workers.tools.remind import REMIND
from workers.tools.time_tool import TIME
from workers.tools.tool_result import FAILED, Content, Image, Result, failure
from workers.tools.tool_sandbox import BOOTSTRAP_FILES, Folders
from workers.tools.web_fetch import WEB_FETCH
from workers.tools.web_search import WEB_SEARCH
from workers.tools.write_file import WRITE_FILE

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
    "Folders",
    "Image",
    "Registry",
    "Result",
    "Saying",
    "Tool",
    "ToolContext",
    "failure",
]
