"""What an agent worker's work costs, counted in the very process: a program of its own, see ``benchmarks.costs``.

``python -m benchmarks.cost run --role agent`` is ``millpond`` that answers questions of its standard input, a line
each, with ``cpu:`` and seconds: ``spent`` with those that the process has used so far, ``bare N`` with those of one of
N calls of the model as the last turn made it, through the SDK's HTTP layer alone and read to the end.

It imports nothing of the tests, which take the environment's settings away.
"""

import sys
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import cast

import anyio
import anyio.abc
import httpx2
import openai

from daemon.config.schema import ModelConfig
from daemon.model import Chunk, Model, Request
from daemon.model.dialect import Dialect
from daemon.process import Process
from daemon.services import ROLES
from workers.agent.service import serve as serve_agent


class Watched:
    """A model, and what it was asked last."""

    def __init__(self, model: Model, config: ModelConfig) -> None:
        self.name = model.name
        self.config = config
        self.asked = Request(messages=(), max_completion_tokens=1)
        self._model = model

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """As ``Model.stream``."""
        self.asked = request
        return self._model.stream(request)

    async def aclose(self) -> None:
        """As ``Model.aclose``."""
        await self._model.aclose()


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """The role ``agent``, and the answers."""
    watched: list[Watched] = []

    async def connect(config: ModelConfig, *, language: str) -> Model:
        watched.append(Watched(await process.connect_model(config, language=language), config))
        return watched[-1]

    async with anyio.create_task_group() as tg:
        tg.start_soon(_answer, watched)
        await serve_agent(replace(process, connect_model=connect), task_status=task_status)
        tg.cancel_scope.cancel()


async def _answer(watched: list[Watched]) -> None:
    async for line in anyio.wrap_file(sys.stdin):
        match line.split():
            case ["bare", count]:
                print(f"cpu: {await _bare(watched[-1], int(count))}", flush=True)
            case ["crowd", count, at_once]:
                print(f"cpu: {await _crowd(watched[-1], int(count), int(at_once))}", flush=True)
            case _:
                print(f"cpu: {time.process_time()}", flush=True)


async def _bare(watched: Watched, count: int) -> float:
    body = Dialect().body(watched.name, watched.asked)
    async with _client(watched) as client:
        await _read(client, body)  # opens the connection
        before = time.process_time()
        for _ in range(count):
            await _read(client, body)
        return (time.process_time() - before) / count


async def _crowd(watched: Watched, count: int, at_once: int) -> float:
    body, numbers = Dialect().body(watched.name, watched.asked), iter(range(count))

    async def call(client: openai.AsyncOpenAI) -> None:
        for _ in numbers:
            await _read(client, body)

    async with _client(watched) as client:
        before = time.monotonic()
        async with anyio.create_task_group() as tg:
            for _ in range(at_once):
                tg.start_soon(call, client)
        return time.monotonic() - before


def _client(watched: Watched) -> openai.AsyncOpenAI:
    config = watched.config
    http = openai.DefaultAsyncHttpxClient(timeout=config.call_timeout_s)
    key, url = config.api_key.reveal(), config.base_url
    return openai.AsyncOpenAI(api_key=key, base_url=url, max_retries=0, http_client=http)


async def _read(client: openai.AsyncOpenAI, body: bytes) -> None:
    response = await client.post(
        "/chat/completions", cast_to=httpx2.Response, content=body, stream=True, stream_cls=openai.AsyncStream[object]
    )
    # `cast_to` a response gives the response itself; the signature cannot say so.
    async for _ in cast("httpx2.Response", cast("object", response)).aiter_bytes():
        """What came is not looked at."""


def main() -> None:
    """See the module."""
    ROLES["agent"] = "benchmarks.cost:serve"
    from millpond import main as millpond  # noqa: PLC0415 - its import reads the roles

    millpond()


if __name__ == "__main__":
    main()
