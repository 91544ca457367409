"""A model behind a server, whatever API that has: places, deadlines, rate limits, dialects, and reading of the stream.

``OpenAIModel`` and ``AnthropicModel`` add the differences: the request, the SDK that sends it, and the form of events.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from functools import partial
from typing import ClassVar

import anyio
import httpx2
import structlog

from daemon.clock import Clock, SystemClock
from daemon.concurrency import SharedTimeout
from daemon.config.schema import ModelConfig
from daemon.errors import ConfigError, ModelError, ModelTimeout, RateLimited, SetupFault
from daemon.model.answer_parts import AnswerParts, Read
from daemon.model.chat_model import Answer, Chunk, CutOff, OnlyThought, Request, TextChunk, Unsaid, places_of
from daemon.model.dialect import Dialect, changes, dialect_of, is_of_length, learn, server_of
from daemon.model.event_stream import EventLines, Turnstile
from daemon.model.model_errors import (
    KINDS,
    Endpoint,
    Refusal,
    is_filtered,
    is_of_output,
    is_overflow,
    rate_limited,
    shows,
    translated,
)
from daemon.model.model_status import RETRY_AFTER_MAX_S
from daemon.model.provider_fields import identity
from daemon.model.setup_faults import WEB_PAGE, status_of
from daemon.model.text_tool_calls import names_of
from daemon.model.usage_counts import CostMeter

_log = structlog.get_logger()

DRAIN_S = 0.25
"""Longest wait for a response's end after its last event; a connection read to its end can be used again."""
CLOSE_S = 2.0
"""Longest wait for a connection to close."""
SHORT_WAIT_S = 2.0
"""A rate limit that asks for no more than this is waited out within the call, once."""


