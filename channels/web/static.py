"""The page: its addresses all answer with one document, which reads the rest from ``/page/`` and the API.

The files are read once and kept, so that an address is looked up by name alone, and nothing outside can be reached.
"""

import gzip
import hashlib
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from channels.web.front import Front

FILES = Path(__file__).with_name("page")

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""What the page is made of; nothing else in its folder is served."""

PLACES = ("/s/{rest:path}", "/memory", "/memory/{rest:path}", "/system", "/system/{rest:path}", "/login")
"""Addresses at which the page shows something, beside ``/``; which, its own script decides (``app.js``)."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Whatever a model or a person wrote: only our own files run, and nothing is loaded from or sent elsewhere."""

HEADERS = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache", "Cross-Origin-Opener-Policy": "same-origin"}
"""``no-cache``: kept by the browser, and asked for each time whether it is still the same."""


class _File:
    """One file of the page, as it is answered with: plain, or compressed to a third for who takes that."""

    def __init__(self, path: Path) -> None:
        self._kind = KINDS[path.suffix]
        self._plain = path.read_bytes()
        # The time is left out: the same content is the same bytes in every process.
        self._small = gzip.compress(self._plain, mtime=0)
        self._tag = hashlib.sha256(self._plain).hexdigest()[:20]

    def answer(self, request: Request, *, vary: str = "") -> Response:
        """The file, or 304 when the browser has it; ``vary`` names what else the answer depends on."""
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
    """The endpoints of the page on one site; ``front`` is what ``/`` says to what is no browser."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._files = {path.name: _File(path) for path in sorted(FILES.iterdir()) if path.suffix in KINDS}

    def routes(self) -> list[Route]:
        """The addresses of the page."""
        return [
            Route("/", self.first),
            Route("/page/{name}", self.file),
            *(Route(place, self.place) for place in PLACES),
        ]

    async def first(self, request: Request) -> Response:
        """``/``: the page for a browser, a few lines of text for all else."""
        if not wants_page(request):
            answer = await self._front.read(request)
            answer.headers["Vary"] = "Accept"
            return answer
        return self._document(request)

    async def place(self, request: Request) -> Response:
        """An address of the page's own; 404 for what is no browser."""
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
    """Whether a browser asks for something to show: it names HTML, where curl takes anything."""
    return "text/html" in request.headers.get("accept", "").lower()


def is_page(path: str) -> bool:
    """Whether ``path`` belongs to the page, which has no secret and is shown to whoever asks."""
    return path in ("/memory", "/system", "/login") or path.startswith(("/page/", "/s/", "/memory/", "/system/"))
