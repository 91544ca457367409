"""Checks the limits of a bot before a turn, and records the usage after the turn."""

from daemon.config import BotConfig
from daemon.process import Process
from daemon.usage import Allowance, Limits, Note, Refusal, Room, User, day_of
from workers.accounts import count
from workers.agent.progress import Turn


class Gate:
    """Checks limits before turns, and records their usage."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._limits = Limits(process.bus)

    async def refusal(self, turn: Turn) -> Refusal | Room | None:
        """What keeps a turn from beginning: the day's tokens are used up, or there is no room just now.

        Raises:
            BusUnavailable: Redis is away.
        """
        bot, user = self._process.bot(turn.first.bot), user_of(turn)
        first = turn.covered[0].stream_id
        if bot.limits.any_daily:
            await self._process.ledger.catch_up()
            refusal = await self._limits.reserve(user, self._today(bot), Allowance.of(bot), message=first)
            if refusal is not None and refusal.used_up:
                return refusal
        if not bot.limits.any_messages:
            return None
        limits, count, claim = bot.limits.messages_per_minute, len(turn.covered), str(turn.claim.begun.claims)
        room = await self._limits.take(user, limits, message=first, count=count, claim=claim)
        return room if room.wait_s else None

    async def account(self, turn: Turn) -> None:
        """Note what a claim's work on a turn used, whether or not it came to an answer; never raises."""
        if not turn.progress.used:
            return
        count(turn.progress.used)
        claim = turn.claim
        name = f"{claim.session}#{claim.begun.head}#{claim.begun.claims}"
        day = self._today(self._process.bot(turn.first.bot))
        await self._process.ledger.note(Note(name=name, user=user_of(turn), day=day, used=turn.progress.used))

    def _today(self, bot: BotConfig) -> str:
        return day_of(self._process.clock.now(), bot.time_zone)


def user_of(turn: Turn) -> User:
    """Whose turn it is: that of the sender of its first message."""
    first = turn.first
    return User(bot=first.bot, session=turn.claim.session, channel=first.channel, sender_id=first.sender_id)
