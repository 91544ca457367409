"""``/api/system/history``: what Millpond did in the last hour or day, step by step."""

import time
from typing import Any, cast, get_args

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.message_view import encode
from channels.web.site import Site
from daemon.clock import stamp
from daemon.rates import EVERY_S, Period, Step, read_history

FRESH_S = EVERY_S
"""Highest age of a response: processes save their numbers as often."""

TYPICAL, SLOW = 0.5, 0.95
"""The shares of turns for which durations are returned: the median, and all but the slowest 5 %."""


class HistoryPages:
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
            at, body = self._newest.get(period, (-FRESH_S, b""))
            if (now := time.monotonic()) - at >= FRESH_S:
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
    raise HTTPException(400, f"{asked[:40]!r} is not a valid value of the parameter period. Use hour or day.")


def _form(step: Step) -> dict[str, Any]:
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


def _durations(step: Step, measure: str) -> list[float] | None:
    found = [step.duration(measure, share) for share in (TYPICAL, SLOW)]
    known = [round(each, 4) for each in found if each is not None]
    return known or None