class HttpModel(ABC):
    """A model behind a server.

    It never tries again by itself, but for a parameter that the server does not know, and once after a rate limit of
    ``SHORT_WAIT_S``; who calls it owns retries. A longer limit is kept for all calls of the client, a minute at
    most: until it is over they fail at once with what is left of it, and the server hears nothing of them.
    """

    variable = "OPENAI_API_KEY"
    """Names the key where the configuration does not."""
    kinds: ClassVar[Mapping[type[BaseException], type[ModelError]]] = KINDS
    """What the errors of the SDK and of its HTTP library mean."""

    def __init__(self, config: ModelConfig, base_url: str, *, clock: Clock | None = None) -> None:
        """Nothing is sent yet.

        Args:
            config: the model.
            base_url: the address of its server, its own or the usual one.
            clock: tells what the date in ``retry-after`` means.

        Raises:
            ConfigError: ``base_url`` is no address.
        """
        self.name = config.name
        self._config = config
        self._clock = clock or SystemClock()
        self._server = server_of(config)
        self._endpoint = Endpoint(
            model=config.name,
            host=_host(base_url),
            key=config.api_key,
            variable=self.variable,
            of=identity(self._server, config.name),
        )
        self._foreign: tuple[type[BaseException], ...] = (Refusal, *self.kinds)
        self._turnstile = Turnstile()
        self._places = places_of(config)
        self._meter = CostMeter(config)
        self._limited_until = 0.0
        self._silence = SharedTimeout(config.chunk_timeout_s)

    @abstractmethod
    def _body(self, dialect: Dialect, request: Request) -> bytes:
        """The request as JSON."""

    @abstractmethod
    async def _post(self, body: bytes) -> httpx2.Response:
        """The response, its body unread.

        Raises:
            Refusal: it has an error status.
        """

    def _read(self) -> Read | None:
        """What reads the events of one answer; None: they are those of the chat completions API."""
        return None

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
        except self._foreign as error:
            raise self._translated(error) from self._cause(error)
        finally:
            self._places.give()

    @abstractmethod
    async def aclose(self) -> None:
        """Close its connections."""

    async def _chunks(
        self, pieces: AsyncIterator[bytes], deadline: float, tools: Sequence[bytes]
    ) -> AsyncGenerator[Chunk, None]:
        lines = EventLines()
        answer = AnswerParts(self._endpoint, offered=partial(names_of, tools) if tools else None, read=self._read())
        silence_s = self._config.call_timeout_s  # the first piece may take all the time there is
        slice_ends, is_first = 0.0, True
        while not lines.done:
            piece = await self._next(pieces, silence_s, deadline)
            if is_first and piece.lstrip()[:1] == b"<":
                raise SetupFault(WEB_PAGE.format(host=self._endpoint.host), status=200)
            is_first = False
            silence_s = self._config.chunk_timeout_s
            if time.perf_counter() > slice_ends:
                slice_ends = await self._turnstile.through()
            for payload in lines.feed(piece) if piece else lines.end():
                answer.feed(payload)
                if time.perf_counter() > slice_ends:
                    slice_ends = await self._turnstile.through()
            text = answer.text()
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
        is_last = anyio.current_time() + silence_s >= deadline
        # This is done for every piece of every answer, and a scope with a timer of its own costs twice as much.
        with anyio.CancelScope(deadline=deadline) if is_last else self._silence():
            return await anext(pieces, b"")
        if is_last:
            text = f"{self._endpoint} did not finish within {self._config.call_timeout_s:g} s (call_timeout_s)"
        else:
            text = f"{self._endpoint} sent nothing for {silence_s:g} s in the middle of its answer (chunk_timeout_s)"
        raise ModelTimeout(text)

    async def _take_place(self, deadline: float) -> None:
        try:
            await self._places.take(deadline)
        except TimeoutError as error:
            raise ModelTimeout(
                f"the call to {self._endpoint} waited for {self._config.call_timeout_s:g} s (call_timeout_s) because "
                f"this process had reached its limit of concurrent calls (max_concurrent = {self._places.count})"
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
        dialect = dialect_of(self._server, self.name)
        body = self._body(dialect, request)
        refusals = Refusals()
        while True:
            try:
                with anyio.fail_after(max(0.0, deadline - anyio.current_time())):
                    response = await self._post(body)
            except Refusal as refusal:
                if refusal.status == 429:
                    raise self._limited(refusal) from self._cause(refusal)
                found = self._other(refusals.next(refusal, dialect, request), dialect, body, request)
                if found is None:
                    raise
                dialect, body = found
            else:
                # Learnt only now that it worked: the parameter's value may have been what was refused.
                self._learn(dialect)
                return response

    def _other(
        self, found: Iterator[Dialect], dialect: Dialect, body: bytes, request: Request
    ) -> tuple[Dialect, bytes] | None:
        """The first of several dialects that makes a difference, and the body in it; the same is asked again."""
        for each in found:
            if each == dialect:
                return each, body
            if (other := self._body(each, request)) != body:
                return each, other
        return None

    def _learn(self, dialect: Dialect) -> None:
        known = dialect_of(self._server, self.name)
        if dialect != known:
            learn(self._server, self.name, dialect)
            _log.warning("model.dialect_learnt", model=self.name, reason=changes(known, dialect))

    def _check_limit(self) -> None:
        left_s = self._limited_until - anyio.current_time()
        if left_s > 0:
            text = f"{self._endpoint} is rate-limiting requests (429) and will not be called for another {left_s:.0f} s"
            # In brief as the server's own refusal: all who wait for the same thing have the same reason.
            raise RateLimited(text, retry_after_s=left_s, brief=rate_limited(self._endpoint))

    def _limited(self, refusal: Refusal) -> ModelError:
        limited = self._translated(refusal)
        asked_s = limited.retry_after_s if isinstance(limited, RateLimited) else None
        self._limited_until = anyio.current_time() + min(asked_s or 0.0, RETRY_AFTER_MAX_S)
        return limited

    def _cause(self, error: BaseException) -> BaseException | None:
        return None if isinstance(error, Refusal) or shows(error, self._config.api_key) else error

    def _translated(self, error: BaseException) -> ModelError:
        return translated(error, self._endpoint, self._clock.now(), self.kinds)


def _host(base_url: str) -> str:
    """Host and port, without a user name or password that an address may hold."""
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL as error:
        raise ConfigError(
            "a bot's model.base_url is not a valid address. Write the address as https://host/v1."
        ) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError(
            "a bot's model.base_url must begin with http:// or https://. Write the address as https://host/v1."
        )
    return url.netloc.decode()


# The refusals of one request, and the dialects in which it may be sent again.

_OF_THE_FORM = frozenset({400, 404, 415, 422})
_OF_A_TEMPLATE = frozenset({500, 501})
"""llama.cpp and others answer so to messages that the model's chat template or their own parser does not take."""


class Refusals:
    """Of one request."""

    def __init__(self) -> None:
        self._is_repeated = False
        self._plainer: Iterator[Dialect] | None = None

    def next(self, refusal: Refusal, dialect: Dialect, request: Request) -> Iterator[Dialect]:
        """Dialects to try in order; the same one means that the request is to be repeated as it is.

        A refusal that nobody understands, or that may be an outage, is believed when it came twice.
        """
        text, is_template = refusal.response.text, refusal.status in _OF_A_TEMPLATE
        if is_overflow(refusal.body):
            found = dialect.with_room(text, request)
            return iter(() if found is None else (found,))
        understood = (
            list(_understood(dialect, text, request)) if refusal.status in _OF_THE_FORM | _OF_A_TEMPLATE else ()
        )
        if understood and (self._is_repeated or not is_template):
            return iter(understood)
        if understood or _is_puzzling(refusal, text, request):
            return self._again(refusal, dialect)
        return iter(())

    def _again(self, refusal: Refusal, dialect: Dialect) -> Iterator[Dialect]:
        """The same once more, then plainer ones."""
        if not self._is_repeated:
            self._is_repeated = True
            return iter((dialect,))
        if is_of_output(refusal.body):
            return iter(())
        self._plainer = self._plainer or dialect.plainer()
        return self._plainer


def _is_puzzling(refusal: Refusal, text: str, request: Request) -> bool:
    """Whether it may be about the form of a request, though it does not say so."""
    has_form = bool(request.tools) or len(request.messages) > 1
    is_known = is_filtered(refusal.body) or is_of_length(text) or status_of(refusal.status, text.lower()) is not None
    # Words that are not understood are mostly about what was said; a web page or nothing gives no reason at all.
    body: object = refusal.body
    has_reason = not is_of_output(body) and isinstance(body, dict)
    return refusal.status in (400, 422) and has_form and not (is_known or has_reason)


def _understood(dialect: Dialect, text: str, request: Request) -> Iterator[Dialect]:
    """The dialects that a refusal speaks of, each with one more change."""
    tried = {dialect}
    found = dialect.without(text, request)
    while found is not None and found not in tried:
        yield found
        tried.add(found)
        found = found.without(text, request)
