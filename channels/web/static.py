"""The page: all its addresses return one document, which loads the rest from ``/page/`` and the API.

The files are read once and kept in memory, so that an address is only a name among them and cannot reach other files.
"""

import gzip
import hashlib
from functools import cached_property
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from channels.web.site import Site
from daemon.operators import FILE_NAME

# ``GET /``: a short description of the API.

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
The {FILE_NAME} file in the data directory contains the API token.
"""


class ApiDescription:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        token, where = (_CONFIGURED, "") if site.header_file is None else (_LOCAL, _WHERE)
        if site.config.open:
            token = where = ""
        self._text = _TEXT.format(name=site.name, bot=site.config.bot, address=site.address, token=token, where=where)

    async def read(self, _request: Request) -> Response:
        """The page, plain text."""
        return PlainTextResponse(self._text)


FILES = Path(__file__).with_name("page")

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""File types of the page; other files in its folder are not served."""

PLACES = (
    "/s/{rest:path}",
    "/memory",
    "/memory/{rest:path}",
    "/reminders",
    "/system",
    "/system/{rest:path}",
    "/login",
    "/settings",
    "/settings/{rest:path}",
)
"""Addresses of the page besides ``/``; its script ``app.js`` decides what each shows."""

BELOW = ("/page/", *(place.partition("{")[0] for place in PLACES if "{" in place))
"""Beginnings of the addresses of the page and of its files."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Whatever the texts contain, only files of this page run, and nothing is loaded from or sent to another server."""

HEADERS = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache", "Cross-Origin-Opener-Policy": "same-origin"}
"""``no-cache``: the browser keeps the file and checks each time whether it has changed."""


class _File:
    """One file of the page: plain, and compressed to a third for clients that accept it.

    The files in folders, for languages of code and of the page, are read when a browser asks for them.
    """

    def __init__(self, path: Path) -> None:
        self._kind = KINDS[path.suffix]
        self._path = path
        if path.parent == FILES:  # the files of one version go together, also after an upgrade below a running process
            _ = self._tag

    @cached_property
    def _plain(self) -> bytes:
        return self._path.read_bytes()

    @cached_property
    def _tag(self) -> str:
        return hashlib.sha256(self._plain).hexdigest()[:20]

    @cached_property
    def _small(self) -> bytes:
        # Without the time, the same content gives the same bytes in every process.
        return gzip.compress(self._plain, mtime=0)

    def answer(self, request: Request, *, vary: str = "") -> Response:
        """The file, or 304 if the browser has it; ``vary`` names further headers that the response depends on."""
        small = "gzip" in request.headers.get("accept-encoding", "").lower()
        tag = f'"{self._tag}{"-gz" if small else ""}"'
        headers = {"ETag": tag, "Vary": f"Accept-Encoding{vary}", **HEADERS}
        known = [each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")]
        if tag in known:
            return Response(status_code=304, headers=headers)
        if small:
            headers["Content-Encoding"] = "gzip"
        return Response(self._small if small else self._plain, headers=headers, media_type=self._kind)


class Page:
    """The endpoints of the page on one site; ``front`` is the response of ``/`` to other clients than browsers."""

    def __init__(self, front: ApiDescription) -> None:
        self._front = front
        paths = [path for path in sorted(FILES.rglob("*")) if path.suffix in KINDS]
        self._files = {path.relative_to(FILES).as_posix(): _File(path) for path in paths}

    def routes(self) -> list[Route]:
        """The addresses of the page."""
        return [
            Route("/", self.first),
            Route("/page/{name:path}", self.file),
            *(Route(place, self.place) for place in PLACES),
        ]

    async def first(self, request: Request) -> Response:
        """``/``: the page for a browser, a short text for other clients."""
        if not wants_page(request):
            answer = await self._front.read(request)
            answer.headers["Vary"] = "Accept"
            return answer
        return self._document(request)

    async def place(self, request: Request) -> Response:
        """An address of the page; 404 for other clients than browsers."""
        if not wants_page(request):
            raise HTTPException(404)
        return self._document(request)

    async def file(self, request: Request) -> Response:
        """A file by its name."""
        found = self._files.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return found.answer(request)

    def _document(self, request: Request) -> Response:
        return self._files["index.html"].answer(request, vary=", Accept")


def wants_page(request: Request) -> bool:
    """Whether the client is a browser: it accepts HTML by name, while curl accepts anything."""
    return "text/html" in request.headers.get("accept", "").lower()


def is_page(path: str) -> bool:
    """Whether ``path`` belongs to the page, which contains no secret and needs no token."""
    return path in PLACES or path.startswith(BELOW)
