"""``/api/usage``: tokens and costs of days, bots, people, sessions or models, and what is left of the limits today."""

from typing import Any, cast, get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.request_params import days_of, json_response
from channels.web.site import Site
from daemon.usage import NANO, Amount, By, RemainingLimit, UsageBook, last_days, nearest

ROWS = 200
"""Rows in one response, the largest."""


class UsageEndpoints:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._process = site.process

    async def read(self, request: Request) -> Response:
        """The usage of the last days by ``?by=``, and the limits of today."""
        process, by = self._process, _by(request)
        days = last_days(process.config, days_of(request), process.clock)[::-1]
        found = await UsageBook(process.bus).read(days, by=by)
        limits = await nearest(process.bus, process.config, process.clock)
        rows = list(found.items())[-ROWS:] if by == "day" else list(found.items())[:ROWS]
        return json_response(
            {
                "by": by,
                "days": days,
                "usage": [_row(*each) for each in rows],
                "more": len(found) - len(rows),
                "limits": [_limit(*each) for each in limits],
            }
        )


def _by(request: Request) -> By:
    asked = request.query_params.get("by", "day")
    if asked in get_args(By):
        return cast("By", asked)
    raise HTTPException(
        400, f"{asked[:40]!r} is not a valid value for the `by` parameter. Use one of {', '.join(get_args(By))}."
    )


def _row(name: str, amount: Amount) -> dict[str, Any]:
    return {
        "name": name,
        "messages": amount.messages,
        "calls": amount.calls,
        "estimated": amount.estimated,
        "tokens_in": amount.tokens_in,
        "cached_in": amount.cached_in,
        "cached_share": amount.cached_share,
        "tokens_out": amount.tokens_out,
        "cost": amount.costs(),
        "cached_cost": amount.cached_costs(),
    }


def _limit(bot: str, left: RemainingLimit) -> dict[str, Any]:
    unit = 1 if left.limited.currency is None else NANO
    return {
        "bot": bot,
        "limit": f"{left.limited.setting}.{left.whose}",
        "name": left.name.removeprefix(f"{bot} "),
        "currency": left.limited.currency,
        "used": left.used / unit if unit > 1 else left.used,
        "of": left.limit / unit if unit > 1 else left.limit,
        "left": left.left / unit if unit > 1 else left.left,
        "lasts_s": None if left.lasts_s is None else round(left.lasts_s),
        "lasts_all_day": left.lasts_all_day,
    }
