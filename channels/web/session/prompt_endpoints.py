"""``GET …/context`` and ``GET …/prompt``: the next prompt of a session, in numbers and word by word."""

from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import Response

from channels.web.error_response import problem
from channels.web.json_body import json_response
from channels.web.message_endpoints import Messages
from channels.web.request_params import session_in_path
from channels.web.site import Site
from daemon.access import is_listed
from daemon.services import FILLING, PREVIEW, load
from daemon.session import SessionReader
from daemon.sessionkey import SessionKey

PROMPT_S = 30.0
"""Time limit for a prompt: tool servers are asked for their tools."""


class Filled:
    """The endpoints of one site."""

    def __init__(self, site: Site, messages: Messages) -> None:
        self._site = site
        self._messages = messages
        self._reader = SessionReader(site.process.bus)

    async def context(self, request: Request) -> Response:
        """Tokens by part, and the sizes at which the session is flushed and consolidated."""
        key = session_in_path(request, self._site.name)
        found: dict[str, Any] = await load(FILLING)(self._site.process, str(key), bot=self._site.config.bot)
        return json_response({**found, "models": await self._models(request, key)})

    async def _models(self, request: Request, key: SessionKey) -> list[str]:
        """The models that the person of this session may choose here by ``/model``; empty if there is no choice."""
        bot = self._site.process.config.bots.get(self._site.config.bot)
        if bot is None or key.channel != self._site.name:
            return []
        sender = await self._messages.sender(request, key)
        may = is_listed(bot, channel=key.channel, sender=sender) and len(bot.model.names) > 1
        return bot.model.names if may else []

    async def prompt(self, request: Request) -> Response:
        """The exact prompt."""
        session = str(session_in_path(request, self._site.name))
        if not (await self._reader.state(session)).exists:
            return problem(
                404, "no_session", f"Session {session} has no messages, so it has no prompt yet. Send a message first."
            )
        try:
            with anyio.fail_after(PROMPT_S):
                found: dict[str, Any] = await load(PREVIEW)(self._site.process, session)
        except TimeoutError:
            return problem(
                503,
                "too_slow",
                f"The prompt was not ready within {PROMPT_S:.0f} s because a tool server is slow. Try again later.",
            )
        return json_response({**found, "parts": _parts(found)})


def _parts(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts in the order of the prompt: parts of the system message as text, the others as ranges of messages."""
    parts: list[dict[str, Any]] = [
        {"name": section["part"], "tokens": section["tokens"], "text": section["text"]} for section in found["system"]
    ]
    tokens = found["parts"]
    parts.append({"name": "tools", "tokens": tokens["tools"], "text": ""})
    # Recalled memories may stand beside the newest message instead of in the system message.
    beside = tokens["recalled"] - sum(part["tokens"] for part in parts if part["name"] == "recalled")
    if beside:
        parts.append({"name": "recalled", "tokens": beside, "text": ""})
    for name, (first, upto) in found["stretches"].items():
        parts.append({"name": name, "tokens": tokens[name], "text": "", "first": first, "upto": upto})
    return parts
