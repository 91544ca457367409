"""Models whose servers fail, known to all processes: who asks them meanwhile, and what is reported of them.

A failed call notes the failure (``note_failing``). After ``LASTS_S`` of an outage, and after any set-up fault, one
caller at a time asks the server (``failing``), and all others wait. The first answer ends it (``note_working``).
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import anyio
import msgspec

from daemon.bus import Bus, load_script, pairs
from daemon.clock import Clock
from daemon.config.schema import ModelConfig
from daemon.model.dialect import server_of

# How often models failed in the last minutes, counted in Redis for all processes together.

FAILED = load_script(__file__, "failed.lua")

MINUTES = 15
"""How far back is shown."""

COUNTS_KEPT_S = 1_200
"""How long a minute's counts are kept: for as long as they are shown, and a little for clocks that disagree."""

LAST = "last"
"""The field that holds the newest kind."""


class FailureCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong lately."""

    minutes: list[int]
    """Failures in each of the last ``MINUTES`` minutes, the one that runs last."""
    kinds: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Failures in all of them, by the class of the error: ``RateLimited``, ``ModelTimeout`` and so on."""
    last: str = ""
    """The newest kind; empty when there was none."""


async def note_failure(bus: Bus, clock: Clock, error: Exception) -> None:
    """Count one; errors as for ``Bus.call``. It may count twice when Redis was away meanwhile."""
    await bus.run(FAILED, [bus.keys.errors(_minute(clock))], [type(error).__name__, LAST, COUNTS_KEPT_S])


async def read_failures(bus: Bus, clock: Clock) -> FailureCounts:
    """The failures of the last minutes, by this process's clock; errors as for ``Bus.call``."""
    upto = _minute(clock) + 1
    found: dict[int, dict[str, str]] = {minute: {} for minute in range(upto - MINUTES, upto)}

    async def read(minute: int) -> None:
        fields = pairs(await bus.call("HGETALL", bus.keys.errors(minute)))
        found[minute] = {name.decode(): value.decode() for name, value in fields}

    async with anyio.create_task_group() as tg:  # one tick, one pipeline
        for minute in found:
            tg.start_soon(read, minute)
    return _together(list(found.values()))


def _together(minutes: Sequence[dict[str, str]]) -> FailureCounts:
    kinds, last = Counter[str](), ""
    for fields in minutes:
        last = fields.get(LAST, last)
        kinds.update({kind: int(count) for kind, count in fields.items() if kind != LAST})
    each = [sum(int(count) for kind, count in fields.items() if kind != LAST) for fields in minutes]
    return FailureCounts(minutes=each, kinds=dict(kinds), last=last)


def _minute(clock: Clock) -> int:
    return int(clock.now().timestamp() // 60)


NOTE = load_script(__file__, "failing.lua")
PROBE = load_script(__file__, "probe.lua")

Kind = Literal["outage", "setup", "refused"]
"""``refused``: the server refused the messages of several conversations in a row; everybody goes on to ask it."""

LASTS_S = 10.0
"""An outage that lasts for so long is announced, and from then on one caller at a time asks the server."""
PROBE_S: Mapping[Kind, float] = {"outage": 5.0, "setup": 60.0, "refused": 0.0}
"""Seconds between two calls that find out whether a server works again."""
RETRY_AFTER_MAX_S = 60.0
"""A server that asks for a longer pause is asked after this: some name an hour by mistake."""
PROBING_S = 120.0
"""How long the call that finds out keeps all others waiting, in case that its process ends."""
TELL_AGAIN_S = 3_600.0
"""Administrators are told of a set-up fault, and of refusals, once in so long."""
ANEW_S = 600.0
"""A failure after so long without one begins anew: nobody waited meanwhile, so nobody asked."""
KEPT_S: Mapping[Kind, float] = {"outage": 86_400.0, "setup": 86_400.0, "refused": 3_600.0}
"""How long a failure is reported after it happened last. Only the process that noted refusals notes their end."""


_KINDS: Mapping[bytes, Kind] = {b"setup": "setup", b"refused": "refused"}


class FailingModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model's server that fails."""

    kind: Kind
    reason: str
    """One sentence for administrators: what fails, and what to do."""
    since_s: float
    """For how long it has failed."""
    tell_admins: bool = False
    """Nobody has told the administrators of it within the hour, and the caller does."""


async def note_failing(
    bus: Bus, model: ModelConfig, kind: Kind, reason: str, *, retry_after_s: float | None = None
) -> FailingModel:
    """Note a failed call; errors as for ``Bus.call``."""
    pause_s = min(RETRY_AFTER_MAX_S, max(PROBE_S[kind], retry_after_s or 0.0))
    times = [round(seconds * 1000) for seconds in (pause_s, KEPT_S[kind], TELL_AGAIN_S, ANEW_S)]
    since_ms, tell = await bus.run(NOTE, [_key(bus, model)], [kind, reason, *times])
    return FailingModel(kind=kind, reason=reason, since_s=since_ms / 1000, tell_admins=bool(tell))


async def failing(bus: Bus, model: ModelConfig) -> FailingModel | None:
    """Why a model should not be asked now; None: the caller asks it. Errors as for ``Bus.call``."""
    found = await bus.run(PROBE, [_key(bus, model)], [round(LASTS_S * 1000), round(PROBING_S * 1000)])
    if not found:
        return None
    kind, reason, since_ms, _left_ms = found
    return FailingModel(kind=_kind(kind), reason=reason.decode(errors="replace"), since_s=since_ms / 1000)


async def note_working(bus: Bus, model: ModelConfig) -> None:
    """A call succeeded, or the configuration may have changed; errors as for ``Bus.call``."""
    await bus.call("DEL", _key(bus, model))


async def read_failing(bus: Bus, model: ModelConfig) -> FailingModel | None:
    """How a model fails, for people who look; None: it works, as far as is known. Errors as for ``Bus.call``."""
    fields = dict(pairs(await bus.call("HGETALL", _key(bus, model))))
    if b"kind" not in fields:
        return None
    now_s = int((await bus.call("TIME"))[0])
    since_s = max(0.0, now_s - int(fields.get(b"since", b"0")) / 1000)
    return FailingModel(kind=_kind(fields[b"kind"]), reason=fields[b"reason"].decode(errors="replace"), since_s=since_s)


def _kind(value: bytes) -> Kind:
    return _KINDS.get(value, "outage")


def account_of(model: ModelConfig) -> str:
    """A short digest of a model's address and key: what is wrong with them is of no concern to other bots."""
    return hashlib.sha256(f"{model.base_url} {model.api_key.reveal()}".encode()).hexdigest()[:8]


def _key(bus: Bus, model: ModelConfig) -> str:
    return bus.keys.failing(server_of(model), model.name, account_of(model))
