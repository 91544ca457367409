"""Checks the limits of a bot before a turn, and records the usage after the turn."""

from daemon.events import Inbound
from daemon.process import Process
from daemon.session import Claim
from daemon.usage import Amount, BucketLevel, Limits, Payer, Refusal
from workers.admin_messages import LimitWarnings
from workers.agent.turn_progress import Turn
from workers.paid_calls import count, user_of


class LimitGate:
    """Checks limits before turns, and records their usage."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._limits = Limits(process.bus)
        self._warnings = LimitWarnings(process.bus, process.config, process.clock)

    def payer(self, claim: Claim, first: Inbound, *, message: str) -> Payer:
        """Who pays for the calls of a claim's turn: the sender of its ``first`` message, whose stream id is given."""
        return Payer(
            ledger=self._process.ledger,
            clock=self._process.clock,
            user=user_of(claim, first),
            bot=self._process.bot(first.bot),
            work=f"{claim.session}#{claim.begun.head}#{claim.begun.claims}",
            message=message,
        )

    async def refusal(self, turn: Turn) -> Refusal | BucketLevel | None:
        """What keeps a turn from beginning: the day's limits are used up, or there is no room just now.

        Raises:
            BusUnavailable: Redis is away.
        """
        refusal = await turn.payer.refusal()
        if refusal or not turn.covered:
            return refusal
        return await self.wait(turn.claim, turn.first, turn.covered[0].stream_id, count=len(turn.covered))

    async def wait(self, claim: Claim, first: Inbound, at: str, *, count: int = 1) -> BucketLevel | None:
        """What keeps ``count`` messages or a command waiting; None: there was room, and it was taken.

        ``at``: stream id of the first of them. Errors as above.
        """
        limits = self._process.bot(first.bot).limits
        if not limits.any_messages:
            return None
        room = await self._limits.take(
            user_of(claim, first),
            limits.messages_per_minute,
            message=at,
            count=count,
            claim=str(claim.begun.claims),
        )
        return room if room.wait_s else None

    async def account(self, turn: Turn) -> None:
        """Note what a claim's work on a turn used, whether or not it came to an answer; never raises."""
        used = turn.progress.used
        if not used:
            return
        count(used)
        payer = turn.payer
        if payer.is_limited:  # each call was noted at its end
            used = {model: Amount(messages=amount.messages) for model, amount in used.items() if amount.messages}
        if used:
            await payer.note(payer.work, used)
        await self._warnings.look(payer.user)
