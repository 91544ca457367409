"""The objects that a bot's turns need, built once for each process."""

from collections.abc import Mapping

import anyio
import msgspec
import structlog
from msgspec.structs import replace

from daemon.config import BotConfig
from daemon.errors import ConfigError, brief
from daemon.model import FallbackModel
from daemon.process import Process
from daemon.tokens import Tokenizer, load
from workers.agent.prompt.system_prompt import Prompts
from workers.agent.prompt.workspace import Workspace
from workers.agent.turn_progress import Kit
from workers.model_choice import with_model
from workers.model_health import recalled
from workers.tools import APPROVED, BUILTIN, Registry

_log = structlog.get_logger()


class Kits:
    """A kit a bot, made when it is first needed; one more for each other model that people choose."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._kits: dict[str, Kit] = {}
        self._chosen: dict[tuple[str, str], Kit] = {}
        self._lock = anyio.Lock()

    async def of(self, bot: str, *, model: str = "") -> Kit:
        """The kit of a bot, with the one of its models that was chosen; its own where that can be used no longer.

        Raises:
            ConfigError: no such bot in this process's configuration.
        """
        kit = self._kits.get(bot) or await self._own(bot)
        if not model:
            return kit
        try:
            return await self.choose(bot, model)
        except ConfigError as error:
            _log.warning("model.unusable", bot=bot, model=model, reason=brief(error))
            return kit

    async def _own(self, bot: str) -> Kit:
        async with self._lock:
            if bot not in self._kits:
                self._kits[bot] = await self._made(bot, self._process.bot(bot))
            return self._kits[bot]

    async def choose(self, bot: str, model: str) -> Kit:
        """The kit of a bot with another of its models, its own if it has none of that name.

        Raises:
            ConfigError: as for ``of``, or the model has no room for the bot's prompts.
        """
        if (bot, model) in self._chosen:
            return self._chosen[bot, model]
        kit, own = await self.of(bot), self._process.bot(bot)
        config = with_model(own, model)
        if config is own:
            return kit
        tokenizer = await load(config.model.name)
        self._chosen[bot, model] = replace(
            kit,
            model=kit.model.preferring(model) if isinstance(kit.model, FallbackModel) else kit.model,
            tokenizer=tokenizer,
            prompts=prompts_of(self._process, bot, config, tokenizer, kit.tools),
            budget_tokens=config.model.budget_tokens,
        )
        return self._chosen[bot, model]

    @property
    def workspaces(self) -> Mapping[str, Workspace]:
        """Of the bots whose kits are made."""
        return {bot: kit.prompts.workspace for bot, kit in self._kits.items()}

    async def warm(self) -> None:
        """Make the kits of all bots, so that their first messages need not wait for vocabulary and workspace."""
        for bot in self._process.config.bots:
            await (await self.of(bot)).prompts.system()

    async def aclose(self) -> None:
        """Close the models' connections."""
        for kit in self._kits.values():
            await kit.model.aclose()

    async def _made(self, name: str, bot: BotConfig) -> Kit:
        agent = self._process.config.agent
        tokenizer = await load(bot.model.name)
        await recalled(self._process, bot.model)
        try:
            tools = (APPROVED if bot.exec.approval else BUILTIN).only(bot.tools)
        except ConfigError as error:
            raise ConfigError(f"bots.{name}.tools: {error}") from error
        prompts = prompts_of(self._process, name, bot, tokenizer, tools)
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
            tool_calls_max=agent.tool_calls_max,
        )


def prompts_of(process: Process, name: str, bot: BotConfig, tokenizer: Tokenizer, tools: Registry) -> Prompts:
    """What a bot's prompts are made with; ``bot`` is its configuration, or that with another of its models.

    Raises:
        ConfigError: identity and tools leave nothing of the budget.
    """
    return Prompts(
        name,
        msgspec.structs.replace(process.config, bots={**process.config.bots, name: bot}),
        workspace=process.workspace(name),
        tokenizer=tokenizer,
        definitions=tools.definitions,
    )
