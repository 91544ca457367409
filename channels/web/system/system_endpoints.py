"""``/api/system``, once and as Server-Sent Events."""

import re
import time
from typing import Any, cast, get_args

import anyio
import msgspec
import structlog
from msgspec import to_builtins
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.event_streams import RETRY_MS, EventStreams, Write
from channels.web.message_endpoints import encode
from channels.web.site import Site
from daemon.clock import stamp
from daemon.errors import BusError, BusUnavailable
from daemon.overview import SystemOverview, read_system
from daemon.process import Process
from daemon.rates import EVERY_S, Period, RateStep, read_history

# Snapshots for all viewers of one site: computed on demand if the last one is old, once for all viewers.

FRESH_S = 2.0
"""Highest age of a snapshot."""

SHARE = 20
"""A snapshot is computed at most once in this many times of its own duration: 5 % of a core at most."""

AGES_EVERY_S = 10.0
"""How often a snapshot is sent if only ages have changed."""

_AGE = re.compile(rb'"(?:seen_s|left_s|oldest_s)":[^,}]*')
"""Ages, which change all the time; the viewer continues to count them."""

_log = structlog.get_logger()


class SystemSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The system at one moment."""

    at: float
    """When it was computed, by the monotonic clock."""
    body: bytes
    """As JSON."""
    number: int
    """Rises if more than ages have changed."""

    def is_news_after(self, shown: "SystemSnapshot") -> bool:
        """Whether a viewer of ``shown`` gets this one: something has changed, or its ages are old."""
        return self.number != shown.number or self.at - shown.at >= AGES_EVERY_S


class SystemSnapshots:
    """The snapshots of one site."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._lock = anyio.Lock()
        self._newest: SystemSnapshot | None = None
        self._due = 0.0
        """When the next one is computed, by the monotonic clock."""
        self._shape = b""
        self._number = 0

    async def get(self) -> SystemSnapshot:
        """A fresh snapshot.

        Raises:
            BusUnavailable: Redis is unavailable, or was a moment ago, so that not every viewer waits for it.
        """
        async with self._lock:
            now = time.monotonic()
            if now >= self._due:
                self._newest = await self._compute(now)
                ended = time.monotonic()
                self._due = (
                    ended + FRESH_S if self._newest is None else max(now + FRESH_S, ended + SHARE * (ended - now))
                )
            if self._newest is None:
                raise BusUnavailable("Redis does not respond")
            return self._newest

    async def _compute(self, now: float) -> SystemSnapshot | None:
        """None if Redis is unavailable."""
        process = self._process
        system: SystemOverview | None = None
        try:
            system = await read_system(process.bus, process.config, process.clock)
        except* BusError as away:
            _log.debug("system.unread", reason=repr(away.exceptions[0]))
        if system is None:
            return None
        body = encode(form_of(system))
        shape = without_ages(body)
        if shape != self._shape:
            self._shape, self._number = shape, self._number + 1
        return SystemSnapshot(at=now, body=body, number=self._number)


def form_of(system: SystemOverview) -> dict[str, Any]:
    """The system in the form of the API."""
    queues = system.queues
    return {
        "workers": [{"name": one.pop("worker"), **one} for one in map(to_builtins, system.workers)],
        "leaders": [to_builtins(leader) for leader in system.leaders],
        "leases": [to_builtins(lease) for lease in system.leases],
        "queue": {**to_builtins(queues.total), "in_flight": queues.in_flight, "parked": queues.parked},
        "parked": [to_builtins(one) for one in system.parked],
        "parked_chats": [to_builtins(one) for one in system.paused],
        "model_errors": to_builtins(system.model_errors),
        "problems": [to_builtins(one) for one in system.problems],
    }


def without_ages(body: bytes) -> bytes:
    """A snapshot without its ages."""
    return _AGE.sub(b"", body)


# ``/api/system/history``: what Millpond did in the last hour or day, step by step.

RATES_FRESH_S = EVERY_S
"""Highest age of a response: processes save their numbers as often."""

TYPICAL, SLOW = 0.5, 0.95
"""The shares of turns for which durations are returned: the median, and all but the slowest 5 %."""


class RateEndpoints:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._process = site.process
        self._lock = anyio.Lock()
        self._newest: dict[Period, tuple[float, bytes]] = {}
        """Period → when it was read, by the monotonic clock, and its form as JSON."""

    async def read(self, request: Request) -> Response:
        """The numbers of the last hour or day, read once for all viewers."""
        period = _period(request)
        async with self._lock:
            at, body = self._newest.get(period, (-RATES_FRESH_S, b""))
            if (now := time.monotonic()) - at >= RATES_FRESH_S:
                body = await self._body(period)
                self._newest[period] = now, body
        return Response(body, media_type="application/json")

    async def _body(self, period: Period) -> bytes:
        history = await read_history(self._process.bus, self._process.clock, period)
        steps = [_form(step) for step in history.steps]
        body: bytes = encode(
            {"period": period, "step_s": history.step_s, "steps": steps, "total": _form(history.total)}
        )
        return body


def _period(request: Request) -> Period:
    asked = request.query_params.get("period", "hour")
    if asked in get_args(Period):
        return cast("Period", asked)
    raise HTTPException(400, f"{asked[:40]!r} is not a valid value for the `period` parameter. Use hour or day.")


def _form(step: RateStep) -> dict[str, Any]:
    return {
        "at": stamp(step.at),
        "messages": step.count("messages"),
        "answered": step.answered,
        "failed": step.failed,
        "turn_s": _durations(step, "turn_s"),
        "waited_s": _durations(step, "waited_s"),
        "tokens_in": step.count("in"),
        "cached_in": step.count("cached"),
        "tokens_out": step.count("out"),
        "cached_share": step.cached_share,
        "costs": step.costs,
    }


def _durations(step: RateStep, measure: str) -> list[float] | None:
    found = [step.duration(measure, share) for share in (TYPICAL, SLOW)]
    known = [round(each, 4) for each in found if each is not None]
    return known or None


class SystemEndpoints:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._snapshots = SystemSnapshots(site.process)
        self._streams = EventStreams(site.process.stopping, site.name)

    async def read(self, _request: Request) -> Response:
        """A snapshot that is at most two seconds old."""
        return Response((await self._snapshots.get()).body, media_type="application/json")

    async def events(self, request: Request) -> Response:
        """The same as events, one after each change."""
        await self._snapshots.get()  # so that an outage is reported as an error
        return self._streams.response(request, self._watch)

    async def _watch(self, write: Write) -> None:
        await write(b"retry: %d\n\n" % RETRY_MS)
        shown: SystemSnapshot | None = None
        while True:
            newest = await self._newest()
            if newest is not None and (shown is None or newest.is_news_after(shown)):
                await write(b"event: system\ndata: %s\n\n" % newest.body)
                shown = newest
            await anyio.sleep(FRESH_S)

    async def _newest(self) -> SystemSnapshot | None:
        try:
            return await self._snapshots.get()
        except BusError:
            return None  # the page shows the age of its last snapshot
