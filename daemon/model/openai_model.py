"""The client of OpenAI-compatible servers: joined bytes out, an event stream in, over the openai SDK's HTTP layer.

Importing this imports the SDK (0.4 s): ``daemon.model.connect`` does it in a thread.
"""

from typing import cast

import httpx2
import openai

from daemon.clock import Clock
from daemon.config.schema import ModelConfig
from daemon.model.chat_model import Request
from daemon.model.dialect import DEFAULT_BASE_URL, Dialect
from daemon.model.http_model import HttpModel
from daemon.model.model_errors import Refusal
from daemon.model.openai_sdk import sdk_client


class OpenAIModel(HttpModel):
    """A model behind a chat completions server."""

    def __init__(self, config: ModelConfig, *, clock: Clock | None = None) -> None:
        """Raises ``ConfigError`` if ``base_url`` is no address."""
        base_url = config.base_url or DEFAULT_BASE_URL
        super().__init__(config, base_url, clock=clock)
        self._client = sdk_client(base_url, config.api_key, timeout_s=config.call_timeout_s)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()

    def _body(self, dialect: Dialect, request: Request) -> bytes:
        return dialect.body(self.name, request, of=self._endpoint.of)

    async def _post(self, body: bytes) -> httpx2.Response:
        try:
            # `cast_to` a response gives the response itself, whatever the stream class; the signature cannot say so.
            response = await self._client.post(
                "/chat/completions",
                cast_to=httpx2.Response,
                content=body,
                options={"headers": self._headers()},
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
        except openai.APIStatusError as error:
            raise Refusal(error.response, error.body) from error
        return cast("httpx2.Response", cast("object", response))

    def _headers(self) -> dict[str, str | openai.Omit]:
        accept: dict[str, str | openai.Omit] = {"Accept": "text/event-stream, application/json"}
        return accept if self._config.api_key else {**accept, "Authorization": openai.Omit()}
