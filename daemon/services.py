"""Roles, and where the code of each is found: by import string, since nothing in this room may import the others.

A service is ``async def serve(process, *, task_status)``: it reports itself started, works until ``process.stopping``
is set, finishes within its grace time and returns.
"""

from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import Any

from daemon.errors import ConfigError

ROLES = {
    "agent": "workers.agent.service:serve",
    "consolidation": "workers.consolidation.service:serve",
    "web": "channels.web.service:serve",
    "channels": "channels.push:serve",
}
"""Role → the service that fills it."""

TERMINAL = "channels.terminal.service:serve"
"""The terminal is no role: it lives where a person sits, in ``run`` on a terminal and in ``chat``."""

KEEPING = "daemon.archive_maintenance:mark_archive"
"""What every process of ``run`` does beside its roles."""

RIGHTS = "daemon.permission_check:watch"
"""Says what the Redis user of a process lacks for ``roles``."""

HEALTH = "channels.web.health_endpoints:serve"
"""Tells machines how a process is, with any roles; needs ``health.port``, and goes on while its services end."""

PREVIEW = "workers.agent.prompt.prompt_preview:preview"
"""Gives what a session's model would be sent next: ``preview(process, session)``, ready to be printed as JSON."""

FILLING = "workers.agent.prompt.prompt_size:filling"
"""Gives what fills the next prompt of a session, about, and what happens at which size: ``filling(process, session,
bot=…)``, ready to be printed as JSON; ``bot`` answers where nobody wrote yet."""

CONNECT = "channels.push:connect"
"""Opens the adapter of a push channel for the length of a block: ``connect(process, name, config)``."""

EXAMINE = "channels.push_checks:examine"
"""Looks at a push channel and its platform: ``examine(name, config)``, findings of ``millpond doctor``."""

SIZES = "workers.agent.prompt.prompt_size:sizes"
"""Gives what a session's prompt counts, and when it is consolidated: ``sizes(process, state)``, tokens by name."""

PROBE = "workers.agent.bot_checks:probe"
"""Tries one model of a bot with all that the bot uses: ``await probe(bot, model)``, what was found, a sentence each."""

WEB_SEARCH = "workers.tools.web.search:search"
"""Searches the web: ``await search(section, query, count)``, numbered results; raises ToolError."""

EQUIPMENT = "workers.agent.bot_checks:examine"
"""Looks at files of workspaces and at tool servers: ``await examine(config)``, findings of ``millpond doctor``."""

TOOLS = "workers.agent.tool_list:listed"
"""Lists the built-in tools and skills of a bot: ``await listed(bot, workspace)``, ready to be printed as JSON."""

FETCH = "channels.file_transfer:fetching"
"""Fetches what came with a push channel's messages: ``async with fetching(process, channel) as fetch`` gives a function
``await fetch(attachment, timeout_s=…)`` → bytes, which raises as ``channels.base.Channel.fetch`` does."""

SAID_BEFORE = "channels.thread_lookup:said_before"
"""Reads what was said in a thread: ``await said_before(process, inbound, timeout_s=…)`` → what ``Inbound.overheard``
is to be; raises a ``ChannelError`` or a ``BusError`` when it cannot."""

Service = Callable[..., Coroutine[Any, Any, Any]]


def service(role: str) -> Service:
    """The service of a role.

    Raises:
        ConfigError: no such role.
    """
    if role not in ROLES:
        raise ConfigError(f"--role {role} is unknown. Choose from {', '.join(ROLES)}.")
    return load(ROLES[role])


def load(target: str) -> Service:
    """What the import string ``module:name`` names."""
    module, _, name = target.partition(":")
    found: Service = getattr(import_module(module), name)
    return found
