"""The client of OpenAI-compatible servers: joined bytes out, an event stream in, over the openai SDK's HTTP layer.

Importing this imports the SDK (0.4 s): ``daemon.model.connect`` does it in a thread.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, suppress
from functools import partial
from typing import cast

import anyio
import httpx2
import openai
import structlog

from daemon.clock import Clock, SystemClock
from daemon.config.schema import ModelConfig
from daemon.errors import ConfigError, ModelError, ModelTimeout, RateLimited
from daemon.model.answer import AnswerParts, EventLines
from daemon.model.base import Answer, Chunk, CutOff, OnlyThought, Request, TextChunk, Unsaid
from daemon.model.dialect import DEFAULT_BASE_URL, Dialect, changes, dialect_of, host_of, learn
from daemon.model.errors import FOREIGN, Asked, is_overflow, shows, translated
from daemon.model.meter import Meter
from daemon.model.own import identity
from daemon.model.places import places_of
from daemon.model.sdk import sdk_client
from daemon.model.text_calls import names_of
from daemon.model.turnstile import Turnstile

_log = structlog.get_logger()

DRAIN_S = 0.25
"""Longest wait for a response's end after its last event; a connection read to its end can be used again."""
CLOSE_S = 2.0
"""Longest wait for a connection to close."""
SHORT_WAIT_S = 2.0
"""A rate limit that asks for no more than this is waited out within the call, once."""
LONG_WAIT_S = 3_600.0
"""A rate limit that asks for more than this is tried again after it."""


