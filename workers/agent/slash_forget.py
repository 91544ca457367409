"""``/forget``: lists stored texts of a chat, and deletes the chosen ones."""

import anyio

from daemon.access import may_take
from daemon.bus import argument_of
from daemon.config import BotConfig
from daemon.events import Inbound
from daemon.forget import Asking, Order, Search, choice_of, matches_of, matches_text, scopes_with, stores_for
from daemon.forget.text_matcher import MOST_CHARS
from daemon.jobs import Jobs, Tell
from daemon.process import Process
from daemon.session import Claim
from daemon.wording import text as say

LOOK_LIMIT_S = 60.0
"""How long is looked; the chat's next messages wait."""


class ForgetCommand:
    """Answers the command; everything it does may be done again when its turn is taken up by another worker."""

    def __init__(self, process: Process) -> None:
        queue = process.config.queue
        self._stores = stores_for(process)
        jobs = Jobs(process.bus, lease_s=queue.lease_s, worker=process.name, clock=process.clock)
        self._asking = Asking(process.bus, jobs)

    async def said(self, claim: Claim, inbound: Inbound, bot: BotConfig) -> str:
        """What is said of ``inbound``.

        Raises:
            BusUnavailable: Redis is away.
        """
        if not may_take(bot, inbound, claim.begun.scope):
            return say("admins_only", bot.language)
        choice = choice_of(argument_of(inbound.text))
        match choice.kind:
            case "nothing":
                return say("forget_how", bot.language)
            case "short" | "long":
                return say("forget_length", bot.language, most=MOST_CHARS)
            case "text":
                return await self._listed(claim, inbound, bot)
            case _:
                return await self._ordered(claim, inbound, bot, choice.numbers)

    async def _order(self, claim: Claim) -> Order:
        scopes = await scopes_with(self._stores.bus, claim.begun.scope)
        return Order(name=claim.begun.scope, scopes=scopes, chat=claim.session)

    async def _listed(self, claim: Claim, inbound: Inbound, bot: BotConfig) -> str:
        text = argument_of(inbound.text)
        try:
            with anyio.fail_after(LOOK_LIMIT_S):
                found = await matches_of(self._stores, await self._order(claim), text)
        except TimeoutError:
            return say("forget_slow", bot.language, scope=claim.begun.scope)
        unsearched = f"\n\n{say('forget_unsearched', bot.language)}" if found.waits else ""
        if not found.shown:
            return say("forget_none", bot.language) + unsearched
        await self._asking.keep(claim.session, text, found, by=inbound.sender_id)
        return matches_text(found.shown, found.more, bot.language) + unsearched

    async def _ordered(self, claim: Claim, inbound: Inbound, bot: BotConfig, numbers: tuple[int, ...]) -> str:
        pending = await self._asking.pending(claim.session, by=inbound.sender_id)
        if pending is None:
            return say("forget_stale", bot.language)
        count = len(pending.groups)
        for number in numbers:
            if not 1 <= number <= count:
                return say("forget_number", bot.language, number=number, count=count)
        chosen = tuple(pending.groups[number - 1] for number in numbers) if numbers else None
        tell = Tell(
            session=claim.session,
            out_channel=inbound.channel if inbound.delivery == "push" else "",
            correlation=inbound.correlation,
            message_id=inbound.id,
            language=bot.language,
        )
        search = Search(text=pending.text, chosen=chosen)
        await self._asking.order(await self._order(claim), search, name=inbound.id, tell=tell)
        return say("forget_began", bot.language)
