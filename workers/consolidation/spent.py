"""The usage of a consolidation's model calls, and the account that is charged."""

from collections.abc import Mapping
from urllib.parse import unquote

from daemon import metrics
from daemon.session import Lock
from daemon.sessionkey import SessionKey
from daemon.usage import Amount, Note, User, day_of, second_of
from workers.accounts import count
from workers.consolidation.kits import Kit
from workers.consolidation.stores import Stores


class Spent:
    """Of the calls since it was last noted."""

    def __init__(self) -> None:
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

    async def note(self, stores: Stores, kit: Kit, lock: Lock) -> None:
        """Put it into the accounts, once; never raises."""
        if not self._used:
            return
        used, self._used = self._used, {}
        count(used)
        self._noted += 1
        for amount in used.values():
            metrics.CONSOLIDATION_TOKENS.labels("in").inc(amount.tokens_in)
            metrics.CONSOLIDATION_TOKENS.labels("out").inc(amount.tokens_out)
        name = f"{lock.session}#memory-{lock.fence}-{lock.nonce}-{self._noted}"
        now, user = stores.clock.now(), user_of(lock)
        day, second = day_of(now, kit.bot.time_zone), second_of(now, kit.bot.time_zone)
        await stores.ledger.note(Note(name=name, user=user, day=day, second=second, used=used))
        await stores.warnings.look(user)


def user_of(lock: Lock) -> User:
    """Whose conversation it is: the person whose memory it goes to, or nobody in particular."""
    bot, kind, *name = lock.scope.split(":")
    person = [unquote(part) for part in name] if kind == "person" else [SessionKey.parse(lock.session).channel, ""]
    return User(bot=unquote(bot), session=lock.session, channel=person[0], sender_id=person[-1])
