"""Trying a model: one small question, asked as the bot will ask."""

from contextlib import aclosing
from urllib.parse import urlsplit

import anyio
import httpx2
import msgspec

from daemon.config import ModelConfig, Secret
from daemon.errors import ModelError, ModelTimeout
from daemon.model import CutOff, Request, connect
from daemon.proxies import http_client
from daemon.setup.answers import ModelAnswer
from daemon.setup.model_apis import Api

TRIAL_S = 60.0
"""A local model may have to be loaded first."""
LIST_S = 5.0
"""How long a server may take to say which models it has."""
TOKENS = 16
"""Enough for a yes, and of a model that thinks first enough to see that it does."""


class _Named(msgspec.Struct, frozen=True):
    id: str = ""


class _Listed(msgspec.Struct, frozen=True):
    data: list[_Named] = []


def model_config(answer: ModelAnswer) -> ModelConfig:
    """The configuration that an answer becomes."""
    return ModelConfig(api=answer.api, base_url=answer.base_url, name=answer.name, api_key=answer.key)


async def try_model(answer: ModelAnswer) -> ModelAnswer:
    """``answer``, with ``/v1`` behind its address where that alone was missing.

    Raises:
        ModelError: it does not answer; the text says why and what to do.
    """
    try:
        await _ask(answer)
    except ModelError:
        if urlsplit(answer.base_url).path.strip("/") or answer.api != "openai":
            raise
        guessed = f"{answer.base_url.rstrip('/')}/v1"
        try:
            await _ask(ModelAnswer(base_url=guessed, name=answer.name, key=answer.key))
        except ModelError:
            pass  # it is something else: what the address that was given says is told
        else:
            return ModelAnswer(base_url=guessed, name=answer.name, key=answer.key)
        raise
    return answer


async def models_at(base_url: str, key: Secret, api: Api = "openai") -> tuple[str, ...]:
    """The names of the models that a server says it has; none when it does not say."""
    headers = {"Authorization": f"Bearer {key.reveal()}"} if key else {}
    base_url = base_url.rstrip("/")
    if api == "anthropic":
        headers = {"X-Api-Key": key.reveal(), "Anthropic-Version": "2023-06-01"}
        base_url = f"{base_url.removesuffix('/v1')}/v1"
    try:
        with anyio.fail_after(LIST_S):
            async with http_client(base_url, httpx2.AsyncClient, timeout=None) as client:
                response = await client.get(f"{base_url}/models", headers=headers)
        listed = msgspec.json.decode(response.content, type=_Listed)
    # Whatever it is: asking for an answer tells it in better words.
    except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError, msgspec.MsgspecError):
        return ()
    return tuple(model.id for model in listed.data if model.id)


async def _ask(answer: ModelAnswer) -> None:
    model = await connect(model_config(answer))
    message = msgspec.json.encode({"role": "user", "content": "Say yes."})
    try:
        with anyio.fail_after(TRIAL_S):
            async with aclosing(model.stream(Request(messages=(message,), max_completion_tokens=TOKENS))) as chunks:
                async for _ in chunks:
                    pass
    except CutOff:
        pass  # no room for more: it answers
    except TimeoutError as error:
        raise ModelTimeout(
            f"the server did not respond within {TRIAL_S:g} s. Check the address and the network"
        ) from error
    finally:
        with anyio.move_on_after(2.0, shield=True):
            await model.aclose()
