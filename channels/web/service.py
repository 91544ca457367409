"""The role ``web``: a server for each configured channel of this type, until the process stops."""

import shlex
import socket
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial

import anyio
import msgspec
import structlog
from anyio import to_thread
from msgspec.structs import replace

from channels.http import Server, address_of, listen
from channels.web.app import application
from channels.web.request_guard import OpenRequests
from channels.web.site import Site
from daemon.concurrency import until_tick
from daemon.config import WebConfig
from daemon.errors import BusError
from daemon.heartbeat import beat
from daemon.operators import LoginCodes, fingerprint, link, local_token
from daemon.overview import token_conflicts
from daemon.process import Process

# The lines that a web channel shows to the person who started the process. Pure.

NO_LINK = "page: to log in to the web page, run `millpond page` and open the printed link"
"""Where others can read the output, or the output is kept: a link gives the rights of an operator."""


def curl_line(site: Site) -> str:
    """A request with the token, ready to be pasted into a shell; the token itself is not shown."""
    address, name = f"{site.address}/api/sessions", site.name
    if site.config.open:
        return f"API: curl {address}"
    if site.header_file is None:
        return f"API: curl -H 'Authorization: Bearer <token>' {address}   (<token>: channels.{name}.token)"
    return f"API: curl -H {shlex.quote(f'@{site.header_file}')} {address}"


def made_line(path: str) -> str:
    """What is new, at the first start with a token."""
    return (
        f"The API requires a token. Millpond generated a token and stored it in {path}. All programs that use the API "
        "must send this token."
    )


GRACE_S = 1.0
"""How long requests may continue once the process stops; event streams end at once."""

INVITE_S = 2.0
"""Longest delay of a start by making a log-in link."""

COMPARE_S = 10.0
"""How often the tokens of the processes are compared; a heartbeat tells them every 5 s."""

_log = structlog.get_logger()


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Serve the API; started once every channel listens, stopped within two seconds of ``process.stopping``.

    Raises:
        ConfigError: a channel cannot listen on its configured address, or the token of the data directory cannot be
            made or read.
    """
    with ExitStack() as stack:
        listening: list[tuple[Site, socket.socket]] = []
        for name, config in process.config.channels.items():
            if isinstance(config, WebConfig) and config.enabled:
                taken = stack.enter_context(await listen(f"channels.{name}", config.host, config.port))
                site = Site(process=process, name=name, config=config, address=address_of(taken, config.host))
                listening.append((await _with_token(site), taken))
        async with anyio.create_task_group() as background:
            addresses = {site.name: site.address for site, _ in listening}
            tokens = {site.name: fingerprint(site.config.token) for site, _ in listening}
            background.start_soon(partial(beat, process, "web", lambda: 0, addresses, tokens=tokens))
            background.start_soon(_compare_tokens, process, tokens)
            async with anyio.create_task_group() as sites:
                for site, taken in listening:
                    await sites.start(_serve_site, site, taken)
                    await _invite(site)
                task_status.started()
                await process.stopping.wait()
            background.cancel_scope.cancel()


async def _with_token(site: Site) -> Site:
    """``site`` with a token: the configured one, or else the one of the data directory."""
    if site.config.token:
        return site
    local = await to_thread.run_sync(local_token, site.process.data_dir)
    if local.made:
        site.process.announce(made_line(str(local.path)))
        _log.info("token.made")
    if local.warning:
        _log.warning("token.readable", reason=local.warning)
    return replace(site, config=msgspec.structs.replace(site.config, token=local.secret), header_file=local.path)


async def _compare_tokens(process: Process, tokens: Mapping[str, str]) -> None:
    """Report processes that serve the same channel with another token: clients reach one of them by chance."""
    known: list[str] = []
    while True:
        await anyio.sleep(until_tick(COMPARE_S))
        with suppress(BusError):
            found = await token_conflicts(process.bus, tokens)
            for text in found:
                if text not in known:
                    _log.warning("token.differs", reason=text)
            known = found


async def _invite(site: Site) -> None:
    """Show a log-in link to the person who started the process; `millpond page` does the same at any time."""
    if site.process.invite is None:
        site.process.announce(NO_LINK)
        return
    with anyio.move_on_after(INVITE_S), suppress(BusError):
        site.process.invite(link(site.address, await LoginCodes(site.process.bus).offer(site.name)))


async def _serve_site(site: Site, listening: socket.socket, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    def on_listening() -> None:
        site.process.announce(site.address)
        site.process.announce(curl_line(site))
        _log.info("web.started", channel=site.name, address=site.address)
        task_status.started()

    requests = OpenRequests()
    limit = site.config.limits.connections_per_peer
    server = Server(application(site, requests), on_listening=on_listening, connections_per_peer=limit)
    try:
        async with anyio.create_task_group() as tg:
            tg.start_soon(_stop, site.process.stopping, server, requests)
            await server.serve([listening])
            tg.cancel_scope.cancel()
    finally:
        requests.cancel()
        await server.clear()


async def _stop(stopping: anyio.Event, server: Server, requests: OpenRequests) -> None:
    await stopping.wait()
    server.stop()
    await anyio.sleep(GRACE_S)
    requests.cancel()
