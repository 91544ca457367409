import json
from contextlib import asynccontextmanager

import pytest

from daemon.config.memory_settings import EmbeddingsConfig
from daemon.config.secret import Secret
from daemon.errors import (
    InvalidAnswer,
    ModelError,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    SetupFault,
)
from daemon.model import embeddings
from daemon.testing import ManualClock
from tests.fakes.openai_server import Embed, Events, Failure, Hang, Plain, fake_openai, letters
from tests.limits import HANG_S
from tests.tables import each_row

KEY = "sk-very-secret-1234567890"


@asynccontextmanager
async def asking(script=(), *, timeout_s=HANG_S, key=KEY):
    async with fake_openai(script) as server:
        config = EmbeddingsConfig(model="fake", base_url=server.base_url, api_key=Secret(key), timeout_s=timeout_s)
        made = await embeddings(config, ManualClock())
        try:
            yield made, server
        finally:
            await made.aclose()


async def test_each_text_gets_its_vector_with_one_request() -> None:
    async with asking() as (made, server):
        vectors = (await made.vectors_of(["abba", "héllo 你好"], limit_s=HANG_S)).vectors

    assert vectors == [letters("abba"), letters("héllo 你好")]
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": "fake", "input": ["abba", "héllo 你好"]}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert made.name == f"fake@{server.base_url.removeprefix('http://').removesuffix('/v1')}"


async def test_without_a_key_none_is_sent() -> None:
    async with asking(key="") as (made, server):
        await made.vectors_of(["abba"], limit_s=HANG_S)

    assert "authorization" not in server.requests[0].headers


def answer(*data: object) -> Plain:
    return Plain(json.dumps({"object": "list", "data": data}).encode(), content_type="application/json")


def item(index: int, *numbers: object) -> dict[str, object]:
    return {"object": "embedding", "index": index, "embedding": list(numbers)}


async def test_the_index_says_whose_a_vector_is_and_without_one_the_order() -> None:
    async with asking([Embed(backwards=True), answer({"embedding": [1.0]}, {"embedding": [2]})]) as (made, _):
        assert (await made.vectors_of(["a", "b", "c"], limit_s=HANG_S)).vectors == [
            letters("a"),
            letters("b"),
            letters("c"),
        ]
        assert (await made.vectors_of(["a", "b"], limit_s=HANG_S)).vectors == [[1.0], [2.0]]


FAULTS = {
    "429": (Failure(429, headers={"Retry-After": "7"}), RateLimited),
    "500": (Failure(500, message=f"broken, your key is {KEY}"), ModelUnavailable),
    "401": (Failure(401, message=f"Incorrect API key provided: {KEY}"), SetupFault),
    "404": (Failure(404), SetupFault),
    "a web page": (Plain(b"<html><body>Sign in</body></html>"), InvalidAnswer),
    "nothing": (Plain(b"", content_type="application/json"), InvalidAnswer),
    "another shape": (Plain(b'{"vectors": []}', content_type="application/json"), InvalidAnswer),
    "fewer vectors": (Embed(forget=1), InvalidAnswer),
    "no vectors": (answer(), InvalidAnswer),
    "more vectors": (answer(item(0, 1), item(1, 1), item(2, 1)), InvalidAnswer),
    "vectors of other texts": (answer(item(1, 1), item(2, 1)), InvalidAnswer),
    "the same text twice": (answer(item(0, 1), item(0, 1)), InvalidAnswer),
    "vectors of several sizes": (answer(item(0, 1), item(1, 1, 2)), InvalidAnswer),
    "vectors without numbers": (answer(item(0), item(1)), InvalidAnswer),
    "no number": (answer(item(0, 1, float("nan")), item(1, 1, 2)), InvalidAnswer),
    "null": (answer(item(0, 1, None), item(1, 1, 2)), InvalidAnswer),
    "infinite": (
        Plain(b'{"data": [{"embedding": [1e999]}, {"embedding": [1]}]}', content_type="application/json"),
        InvalidAnswer,
    ),
    "cut": (Events([b'{"data": ['], abort=True), ModelUnavailable),
}


@each_row(("fault", "error"), FAULTS.values())
async def test_what_a_server_does_wrong_is_an_error_of_ours_without_the_key(fault, error) -> None:
    async with asking([fault]) as (made, server):
        with pytest.raises(ModelError) as caught:
            await made.vectors_of(["abba", "bob"], limit_s=HANG_S)

        assert type(caught.value) is error
        assert error is not RateLimited or caught.value.retry_after_s == 7
        assert KEY not in f"{caught.value} {caught.value!r} {caught.value.__cause__!r} {caught.value.__cause__}"
        assert len(server.requests) == 1, "it never tries again by itself"
        assert (await made.vectors_of(["abba"], limit_s=HANG_S)).vectors == [letters("abba")]


@each_row(("limit_s", "timeout_s"), [(0.1, HANG_S), (HANG_S, 0.1)])
async def test_a_server_that_is_silent_is_waited_for_no_longer_than_either_limit(limit_s, timeout_s) -> None:
    async with asking([Hang()] * 1_000, timeout_s=timeout_s) as (made, server):
        while not server.requests:  # a busy machine may connect later than the limit
            with pytest.raises(ModelTimeout):
                await made.vectors_of(["abba"], limit_s=limit_s)
        await server.client_left.wait()


async def test_an_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daemon.model.embeddings_client.ANSWER_MAX_BYTES", 10_000)

    async with asking([Events([b" " * 5_000] * 10 + [5.0])]) as (made, _):
        with pytest.raises(InvalidAnswer, match="10,000 bytes"):
            await made.vectors_of(["abba"], limit_s=HANG_S)
