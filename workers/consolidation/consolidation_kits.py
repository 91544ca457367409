"""The objects that the consolidations of a bot need, built once for each process."""

from collections.abc import Mapping
from urllib.parse import unquote

import anyio
import msgspec
from msgspec.structs import replace

from daemon import metrics
from daemon.config import BotConfig, Config, summary_model_of
from daemon.model import Model
from daemon.process import Process
from daemon.session import ConsolidationLock
from daemon.tokens import Tokenizer, calibration, load
from daemon.usage import Amount, Payer, user_of_scope
from workers.consolidation.consolidation_plan import Thresholds
from workers.consolidation.consolidation_request import ConsolidationRequest, SharedStores
from workers.consolidation.summary.flush_request import Flush
from workers.consolidation.summary.quiz import Quiz
from workers.consolidation.summary.summarize import Summarizer
from workers.consolidation.summary.summary_calls import breaker_of
from workers.consolidation.summary.title_request import TitleRequests
from workers.model_choice import with_model
from workers.model_health import LoggedModel, recalled
from workers.paid_calls import count


class Kit(msgspec.Struct, frozen=True, kw_only=True):
    """Of one bot, and one of its models."""

    bot: BotConfig
    """With the model that the session's people chose."""
    config: Config
    tokenizer: Tokenizer
    """Of the model that answers: prompts are counted by it."""
    summarizer: Summarizer
    flush: Flush
    titles: TitleRequests
    quiz: Quiz | None
    """None: switched off."""

    def paid_by(self, payer: Payer) -> "Kit":
        """The same, within the limits of ``payer``."""
        return replace(
            self,
            summarizer=self.summarizer.paid_by(payer),
            flush=self.flush.paid_by(payer),
            quiz=self.quiz.paid_by(payer) if self.quiz else None,
        )

    @property
    def flushes(self) -> bool:
        """Whether there is a silent turn before a consolidation."""
        return self.config.memory_flush.enabled

    def thresholds(self) -> Thresholds:
        """The sizes that hold just now, by what is known of how the provider counts."""
        lowered = calibration(self.bot.model.name, self.bot.model.base_url).lowered
        return Thresholds.of(self.bot.model, self.config.memory_flush, lowered=lowered)


class Kits:
    """A kit for each bot and each model that people chose, made when it is first needed."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._models: dict[str, Model] = {}
        self._kits: dict[tuple[str, str], Kit] = {}
        self._lock = anyio.Lock()

    async def of(self, lock: ConsolidationLock) -> Kit:
        """The kit for a locked session.

        Raises:
            ConfigError: its bot is not configured here, or its model cannot be connected to.
        """
        return await self.of_bot(lock.scope, lock.options.model)

    async def of_bot(self, scope: str, model: str) -> Kit:
        """The kit for the bot of a scope, with the model that people chose; errors as for ``of``."""
        return await self._of(unquote(scope.partition(":")[0]), model)

    async def warm(self) -> None:
        """Make the kits of all bots, with their own models. Errors as for ``of``."""
        for bot in self._process.config.bots:
            await self._of(bot, "")

    async def _of(self, name: str, model: str) -> Kit:
        async with self._lock:
            if (name, model) not in self._kits:
                self._kits[name, model] = await self._made(name, model)
            return self._kits[name, model]

    async def aclose(self) -> None:
        """Close the models' connections."""
        for model in self._models.values():
            await model.aclose()

    async def _made(self, name: str, chosen: str) -> Kit:
        config = self._process.config
        bot = with_model(self._process.bot(name), chosen)
        window = summary_model_of(self._process.bot(name))
        if name not in self._models:
            await recalled(self._process, window)
            self._models[name] = LoggedModel(
                await self._process.connect_model(window, language=bot.language), window, self._process
            )
        model, tokenizer = self._models[name], await load(window.name)
        breaker = breaker_of(window, config.consolidation)
        return Kit(
            bot=bot,
            config=config,
            tokenizer=await load(bot.model.name),
            summarizer=Summarizer(
                model=model, window=window, tokenizer=tokenizer, config=config, breaker=breaker, bot=bot
            ),
            flush=Flush(model=model, window=window, tokenizer=tokenizer, config=config, breaker=breaker, bot=bot),
            titles=TitleRequests(
                model=model, window=window, tokenizer=tokenizer, config=config, breaker=breaker, bot=bot
            ),
            quiz=Quiz(model=model, window=window, tokenizer=tokenizer, config=config, bot=bot)
            if config.consolidation.audit.quiz
            else None,
        )


# The usage of a consolidation's model calls, and the account that is charged.


class ConsolidationUsage:
    """Of the calls since it was last noted."""

    def __init__(self, payer: Payer) -> None:
        self._payer = payer
        self._used: dict[str, Amount] = {}
        self._noted = 0

    def add(self, used: Mapping[str, Amount]) -> None:
        """Add what calls used, by model."""
        for model, amount in used.items():
            self._used.setdefault(model, Amount()).add(amount)

    @property
    def models(self) -> list[str]:
        """Their names."""
        return list(self._used)

    @property
    def total(self) -> Amount:
        """Of all models."""
        total = Amount()
        for amount in self._used.values():
            total.add(amount)
        return total

    async def note(self, stores: SharedStores) -> None:
        """Put it into the accounts, once; never raises. Within limits each call was noted at its end."""
        if not self._used:
            return
        used, self._used = self._used, {}
        count(used)
        self._noted += 1
        for amount in used.values():
            metrics.CONSOLIDATION_TOKENS.labels("in").inc(amount.tokens_in)
            metrics.CONSOLIDATION_TOKENS.labels("out").inc(amount.tokens_out)
        payer = self._payer
        if not payer.is_limited:
            await payer.note(f"{payer.work}-{self._noted}", used)
        await stores.warnings.look(payer.user)


def payer_of(stores: SharedStores, kit: Kit, lock: ConsolidationLock, want: ConsolidationRequest) -> Payer:
    """Who pays for a consolidation: whoever waits for it, or else the person whose memory it goes to."""
    return Payer(
        ledger=stores.ledger,
        clock=stores.clock,
        user=want.user or user_of_scope(lock.scope, lock.session),
        bot=kit.bot,
        work=f"{lock.session}#memory-{lock.fence}-{lock.nonce}",
        for_memory=True,
    )
