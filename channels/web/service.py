"""The role ``web``: a server for each configured channel of this type, until the process stops."""

import socket
from contextlib import ExitStack, suppress

import anyio
import structlog

from channels.http import Server, address_of, listen
from channels.web.app import application
from channels.web.guard import Requests
from channels.web.site import Site
from daemon.config import WebConfig
from daemon.errors import BusError
from daemon.heartbeat import beat
from daemon.operators import Logins, link
from daemon.process import Process

GRACE_S = 1.0
"""How long requests may continue once the process stops; event streams end at once."""

INVITE_S = 2.0
"""Longest delay of a start by making a log-in link."""

_log = structlog.get_logger()


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Serve the API; started once every channel listens, stopped within two seconds of ``process.stopping``.

    Raises:
        ConfigError: a channel cannot listen on its configured address.
    """
    with ExitStack() as stack:
        listening: list[tuple[Site, socket.socket]] = []
        for name, config in process.config.channels.items():
            if isinstance(config, WebConfig) and config.enabled:
                taken = stack.enter_context(await listen(f"channels.{name}", config.host, config.port))
                site = Site(process=process, name=name, config=config, address=address_of(taken, config.host))
                listening.append((site, taken))
        async with anyio.create_task_group() as background:
            addresses = {site.name: site.address for site, _ in listening}
            background.start_soon(beat, process, "web", lambda: 0, addresses)
            async with anyio.create_task_group() as sites:
                for site, taken in listening:
                    await sites.start(_serve_site, site, taken)
                    await _invite(site)
                task_status.started()
                await process.stopping.wait()
            background.cancel_scope.cancel()


async def _invite(site: Site) -> None:
    """Show a log-in link to the person who started the process; `millpond page` does the same at any time."""
    if site.process.invite is None:
        return
    with anyio.move_on_after(INVITE_S), suppress(BusError):
        site.process.invite(link(site.address, await Logins(site.process.bus).offer(site.name)))


async def _serve_site(site: Site, listening: socket.socket, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    def on_listening() -> None:
        site.process.announce(site.address)
        _log.info("web.started", channel=site.name, address=site.address)
        task_status.started()

    requests = Requests()
    server = Server(application(site, requests), on_listening=on_listening)
    try:
        async with anyio.create_task_group() as tg:
            tg.start_soon(_stop, site.process.stopping, server, requests)
            await server.serve([listening])
            tg.cancel_scope.cancel()
    finally:
        requests.cancel()
        await server.clear()


async def _stop(stopping: anyio.Event, server: Server, requests: Requests) -> None:
    await stopping.wait()
    server.should_exit = True
    await anyio.sleep(GRACE_S)
    requests.cancel()
