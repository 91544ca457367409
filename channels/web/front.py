"""``GET /``: a short introduction."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from channels.web.site import Site

_TEXT = "Millpond: chat bots whose conversations never run out of context.\nThis is the HTTP API "
'of the channel "{name}". Talk to its bot, {bot}:\n\n  curl {token}-H '
'\'Content-Type: application/json\' \\\n       -d \'{{"session": "me", "text": '
'"Hello"}}\' {address}/api/messages\n\nRead the messages, follow them live, list '
"all conversations:\n\n  curl {token}{address}/api/sessions/me/messages\n  curl "
"{token}-N '{address}/api/events?session=me'\n  curl "
"{token}{address}/api/sessions\n\nFor monitoring: {address}/healthz, /readyz and "
"/metrics\n"

_AUTHORIZED = "-H 'Authorization: Bearer <token>' "


class Front:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._text = _TEXT.format(
            name=site.name, bot=site.config.bot, address=site.address, token=_AUTHORIZED if site.config.token else ""
        )

    async def read(self, _request: Request) -> Response:
        """The page, plain text."""
        return PlainTextResponse(self._text)
