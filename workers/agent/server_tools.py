"""The tools that servers offer to a bot's turns, which may change at any time."""

from dataclasses import replace

import structlog

from daemon.errors import ConfigError, brief
from daemon.process import Process
from workers.agent.bot_runtime import prompts_of
from workers.agent.system_prompt import Prompts
from workers.agent.turn_progress import Kit
from workers.tools import Registry, Tool
from workers.tools.mcp import ToolServers

_log = structlog.get_logger()


class Equipment:
    """Kits with the tools of servers, rebuilt only if these tools change."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.servers = ToolServers(process)
        self._made: dict[Prompts, tuple[tuple[Tool, ...], Kit]] = {}

    async def of(self, kit: Kit, bot: str, *, scope: str, session: str) -> Kit:
        """``kit`` with what the bot's servers offer just now."""
        tools = await self.servers.tools(bot, scope=scope, session=session)
        equipped = self._with(tools, kit, bot) if tools else kit
        missing = self.servers.missing(bot)
        return replace(equipped, missing=(*missing, *equipped.missing)) if missing else equipped

    def _with(self, tools: tuple[Tool, ...], kit: Kit, bot: str) -> Kit:
        known = self._made.get(kit.prompts)
        if known is None or known[0] != tools:
            known = self._made[kit.prompts] = (tools, self._equipped(kit, bot, kit.tools.beside(tools)))
        return known[1]

    def known(self, kit: Kit) -> Kit:
        """``kit`` with what the bot's servers offered when a turn last asked them."""
        found = self._made.get(kit.prompts)
        return found[1] if found else kit

    def _equipped(self, kit: Kit, bot: str, tools: Registry) -> Kit:
        try:
            return replace(
                kit, tools=tools, prompts=prompts_of(self._process, bot, kit.prompts.bot, kit.tokenizer, tools)
            )
        except ConfigError as error:  # their definitions alone would fill the model's window
            _log.error("tools.missing", bot=bot, reason=brief(error))
            return replace(kit, missing=self.servers.too_large(bot, str(error)))
