"""``GET /``: a short description of the API."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from channels.web.site import Site
from daemon.operators import FILE_NAME

_TEXT = """\
Millpond: chat bots whose conversations never run out of context.
This is the HTTP API of the channel "{name}". Send a message to the bot {bot}:

  curl {token}-H 'Content-Type: application/json' \\
       -d '{{"session": "me", "text": "Hello"}}' {address}/api/messages

Read messages, follow events, or list all conversations:

  curl {token}{address}/api/sessions/me/messages
  curl {token}-N '{address}/api/events?session=me'
  curl {token}{address}/api/sessions

Monitor Millpond with {address}/healthz, /readyz and /metrics
{where}"""

_CONFIGURED = "-H 'Authorization: Bearer <token>' "
_LOCAL = f"-H @{FILE_NAME} "
_WHERE = f"""
The file {FILE_NAME} in the data directory contains the token of the API.
"""


class Front:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        token, where = (_CONFIGURED, "") if site.header_file is None else (_LOCAL, _WHERE)
        if site.config.open:
            token = where = ""
        self._text = _TEXT.format(name=site.name, bot=site.config.bot, address=site.address, token=token, where=where)

    async def read(self, _request: Request) -> Response:
        """The page, plain text."""
        return PlainTextResponse(self._text)
