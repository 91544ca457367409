"""``/livez``, ``/healthz``, ``/readyz`` and ``/metrics``: the state of a process, for machines.

Its endpoints contain no text of conversations and change nothing. They need no token and accept any host name.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial

import anyio
import structlog
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from channels.http import address_of, listen, serving
from channels.web.request_params import json_response
from daemon.bus import Bus, translated
from daemon.clock import age_s
from daemon.config import PushConfig
from daemon.errors import BusError, LoginRefused
from daemon.heartbeat import STALE_S, workers
from daemon.permission_check import RedisRights
from daemon.process import Process
from daemon.services import ROLES
from daemon.session import oldest_s, overdue_s, standings

PING_S = 1.0
"""Time limit for a response of Redis."""

GAUGES_S = 2.0
"""Time limit for reading the lengths of queues. Without them, /metrics still has the counters of this process."""


class HealthEndpoints:
    """The endpoints of one process."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @property
    def routes(self) -> list[Route]:
        """The address of each endpoint."""
        return [
            Route("/livez", self.livez),
            Route("/healthz", self.healthz),
            Route("/readyz", self.readyz),
            Route("/metrics", self.metrics),
        ]

    async def livez(self, _request: Request) -> Response:
        """Whether this process responds at all. A restart would help only if it does not."""
        return _verdict("")

    async def healthz(self, _request: Request) -> Response:
        """Whether Redis responds and accepts writes, as far as this process has tried any."""
        return _verdict(await self._redis_problem())

    async def readyz(self, _request: Request) -> Response:
        """As ``healthz``, and whether this process has loaded what its work needs and is not stopping."""
        if self._process.stopping.is_set():
            return _verdict("this process is stopping", status="stopping")
        if not self._process.started.is_set():
            return _verdict("this process is starting", status="starting")
        return _verdict(await self._redis_problem())

    async def metrics(self, _request: Request) -> Response:
        """The counters of this process, and the lengths of the queues."""
        text = generate_latest() + await self._gauges()
        return Response(text, media_type=CONTENT_TYPE_LATEST)

    async def _redis_problem(self) -> str:
        if suspended := self._process.bus.suspension.reason:
            return suspended
        with anyio.move_on_after(PING_S):
            try:
                # A server that cannot write to its disk refuses PING, which would be sent again until it is mended.
                await self._process.bus.call("ECHO", "")
            except LoginRefused as error:
                return str(error)
            except BusError:
                return "Redis does not respond"
            if refused := self._process.bus.refusing or self._process.shared(RedisRights).reason:
                return str(refused)
            return "Redis accepts no commands" if self._process.bus.failing else ""
        return f"Redis did not respond within {PING_S:g} s"

    async def _gauges(self) -> bytes:
        gauges = b""
        with anyio.move_on_after(GAUGES_S):
            try:
                gauges = await _queues(self._process)
            except* BusError:
                """The counters of this process are shown without them."""
        return gauges


def _verdict(reason: str, status: str = "unavailable") -> Response:
    if not reason:
        return json_response({"status": "ok"})
    return json_response({"status": status, "reason": reason}, 503)


async def _queues(process: Process) -> bytes:
    registry = CollectorRegistry()
    bus, clock = process.bus, process.clock
    await _lengths(registry, bus)
    await _outboxes(registry, process)
    oldest = Gauge("millpond_oldest_waiting_seconds", "Age of the oldest unanswered message", registry=registry)
    oldest.set(await oldest_s(bus, bus.keys.inbox))
    found = await standings(bus)
    in_flight = sum(standing.held for standing in found)
    Gauge(
        "millpond_in_flight",
        "Conversations that a worker is processing (at most 1,000 conversations are examined)",
        registry=registry,
    ).set(in_flight)
    parked = sum(standing.parked for standing in found)
    Gauge(
        "millpond_parked",
        "Conversations that are waiting for a retry after a failure (at most 1,000 conversations are examined)",
        registry=registry,
    ).set(parked)
    lag = Gauge(
        "millpond_consolidation_lag_seconds",
        "Delay of the most overdue summary of a conversation, in seconds",
        registry=registry,
    )
    lag.set(await overdue_s(bus))
    alive = Counter(beat.role for _, beat in await workers(bus) if age_s(beat.seen, clock) <= STALE_S)
    living = Gauge("millpond_workers", "Live processes by role", ["role"], registry=registry)
    for role in ROLES:
        living.labels(role).set(alive[role])
    return generate_latest(registry)


async def _lengths(registry: CollectorRegistry, bus: Bus) -> None:
    keys = bus.keys
    for name, what, command, key in (
        ("backlog", "Messages that were accepted but have not been answered yet", "XLEN", keys.inbox),
        ("ready", "Conversations that are ready for the next free worker", "ZCARD", keys.ready),
        ("due", "Sessions with pending work", "ZCARD", keys.due),
        ("unsettled", "Conversations with older messages that must be summarized", "ZCARD", keys.unsettled),
        ("dead", "Messages that could not be answered, and replies that could not be delivered", "XLEN", keys.dead),
        ("unknown", "Parts of replies with unknown delivery status", "XLEN", keys.unknown),
    ):
        Gauge(f"millpond_{name}", what, registry=registry).set(await _total(bus, command, key))


async def _outboxes(registry: CollectorRegistry, process: Process) -> None:
    """Labelled by channel; the configuration bounds their number."""
    bus = process.bus
    out = Gauge("millpond_out", "Replies queued for a chat platform", ["channel"], registry=registry)
    age = Gauge(
        "millpond_out_oldest_seconds",
        "Age of the oldest reply queued for a chat platform",
        ["channel"],
        registry=registry,
    )
    for name, channel in process.config.channels.items():
        if isinstance(channel, PushConfig):
            key = partial(bus.keys.out, channel=name)
            out.labels(name).set(await _total(bus, "XLEN", key))
            age.labels(name).set(await oldest_s(bus, key))


async def _total(bus: Bus, command: str, key: Callable[[int], str]) -> int:
    """The sum over all partitions."""
    total = 0
    for answer in await bus.each([(command, key(partition)) for partition in range(bus.keys.partitions)]):
        if isinstance(answer, BaseException):
            raise translated(answer) from answer
        total += int(answer)
    return total


# ``[health]``: the state of a process for machines, with any role.

_log = structlog.get_logger()


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Serve until cancelled; started once it listens.

    Raises:
        ConfigError: it cannot listen on its configured address.
    """
    config = process.config.health
    with await listen("health", config.host, config.port) as listening:
        async with serving(Starlette(routes=HealthEndpoints(process).routes), listening):
            _log.info("health.started", address=address_of(listening, config.host))
            task_status.started()
            await anyio.sleep_forever()
