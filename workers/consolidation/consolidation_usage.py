"""The usage of a consolidation's model calls, and the account that is charged."""

from collections.abc import Mapping

from daemon import metrics
from daemon.session import Lock
from daemon.usage import Amount, Payer, user_of_scope
from workers.consolidation.consolidation_kits import Kit
from workers.consolidation.consolidation_request import Want
from workers.consolidation.shared_stores import Stores
from workers.usage_accounts import count


class Spent:
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

    async def note(self, stores: Stores) -> None:
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


def payer_of(stores: Stores, kit: Kit, lock: Lock, want: Want) -> Payer:
    """Who pays for a consolidation: whoever waits for it, or else the person whose memory it goes to."""
    return Payer(
        ledger=stores.ledger,
        clock=stores.clock,
        user=want.user or user_of_scope(lock.scope, lock.session),
        bot=kit.bot,
        work=f"{lock.session}#memory-{lock.fence}-{lock.nonce}",
        for_memory=True,
    )
