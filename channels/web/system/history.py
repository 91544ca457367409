"""``/api/system/history``: what Millpond did in the last hour or day, step by step."""

from typing import Any, cast, get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.body import json_response
from channels.web.site import Site
from daemon.clock import stamp
from daemon.rates import Period, Step, read_history

TYPICAL, SLOW = 0.5, 0.95
"""The shares of turns for which durations are returned: the median, and all but the slowest 5 %."""


class HistoryPages:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._process = site.process

    async def read(self, request: Request) -> Response:
        """The numbers of the last hour or day."""
        period = _period(request)
        history = await read_history(self._process.bus, self._process.clock, period)
        return json_response(
            {
                "period": period,
                "step_s": history.step_s,
                "steps": [_form(step) for step in history.steps],
                "total": _form(history.total),
            }
        )


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