class OpenAIModel:
    """A model behind a chat completions server.

    It never tries again by itself, but for a parameter that the server does not know, and once after a rate limit of
    ``SHORT_WAIT_S``; who calls it owns retries. A longer limit is kept for all calls of the client: until it is over
    they fail at once with what is left of it, and the server hears nothing of them.

    Raises:
        ConfigError: ``base_url`` is no address.
    """

    def __init__(self, config: ModelConfig, *, clock: Clock | None = None) -> None:
        self.name = config.name
        self._config = config
        self._clock = clock or SystemClock()
        base_url = config.base_url or DEFAULT_BASE_URL
        self._host = host_of(base_url)
        self._asked = Asked(model=config.name, host=_host(base_url), key=config.api_key)
        self._client = sdk_client(base_url, config.api_key, timeout_s=config.call_timeout_s)
        self._turnstile = Turnstile()
        self._places = places_of(config)
        self._meter = Meter(config)
        self._limited_until = 0.0

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """As ``Model.stream``; each wait ends at ``chunk_timeout_s`` (within the answer) or at ``call_timeout_s``."""
        # The deadline is a moment and not a cancel scope around all of it: a scope must not be open over a yield.
        deadline = anyio.current_time() + self._config.call_timeout_s
        await self._take_place(deadline)
        try:
            # Making a request costs the SDK a millisecond.
            await self._turnstile.through()
            response = await self._opened(request, deadline)
            try:
                async with (
                    aclosing(response.aiter_bytes()) as pieces,
                    aclosing(self._chunks(pieces, deadline, request.tools)) as chunks,
                ):
                    async for chunk in chunks:
                        yield await self._meter.read(chunk, request) if isinstance(chunk, Answer) else chunk
            except (CutOff, OnlyThought) as error:
                error.answer = await self._meter.read(error.answer, request)
                raise
            finally:
                with anyio.move_on_after(CLOSE_S, shield=True):
                    await response.aclose()
        except FOREIGN as error:
            raise self._translated(error) from self._cause(error)
        finally:
            self._places.give()

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()

    async def _chunks(
        self, pieces: AsyncIterator[bytes], deadline: float, tools: Sequence[bytes]
    ) -> AsyncGenerator[Chunk, None]:
        lines, answer = EventLines(), AnswerParts(self._asked, offered=partial(names_of, tools) if tools else None)
        silence_s = self._config.call_timeout_s  # the first piece may take all the time there is
        slice_ends = 0.0
        while not lines.done:
            piece = await self._next(pieces, silence_s, deadline)
            silence_s = self._config.chunk_timeout_s
            if time.perf_counter() > slice_ends:
                slice_ends = await self._turnstile.through()
            for payload in lines.feed(piece) if piece else lines.end():
                text = answer.feed(payload)
                if answer.unsaid:
                    answer.unsaid = False
                    yield Unsaid()
                if text:
                    yield TextChunk(text)
            if not piece:
                break
        with anyio.move_on_after(DRAIN_S), suppress(httpx2.TransportError):  # the answer is whole by now
            await anext(pieces, b"")
        if rest := answer.rest():
            yield TextChunk(rest)
        yield answer.finished(marked=lines.done)

    async def _next(self, pieces: AsyncIterator[bytes], silence_s: float, deadline: float) -> bytes:
        """The next bytes; none at the end."""
        silent = anyio.current_time() + silence_s
        # Not `fail_after`: it costs twice as much, and this is done for every piece of every answer.
        with anyio.CancelScope(deadline=min(silent, deadline)):
            return await anext(pieces, b"")
        if silent < deadline:
            what = f"fell silent in the middle of its answer for {silence_s:g} s (chunk_timeout_s)"
        else:
            what = f"did not finish within {self._config.call_timeout_s:g} s (call_timeout_s)"
        raise ModelTimeout(f"{self._asked} {what}")

    async def _take_place(self, deadline: float) -> None:
        try:
            await self._places.take(deadline)
        except TimeoutError as error:
            raise ModelTimeout(
                f"{self._asked} was busy with {self._places.count} other calls of this process for "
                f"{self._config.call_timeout_s:g} s (max_concurrent, call_timeout_s)"
            ) from error

    async def _opened(self, request: Request, deadline: float) -> httpx2.Response:
        """The response, its body unread."""
        try:
            return await self._asked_for(request, deadline)
        except RateLimited as limited:
            wait_s = limited.retry_after_s
            if wait_s is None or wait_s > SHORT_WAIT_S or anyio.current_time() + wait_s >= deadline:
                raise
        await anyio.sleep(wait_s)
        return await self._asked_for(request, deadline)

    async def _asked_for(self, request: Request, deadline: float) -> httpx2.Response:
        """The response; a parameter that the server does not know is left out from then on."""
        self._check_limit()
        of, dialect = identity(self._host, self.name), dialect_of(self._host, self.name)
        while True:
            try:
                with anyio.fail_after(max(0.0, deadline - anyio.current_time())):
                    response = await self._post(dialect.body(self.name, request, of=of))
            except openai.RateLimitError as error:
                raise self._limited(error) from self._cause(error)
            except (openai.BadRequestError, openai.UnprocessableEntityError, openai.NotFoundError) as error:
                simpler = None if is_overflow(error.body) else dialect.without(error.response.text, request)
                if simpler is None:
                    raise
                dialect = simpler
            else:
                # Learnt only now that it worked: the parameter's value may have been what was refused.
                self._learn(dialect)
                return response

    def _learn(self, dialect: Dialect) -> None:
        known = dialect_of(self._host, self.name)
        if dialect != known:
            learn(self._host, self.name, dialect)
            _log.warning("model.dialect_learnt", model=self.name, reason=changes(known, dialect))

    def _check_limit(self) -> None:
        left_s = self._limited_until - anyio.current_time()
        if left_s > 0:
            text = f"{self._asked} limits its rate (429) and is not asked for another {left_s:.0f} s"
            raise RateLimited(text, retry_after_s=left_s)

    def _limited(self, error: openai.RateLimitError) -> ModelError:
        limited = self._translated(error)
        asked_s = limited.retry_after_s if isinstance(limited, RateLimited) else None
        self._limited_until = anyio.current_time() + min(asked_s or 0.0, LONG_WAIT_S)
        return limited

    async def _post(self, body: bytes) -> httpx2.Response:
        # `cast_to` a response gives the response itself, whatever the stream class; the signature cannot say so.
        response = await self._client.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            content=body,
            options={"headers": self._headers()},
            stream=True,
            stream_cls=openai.AsyncStream[object],
        )
        return cast("httpx2.Response", cast("object", response))

    def _headers(self) -> dict[str, str | openai.Omit]:
        accept: dict[str, str | openai.Omit] = {"Accept": "text/event-stream, application/json"}
        return accept if self._config.api_key else {**accept, "Authorization": openai.Omit()}

    def _cause(self, error: BaseException) -> BaseException | None:
        return None if shows(error, self._config.api_key) else error

    def _translated(self, error: BaseException) -> ModelError:
        return translated(error, self._asked, self._clock.now())


def _host(base_url: str) -> str:
    """Host and port, without a user or password that an address may hold."""
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL as error:
        raise ConfigError("a bot's model.base_url is no address; write it as https://host/v1") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError("a bot's model.base_url must begin with http:// or https://, as in https://host/v1")
    return url.netloc.decode()
