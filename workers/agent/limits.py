"""Checks the limits of a bot before a turn, and records the usage after the turn."""

from daemon.config import BotConfig
from daemon.process import Process
from daemon.usage import Limits, Note, Room, Spent, User, day_of, second_of
from workers.accounts import count
from workers.agent.progress import Turn
from workers.limit_warnings import LimitWarnings


class Gate:
    """Checks limits before turns, and records their usage."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._limits = Limits(process.bus)
        self._warnings = LimitWarnings(process.bus, process.config, process.clock)

    async def refusal(self, turn: Turn) -> Spent | Room | None:
        """What keeps a turn from beginning: the day's tokens are used up, or there is no room just now.

        Raises:
            BusUnavailable: Redis is away.
        """
        bot, user = self._process.bot(turn.first.bot), user_of(turn)
        first = turn.covered[0].stream_id
        if bot.limits.any_tokens:
            spent = await self._limits.spent(
                user, self._today(bot), bot.limits.tokens_per_day, message=first, kept=self._process.ledger.kept
            )
            if spent.whose:
                return spent
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
        bot, user = self._process.bot(turn.first.bot), user_of(turn)
        second = second_of(self._process.clock.now(), bot.time_zone)
        note = Note(name=name, user=user, day=self._today(bot), second=second, used=turn.progress.used)
        await self._process.ledger.note(note)
        await self._warnings.look(user)

    def _today(self, bot: BotConfig) -> str:
        return day_of(self._process.clock.now(), bot.time_zone)


def user_of(turn: Turn) -> User:
    """Whose turn it is: that of the sender of its first message."""
    first = turn.first
    return User(bot=first.bot, session=turn.claim.session, channel=first.channel, sender_id=first.sender_id)
