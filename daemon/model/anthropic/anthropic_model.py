"""The client of Anthropic's Messages API, over the anthropic SDK's HTTP layer; its reader is that of OpenAI's form.

Importing this imports the SDK, an extra: ``daemon.model.connect`` does it in a thread, where one is configured.
"""

from collections.abc import Mapping
from typing import ClassVar, cast

import httpx2

from daemon.clock import Clock
from daemon.config.schema import ModelConfig
from daemon.errors import ConfigError, InvalidAnswer, ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from daemon.model.answer_parts import Read
from daemon.model.anthropic.anthropic_events import AnthropicEvents
from daemon.model.anthropic.anthropic_request import body
from daemon.model.chat_model import Request
from daemon.model.dialect import ANTHROPIC_BASE_URL, Dialect
from daemon.model.http_model import HttpModel
from daemon.model.http_transport import StreamTransport
from daemon.model.model_errors import KINDS, Refusal
from daemon.model.openai_model import timeout_of
from daemon.proxies import certificates, http_client

try:
    import anthropic
except ImportError as error:
    raise ConfigError(
        "a bot's model.api is anthropic, which needs a package that is not installed. "
        "Run: pip install 'millpond[anthropic]'"
    ) from error


class AnthropicModel(HttpModel):
    """A model behind a server of the Messages API."""

    variable = "ANTHROPIC_API_KEY"
    kinds: ClassVar[Mapping[type[BaseException], type[ModelError]]] = {
        **KINDS,
        anthropic.APIConnectionError: ModelUnavailable,
        anthropic.APIError: ModelUnavailable,
        anthropic.APITimeoutError: ModelTimeout,
        anthropic.APIStatusError: ModelRefused,  # its status decides, see ``_post``
        anthropic.AnthropicError: ModelRefused,
        anthropic.APIResponseValidationError: InvalidAnswer,
    }

    def __init__(self, config: ModelConfig, *, clock: Clock | None = None) -> None:
        """Raises ``ConfigError`` if ``base_url`` is no address."""
        # Many write it as for OpenAI's form; the SDK adds it again.
        base_url = (config.base_url or ANTHROPIC_BASE_URL).rstrip("/").removesuffix("/v1")
        super().__init__(config, base_url, clock=clock)
        timeout = timeout_of(config.call_timeout_s)
        self._client = anthropic.AsyncAnthropic(
            # Given one, the SDK looks for no other in the environment and in files.
            api_key=config.api_key.reveal() or "none",
            base_url=base_url,
            max_retries=0,
            timeout=timeout,
            open_telemetry=False,
            http_client=http_client(
                base_url,
                anthropic.DefaultAsyncHttpxClient,
                timeout=timeout,
                follow_redirects=False,
                transport=StreamTransport(certificates(base_url)),
            ),
        )

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()

    def _body(self, dialect: Dialect, request: Request) -> bytes:
        return body(self.name, request, dialect, of=self._endpoint.of, thinking=self._config.thinking)

    def _read(self) -> Read:
        return AnthropicEvents().read

    async def _post(self, body: bytes) -> httpx2.Response:
        try:
            # As in ``posted``: ``cast_to`` a response gives the response itself.
            response = await self._client.post(
                "/v1/messages",
                cast_to=httpx2.Response,
                content=body,
                options={"headers": self._headers()},
                stream=True,
                stream_cls=anthropic.AsyncStream[object],
            )
        except anthropic.APIStatusError as error:
            raise Refusal(error.response, error.body) from error
        return cast("httpx2.Response", cast("object", response))

    def _headers(self) -> dict[str, str | anthropic.Omit]:
        # The header that every server of this API knows; the SDK's own is newer.
        key = self._config.api_key.reveal()
        headers: dict[str, str | anthropic.Omit] = {
            "Accept": "text/event-stream, application/json",
            "Content-Type": "application/json",
            "Authorization": anthropic.Omit(),
        }
        return {**headers, "X-Api-Key": key} if key else headers
