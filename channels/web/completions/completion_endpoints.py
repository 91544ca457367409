"""The endpoints of one site."""

import secrets

import anyio
from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from channels.conversation import Conversation
from channels.http import read_body
from channels.inbound import make_inbound
from channels.web.completions.completion_answer import (
    DONE,
    KEEP_ALIVE,
    CompletionAnswer,
    CompletionForm,
    Unanswered,
    usage_of,
)
from channels.web.completions.completion_request import (
    SESSION_HEADER,
    TOO_LARGE,
    CompletionRequest,
    ModelNotFound,
    Picture,
    asked,
)
from channels.web.error_response import body_of, problem
from channels.web.event_streams import EventStreams, Write, until_gone
from channels.web.message_endpoints import NotStored, Uploads
from channels.web.rate_limit import check_channel, check_sender, is_member
from channels.web.request_params import check_type, json_response
from channels.web.site import Site
from daemon.events import Attachment, Inbound
from daemon.traces import Traces

BODY_MAX_BYTES = 32 * 1024 * 1024
"""A client sends the whole conversation, pictures included; only the newest message counts."""

THREAD_BYTES = 1024 * 1024
"""A larger body is decoded in a thread, so that the event loop does not stall."""

QUIET_S = 15.0
"""Longest silence of a stream: proxies close idle connections."""

NO_RETRY = {"x-should-retry": "false"}
"""OpenAI's own clients send a failed request again without this header; the message was already accepted."""

NOT_ANSWERED = "not_answered"


class Completions:
    """``POST /v1/chat/completions`` and ``GET /v1/models``."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._process = site.process
        self._bot = site.config.bot
        self._since = round(site.process.clock.now().timestamp())
        self._streams = EventStreams(site.process.stopping, site.name)
        self._uploads = Uploads(site)
        self._traces = Traces(site.process.bus)

    def routes(self) -> list[Route]:
        """The addresses."""
        return [
            Route("/v1/chat/completions", self.create, methods=["POST"]),
            Route("/v1/models", self.models),
            Route("/v1/models/{model}", self.model),
        ]

    async def models(self, _request: Request) -> Response:
        """The bot as the only model."""
        return json_response({"object": "list", "data": [self._model()]})

    async def model(self, request: Request) -> Response:
        """One model."""
        if request.path_params["model"] != self._bot:
            return self._not_found(f"This address serves only the {self._bot!r} model.")
        return json_response(self._model())

    async def create(self, request: Request) -> Response:
        """Send the newest user message to the bot, and respond with the bot's answer."""
        check_type(request)
        body = await read_body(request, max_bytes=BODY_MAX_BYTES)
        try:
            found = await self._asked(request, body)
        except ModelNotFound as error:
            return self._not_found(str(error))
        key = check_channel(found.key, self._site.name)
        if is_member(request):
            inbound = make_inbound(
                self._process,
                channel=key.channel,
                chat=key.chat,
                thread=key.thread,
                text=found.text,
                sender_id=key.chat,
            )
            await check_sender(self._process, inbound)
        conversation = await Conversation.open(self._process, key)
        answer = CompletionAnswer(conversation)
        message_id = request.headers.get("Idempotency-Key") or secrets.token_hex(8)
        try:
            files = await self._stored(conversation.inbound(found.text, message_id=message_id), found.pictures)
        except NotStored as error:
            return problem(503, "not_stored", str(error))
        await answer.ask(found.text, message_id, files)
        created = round(self._process.clock.now().timestamp())
        form = CompletionForm(id=f"chatcmpl-{answer.message_id}", created=created, model=self._bot)
        headers = {SESSION_HEADER: conversation.session}
        if found.is_streamed:
            return self._streams.response(request, lambda write: self._stream(found, answer, form, write), headers)
        return await self._whole(request, answer, form, headers)

    async def _stored(self, inbound: Inbound, pictures: tuple[Picture, ...]) -> tuple[Attachment, ...]:
        """The pictures of a message, stored in the order in which they were sent."""
        most = self._process.config.agent.attachment_max_bytes
        if any(len(each.content) > most for each in pictures):
            raise HTTPException(413, TOO_LARGE.format(most=most))
        files = [Attachment(kind="image", name=each.name(at)) for at, each in enumerate(pictures, 1)]
        return tuple(
            [await self._uploads.keep(inbound, file, each.content) for file, each in zip(files, pictures, strict=True)]
        )

    async def _asked(self, request: Request, body: bytes) -> CompletionRequest:
        def read() -> CompletionRequest:
            return asked(body, request.headers, channel=self._site.name, bot=self._bot)

        return await to_thread.run_sync(read) if len(body) > THREAD_BYTES else read()

    async def _whole(
        self, request: Request, answer: CompletionAnswer, form: CompletionForm, headers: dict[str, str]
    ) -> Response:
        response = Response()
        async with anyio.create_task_group() as tg:
            tg.start_soon(until_gone, request.receive, tg.cancel_scope)
            try:
                text = await answer.follow()
                response = json_response(form.completion(text, await self._usage(answer)))
                response.headers.update(headers)
            except Unanswered as error:
                response = problem(503, NOT_ANSWERED, str(error), headers={**headers, **NO_RETRY})
            tg.cancel_scope.cancel()
        return response

    async def _stream(
        self, found: CompletionRequest, answer: CompletionAnswer, form: CompletionForm, write: Write
    ) -> None:
        stream, reason = _Stream(form, write), ""
        try:
            async with anyio.create_task_group() as tg:
                tg.start_soon(stream.keep_alive)
                await stream.piece("")
                await answer.follow(stream.piece)
                tg.cancel_scope.cancel()
        except* Unanswered as errors:
            reason = str(errors.exceptions[0])
        if reason:
            await write(b"data: %s\n\n" % body_of(NOT_ANSWERED, reason))
            return
        usage = await self._usage(answer) if found.wants_usage else None
        await write(form.end() + (form.usage(usage) if usage else b"") + DONE)

    async def _usage(self, answer: CompletionAnswer) -> dict[str, object] | None:
        if answer.turn is None:
            return None
        found = await self._traces.one(answer.session, answer.turn)
        return usage_of(found.trace if found else None)

    def _model(self) -> dict[str, object]:
        return {"id": self._bot, "object": "model", "created": self._since, "owned_by": "millpond"}

    def _not_found(self, text: str) -> Response:
        return problem(404, "model_not_found", text)


class _Stream:
    """The chunks of one answer."""

    def __init__(self, form: CompletionForm, write: Write) -> None:
        self._form = form
        self._to_client = write
        self._is_first = True
        self._spoke_at = anyio.current_time()

    async def piece(self, text: str) -> None:
        """Send a chunk with ``text``."""
        await self._write(self._form.piece(text, first=self._is_first))
        self._is_first = False

    async def keep_alive(self) -> None:
        """Send a comment after each long silence, until cancelled."""
        while True:
            await anyio.sleep_until(self._spoke_at + QUIET_S)
            if anyio.current_time() >= self._spoke_at + QUIET_S:
                await self._write(KEEP_ALIVE)

    async def _write(self, piece: bytes) -> None:
        self._spoke_at = anyio.current_time()
        await self._to_client(piece)
