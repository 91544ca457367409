"""``/api/tools``: the tools, tool servers and skills of a bot; ``/api/tools/check`` contacts the servers."""

from typing import Any

import anyio
import msgspec
from msgspec import to_builtins
from msgspec.structs import replace
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.error_response import problem
from channels.web.request_params import decoded, json_response
from channels.web.site import Site
from daemon.cli.preflight import missing_programs
from daemon.config import BotConfig
from daemon.overview import read_tool_servers
from daemon.process import workspace_of
from daemon.services import EQUIPMENT, TOOLS, load

CHECK = 'The body must be {"bot": "pond"}.'
CHECK_S = 60.0
"""Time limit for a check: a tool server has 10 s, a web search 20 s by default."""


class _Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    bot: str


class ToolEndpoints:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._checking = anyio.CapacityLimiter(1)
        """A check starts programs: one at a time."""

    async def read(self, request: Request) -> Response:
        """The tools of ``?bot=``, by default the bot of the channel."""
        process = self._site.process
        name = request.query_params.get("bot", self._site.config.bot)
        bot = self._bot(name)
        seen = await read_tool_servers(process.bus, process.clock, name)
        servers: list[dict[str, Any]] = [
            {"name": server, "state": "unknown", "since": None, "reason": "", "tools": {}} for server in bot.mcp
        ]
        for server in servers:
            if state := seen.get(server["name"]):
                known = to_builtins(state)
                server.update({key: known[key] for key in ("state", "since", "reason", "tools")})
        found = await load(TOOLS)(bot, workspace_of(name, bot, process.data_dir))
        return json_response({"bot": name, "bots": list(process.config.bots), **found, "servers": servers})

    async def check(self, request: Request) -> Response:
        """Look at the workspace and contact the servers of a bot, as ``millpond doctor`` does."""
        wanted = await decoded(request, _Check, CHECK)
        config = replace(self._site.process.config, bots={wanted.bot: self._bot(wanted.bot)})
        async with self._checking, audited(request, "tools.check", wanted.bot):
            try:
                with anyio.fail_after(CHECK_S):
                    findings = await load(EQUIPMENT)(config)
            except TimeoutError:
                return problem(503, "too_slow", f"The check did not finish within {CHECK_S:g} s. Try again later.")
        found = [to_builtins(each) for each in findings]
        missing = [{"check": each.path, "state": "warning", "text": each.text} for each in missing_programs(config)]
        return json_response({"findings": [*missing, *found]})

    def _bot(self, name: str) -> BotConfig:
        found = self._site.process.config.bots.get(name)
        if found is None:
            raise HTTPException(404, f"The bot {name[:40]!r} was not found. GET /api/tools lists all bots.")
        return found
