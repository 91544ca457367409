"""The web channel of the shared process, for tests of what the page looks at."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
import msgspec

from channels.web.service import serve
from daemon.config import ChannelConfig, Secret, WebConfig
from daemon.process import Process
from tests.limits import HANG_S

TOKEN = "an operator's token"
MEMBER = "a member's token"
NONE: Mapping[str, ChannelConfig] = {}


@dataclass(frozen=True, kw_only=True)
class Page:
    process: Process
    client: httpx2.AsyncClient
    stranger: httpx2.AsyncClient

    async def get(self, path: str, **query: Any) -> Any:
        response = await self.client.get(path, params=query or None)
        assert response.status_code == 200, response.text
        return response.json()

    async def refused(self, path: str, status: int, *, method: str = "GET", **more: Any) -> str:
        response = await self.client.request(method, path, **more)
        assert response.status_code == status, response.text
        code: str = response.json()["error"]["code"]
        return code


def client_of(address: str, **headers: str) -> httpx2.AsyncClient:
    """A client of an address without TLS; to read the machine's certificates takes 20 ms."""
    return httpx2.AsyncClient(base_url=address, headers=headers, timeout=HANG_S, verify=False)


def addresses_in(said: list[str]) -> list[str]:
    """The addresses among the lines that were said at a start."""
    return [line for line in said if line.startswith("http")]


@asynccontextmanager
async def page_of(
    process: Process, *, token: str = TOKEN, beside: Mapping[str, ChannelConfig] = NONE
) -> AsyncGenerator[Page]:
    """The web channel of a process, served for the length of a block; without ``token`` nobody is an operator.

    ``beside``: the other channels of the configuration.
    """
    said: list[str] = []
    channels = {**beside, "web": WebConfig(port=0, token=Secret(token), member_token=Secret(MEMBER))}
    config = msgspec.structs.replace(process.config, channels=channels)
    process = replace(process, config=config, announce=said.append, stopping=anyio.Event())
    async with anyio.create_task_group() as tg:
        await tg.start(serve, process)
        async with client_of(said[0], Authorization=f"Bearer {TOKEN}") as operator, client_of(said[0]) as stranger:
            yield Page(process=process, client=operator, stranger=stranger)
        tg.cancel_scope.cancel()  # no test waits for a server's grace


def at(scope: str, rest: str = "") -> str:
    return f"/api/memory/{quote(scope, safe='')}{rest}"
