"""``/api/system``, once and as Server-Sent Events."""

import anyio
from starlette.requests import Request
from starlette.responses import Response

from channels.web.event_streams import Streams, Write
from channels.web.event_viewer import RETRY_MS
from channels.web.site import Site
from channels.web.system.system_snapshots import FRESH_S, Snapshot, Snapshots
from daemon.errors import BusError

AGES_EVERY_S = 10.0
"""How often a snapshot is sent if only ages have changed."""


class SystemPages:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._snapshots = Snapshots(site.process)
        self._streams = Streams(site.process.stopping, site.name)

    async def read(self, _request: Request) -> Response:
        """A snapshot that is at most two seconds old."""
        return Response((await self._snapshots.get()).body, media_type="application/json")

    async def events(self, request: Request) -> Response:
        """The same as events, one after each change."""
        await self._snapshots.get()  # so that an outage is reported as an error
        return self._streams.response(request, self._watch)

    async def _watch(self, write: Write) -> None:
        await write(b"retry: %d\n\n" % RETRY_MS)
        shown: Snapshot | None = None
        while True:
            newest = await self._newest()
            if newest is not None and (shown is None or _is_news(shown, newest)):
                await write(b"event: system\ndata: %s\n\n" % newest.body)
                shown = newest
            await anyio.sleep(FRESH_S)

    async def _newest(self) -> Snapshot | None:
        try:
            return await self._snapshots.get()
        except BusError:
            return None  # the page shows the age of its last snapshot


def _is_news(shown: Snapshot, newest: Snapshot) -> bool:
    return newest.number != shown.number or newest.at - shown.at >= AGES_EVERY_S
