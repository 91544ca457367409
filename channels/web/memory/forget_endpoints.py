"""``POST …/forget``: finds a text in all data of a memory, then has chosen matches forgotten, in two steps."""

import secrets
from typing import Annotated, Literal

import anyio
import msgspec
from msgspec import Meta
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.error_response import problem
from channels.web.memory.memory_endpoints import scope_asked
from channels.web.ordered_jobs import OrderedJobs
from channels.web.request_params import decoded, json_response
from channels.web.site import Site
from daemon.forget import ForgetOrder, ForgetSearch, choice_of, matches_of, scopes_with
from daemon.forget.text_matcher import MOST_CHARS
from daemon.memory import Memories

LOOK_S = 60.0
"""Time limit of the search."""

FORM = (
    'Search with {"words": "…"}. To delete matches, send {"token": "…", "choose": [1, 3]} or '
    '{"token": "…", "choose": "all"}.'
)


class _Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    words: str | None = None
    token: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    choose: Annotated[tuple[int, ...], Meta(min_length=1, max_length=1_000)] | Literal["all"] | None = None


class ForgetEndpoints:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        process = site.process
        self._bus = process.bus
        self._memories = Memories(process.bus, process.archive)
        self._jobs = OrderedJobs(site)
        self._stores = self._jobs.stores
        self._asking = self._jobs.asking

    async def post(self, request: Request) -> Response:
        """Search, or have chosen matches of a search forgotten."""
        wanted = await decoded(request, _Body, FORM)
        scope = await scope_asked(request, self._bus, self._memories, parts=5)
        if wanted.words is not None and wanted.token is None and wanted.choose is None:
            return await self._look(scope, wanted.words)
        if wanted.token is not None and wanted.choose is not None and wanted.words is None:
            async with audited(request, "memory.forget", scope) as doing:
                chosen = wanted.choose if isinstance(wanted.choose, tuple) else None
                order, search = await self._chosen(scope, wanted.token, chosen)
                doing.outcome = "ordered"
                return await self._jobs.forget(order, search, name=wanted.token)
        raise HTTPException(400, FORM)

    async def _look(self, scope: str, words: str) -> Response:
        if choice_of(words).kind in ("nothing", "short", "long"):
            raise HTTPException(
                400,
                f"The search text is too short or too long. Send 2 to {MOST_CHARS} characters from the text "
                "that you want to forget.",
            )
        try:
            with anyio.fail_after(LOOK_S):
                found = await matches_of(self._stores, await self._order(scope), words)
        except TimeoutError:
            advice = f"Run `millpond memory forget {scope} WORDS`, which has no time limit."
            return problem(503, "too_slow", f"The search took longer than {LOOK_S:.0f} s. {advice}")
        token = secrets.token_urlsafe(16)
        # Stored under the name of the scope, so that a list of one memory cannot be used for another.
        await self._asking.keep(scope, words, found, by=token)
        shown = [
            {"number": number, "text": match.excerpt, "where": match.tier, "time": match.time, "places": match.places}
            for number, match in enumerate(found.shown, 1)
        ]
        told = {"scope": scope, "token": token if shown else "", "found": shown, "more": found.more}
        return json_response({**told, "counts": found.counts, "failed": found.failed, "waits": found.waits})

    async def _order(self, scope: str) -> ForgetOrder:
        return ForgetOrder(name=scope, scopes=await scopes_with(self._bus, scope), chat=scope)

    async def _chosen(
        self, scope: str, token: str, numbers: tuple[int, ...] | None
    ) -> tuple[ForgetOrder, ForgetSearch]:
        pending = await self._asking.pending(scope, by=token)
        if pending is None:
            raise HTTPException(409, "This list has expired. Search again.")
        count = len(pending.groups)
        for number in numbers or ():
            if not 1 <= number <= count:
                raise HTTPException(
                    400, f"The list of search results has no entry {number}. Choose numbers from 1 to {count}."
                )
        groups = None if numbers is None else tuple(pending.groups[number - 1] for number in numbers)
        return await self._order(scope), ForgetSearch(text=pending.text, chosen=groups)
