"""What each bot's turns are made with, built once a process."""

import anyio

from daemon.config import BotConfig
from daemon.errors import ConfigError
from daemon.process import Process
from daemon.tokens import Tokenizer, load
from workers.agent.progress import Kit
from workers.agent.prompts import Prompts
from workers.tools import BUILTIN, Registry


class Kits:
    """A kit a bot, made when it is first needed."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._kits: dict[str, Kit] = {}
        self._lock = anyio.Lock()

    async def of(self, bot: str) -> Kit:
        """The kit of a bot.

        Raises:
            ConfigError: no such bot in this process's configuration.
        """
        if bot in self._kits:
            return self._kits[bot]
        async with self._lock:
            if bot not in self._kits:
                self._kits[bot] = await self._made(bot, self._process.bot(bot))
            return self._kits[bot]

    async def warm(self) -> None:
        """Make the kits of all bots, so that their first messages need not wait for a vocabulary to be read."""
        for bot in self._process.config.bots:
            await self.of(bot)

    async def aclose(self) -> None:
        """Close the models' connections."""
        for kit in self._kits.values():
            await kit.model.aclose()

    async def _made(self, name: str, bot: BotConfig) -> Kit:
        agent = self._process.config.agent
        tokenizer = await load(bot.model.name)
        try:
            tools = BUILTIN.only(bot.tools)
        except ConfigError as error:
            raise ConfigError(f"bots.{name}.tools: {error}") from error
        prompts = prompts_of(self._process, name, tokenizer, tools)
        return Kit(
            model=await self._process.connect_model(bot.model, language=bot.language),
            tokenizer=tokenizer,
            tools=tools,
            time_zone=bot.time_zone,
            language=bot.language,
            prompts=prompts,
            budget_tokens=bot.model.budget_tokens,
            tool_timeout_s=agent.tool_timeout_s,
            iterations_max=agent.iterations_max,
        )


def prompts_of(process: Process, name: str, tokenizer: Tokenizer, tools: Registry) -> Prompts:
    """What a bot's prompts are made with.

    Raises:
        ConfigError: identity and tools leave nothing of the budget.
    """
    return Prompts(
        name,
        process.config,
        workspace=process.workspace(name),
        tokenizer=tokenizer,
        definitions=tools.definitions,
    )
