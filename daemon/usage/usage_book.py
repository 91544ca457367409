"""The accounts in Redis: a hash for each day and each thing that is counted by, kept for ``KEPT_S``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal
from urllib.parse import unquote

import anyio

from daemon.bus import Bus, load_script, pairs
from daemon.sessionkey import encode_part
from daemon.usage.account import Amount, By, User

NOTE = load_script(__file__, "note.lua", with_parts=("reserved.part.lua",))

KEPT_S = 400 * 86_400
"""A year and a month: the same month can be compared with last year's."""

NOTED_S = 2 * 86_400
"""How long it is remembered what a day's accounts hold already; far longer than a command can be late."""

_COSTS = {"cost:": "costs_nano", "cached_cost:": "cached_nano"}
"""How the costs in a currency begin in Redis → in an ``Amount``."""


class UsageBook:
    """Notes and reads the accounts of one database."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def note(self, name: str, user: User, day: str, used: Mapping[str, Amount], *, second: int = 0) -> bool:
        """Add what was ``used``, by model, to the accounts of ``day``; False when ``name`` was noted before.

        ``second``: of the day, when it was used.

        Raises:
            BusUnavailable: Redis is away; noting the same again is safe.
        """
        keys, total = self._bus.keys, Amount()
        for amount in used.values():
            total.add(amount)
        total.token_seconds = total.tokens * second
        names, measures = ((2, user.bot), (3, user.person), (4, user.session)), _measures(total)
        told = [part for key, name in names if name for part in _told(key, name, measures)]
        for model, amount in used.items():
            told += _told(5, encode_part(model), _measures(amount))
        accounts = [keys.usage(day, kind) for kind in ("bot", "person", "session", "model")]
        status = await self._bus.run(
            NOTE,
            [keys.usage_noted(day), *accounts, keys.usage_reserved(day)],
            [name, KEPT_S * 1000, NOTED_S * 1000, *told],
        )
        return bool(status == b"noted")

    async def read(self, days: Sequence[str], *, by: By) -> dict[str, Amount]:
        """What was used on ``days``, added up by name, in the order of ``days`` or of tokens, the most first.

        Raises:
            BusUnavailable: Redis is away.
        """
        kind = "bot" if by == "day" else by
        found: dict[str, dict[str, Amount]] = {}

        async def read(day: str) -> None:
            found[day] = _amounts(pairs(await self._bus.call("HGETALL", self._bus.keys.usage(day, kind))))

        async with anyio.create_task_group() as tg:  # one tick, one pipeline
            for day in days:
                tg.start_soon(read, day)
        added: dict[str, Amount] = {}
        for day in days:
            for name, amount in found[day].items():
                row = {"day": day, "model": unquote(name)}.get(by, name)
                added.setdefault(row, Amount()).add(amount)
        if by == "day":
            return added
        return dict(sorted(added.items(), key=lambda item: -item[1].tokens))

    async def of(self, user: User, day: str, *, currencies: Sequence[str] = ()) -> tuple[Amount, Amount, Amount]:
        """What the person, the chat and the bot used on ``day``; costs in ``currencies``. Errors as for ``read``."""
        amounts: dict[str, Amount] = {}
        measures = _measures_in(currencies)

        async def read(kind: str, name: str) -> None:
            fields = [f"{name} {measure}".encode() for measure in measures]
            values = await self._bus.call("HMGET", self._bus.keys.usage(day, kind), *fields)
            there = [(field, value) for field, value in zip(fields, values, strict=True) if value is not None]
            amounts[kind] = _amounts(there).get(name, Amount())

        async with anyio.create_task_group() as tg:
            tg.start_soon(read, "person", user.person)
            tg.start_soon(read, "session", user.session)
            tg.start_soon(read, "bot", user.bot)
        return amounts["person"], amounts["session"], amounts["bot"]

    async def named(
        self,
        days: Sequence[str],
        kind: Literal["person", "session"],
        names: Sequence[str],
        *,
        currencies: Sequence[str],
    ) -> list[tuple[str, str, Amount]]:
        """What ``names`` used, a row for each day and name that used anything: day, name, how much.

        Raises:
            BusUnavailable: Redis is away.
        """
        found: dict[str, dict[str, Amount]] = {}
        measures = _measures_in(currencies)
        fields = [f"{name} {measure}".encode() for name in names for measure in measures]

        async def read(day: str) -> None:
            values = await self._bus.call("HMGET", self._bus.keys.usage(day, kind), *fields)
            there = [(field, value) for field, value in zip(fields, values, strict=True) if value is not None]
            found[day] = _amounts(there)

        async with anyio.create_task_group() as tg:  # one tick, few pipelines
            for day in days if fields else ():
                tg.start_soon(read, day)
        return [(day, name, amount) for day in days for name, amount in found.get(day, {}).items()]


_FIELDS = {
    "messages": "messages",
    "calls": "calls",
    "in": "tokens_in",
    "cached": "cached_in",
    "cacheable": "cacheable_in",
    "out": "tokens_out",
    "estimated": "estimated",
    "token_seconds": "token_seconds",
}
"""How a measure is called in Redis → in an ``Amount``."""


def _measures(amount: Amount) -> dict[str, int]:
    """What was used, as it is called in Redis; nothing that is 0."""
    measures = {measure: getattr(amount, own) for measure, own in _FIELDS.items()}
    for prefix, own in _COSTS.items():
        measures |= {prefix + encode_part(currency): nano for currency, nano in getattr(amount, own).items()}
    return {measure: number for measure, number in measures.items() if number}


def cost_measure(currency: str) -> str:
    """How the costs in a currency are called in Redis."""
    return "cost:" + encode_part(currency)


def _measures_in(currencies: Sequence[str]) -> Sequence[str]:
    """All measures, with costs in ``currencies``."""
    return (*_FIELDS, *(prefix + encode_part(currency) for prefix in _COSTS for currency in currencies))


def _told(key: int, name: str, measures: Mapping[str, int]) -> Iterator[str | int]:
    """What ``note.lua`` is to add for one name: number of the key, field, amount."""
    for measure, number in measures.items():
        yield from (key, f"{name} {measure}", number)


def _amounts(fields: Iterable[tuple[bytes, bytes]]) -> dict[str, Amount]:
    """The amounts that fields of a hash hold, by name."""
    found: dict[str, Amount] = {}
    for field, value in fields:
        name, _, measure = field.decode().rpartition(" ")
        amount = found.setdefault(name, Amount())
        kind, colon, currency = measure.partition(":")
        if own := _COSTS.get(kind + colon):
            getattr(amount, own)[unquote(currency)] = int(value)
        elif measure in _FIELDS:
            setattr(amount, _FIELDS[measure], int(value))
    return found
