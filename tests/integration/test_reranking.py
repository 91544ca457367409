"""A server that orders the hits of a search, and all that may go wrong with it."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest
from structlog.testing import capture_logs

import daemon.recall.reranking
from daemon.config import BotConfig, Config, MemorySearchConfig, RerankerConfig, Secret
from daemon.errors import InvalidAnswer, ModelError, ModelTimeout, ModelUnavailable, RateLimited
from daemon.model import reranker
from daemon.recall import Hit, InPrompt
from daemon.recall.reranking import RerankingEngine, in_order
from daemon.recall.search_results import Mode
from daemon.testing import ManualClock
from tests.fakes.openai_server import Failure, FakeOpenAI, Hang, Plain, Reply, Rerank, fake_openai
from tests.limits import HANG_S
from tests.recalllab import ScriptedEngine
from tests.tables import each_row

KEY = "rk-very-secret-1234567890"
SCOPE = "pond:person:web:ann"
HITS = tuple(
    Hit(docid=name, file="memory/HISTORY.md", score=score, snippet=text)
    for name, score, text in (
        ("a", 1.0, "the heron stands in the reeds"),
        ("b", 0.7, "tea in the afternoon"),
        ("c", 0.5, "ann bought an otter in spring"),
        ("d", 0.2, "rain"),
    )
)
QUERY = "otter in spring"


def _config(server: FakeOpenAI, *, key: str = KEY, tei: bool = False, candidates: int = 3) -> RerankerConfig:
    return RerankerConfig(
        model="fake",
        base_url=server.base_url,
        api="tei" if tei else "cohere",
        api_key=Secret(key),
        candidates=candidates,
        timeout_s=HANG_S,
    )


@asynccontextmanager
async def reranking(script: Sequence[Reply]) -> AsyncIterator[tuple[RerankingEngine, ScriptedEngine, FakeOpenAI]]:
    async with fake_openai(script) as server:
        config = Config(bots={"pond": BotConfig()}, memory_search=MemorySearchConfig(reranker=_config(server)))
        engine = ScriptedEngine(*HITS)
        made = RerankingEngine(engine, config, ManualClock())
        try:
            yield made, engine, server
        finally:
            await made.aclose()


async def names(engine: RerankingEngine, *, mode: Mode = "query", limit: int = 4, in_turn: bool = False) -> str:
    prompt = InPrompt(file="", first=0) if in_turn else None
    return "".join(hit.docid for hit in (await engine.search(SCOPE, QUERY, mode=mode, limit=limit, prompt=prompt)).hits)


@pytest.mark.parametrize("tei", [False, True])
@pytest.mark.parametrize("key", [KEY, ""])
async def test_each_text_gets_its_score_with_one_request(tei: bool, key: str) -> None:
    async with fake_openai([Rerank(is_tei=tei, tokens=7)]) as server:
        made = await reranker(_config(server, key=key, tei=tei), ManualClock())
        answer = await made.scores_of("otter", ["a heron", "an otter", "otter"], limit_s=HANG_S)
        await made.aclose()

    assert answer.scores == [0.0, 1.0, 1.0]
    assert answer.tokens == (0 if tei else 7)
    (request,) = server.requests
    assert request.path == "/v1/rerank"
    assert request.headers.get("authorization") == (f"Bearer {key}" if key else None)
    texts = ["a heron", "an otter", "otter"]
    assert request.body == (
        {"query": "otter", "texts": texts, "truncate": True}
        if tei
        else {"model": "fake", "query": "otter", "documents": texts, "top_n": 3}
    )


def _answer(*results: dict[str, object]) -> Plain:
    return Plain(json.dumps({"results": results}).encode(), content_type="application/json")


@each_row(
    ("fault", "error"),
    [
        (Failure(401, message=f"wrong key {KEY}"), ModelError),
        (Failure(429), RateLimited),
        (Failure(503), ModelUnavailable),
        (Plain(b"<html>", status=200), InvalidAnswer),
        (_answer(), InvalidAnswer),
        (_answer({"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}), InvalidAnswer),
        (_answer({"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 1}), InvalidAnswer),
        (_answer({"index": 0, "relevance_score": 1}, {"index": 1}), InvalidAnswer),
        (Hang(), ModelTimeout),
    ],
)
async def test_what_a_server_does_wrong_is_an_error_of_ours_without_the_key(
    fault: Reply, error: type[ModelError]
) -> None:
    async with fake_openai([fault]) as server:
        made = await reranker(_config(server), ManualClock())
        with pytest.raises(error) as raised:
            await made.scores_of("otter", ["a", "b"], limit_s=0.05 if isinstance(fault, Hang) else HANG_S)
        await made.aclose()

    assert KEY not in str(raised.value)


async def test_the_most_relevant_of_the_candidates_comes_first_and_the_others_keep_their_order() -> None:
    async with reranking([Rerank(), Rerank()]) as (engine, _, server):
        all_of_them = await names(engine)
        best = await names(engine, limit=1, in_turn=True)

    assert (all_of_them, best) == ("cabd", "c")
    assert [len(request.body["documents"]) for request in server.requests] == [3, 3]


async def test_a_search_by_words_calls_no_server() -> None:
    async with reranking([]) as (engine, _, server):
        assert await names(engine, mode="search") == "abcd"

    assert server.requests == []


async def test_a_server_that_fails_costs_only_the_order_and_is_called_again_after_a_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with reranking([Failure(503), Failure(503), Rerank()]) as (engine, _, server):
        with capture_logs() as logs:
            first, second = await names(engine), await names(engine)
            called = len(server.requests)
            monkeypatch.setattr(engine, "_paused_until", 0.0)
            third = await names(engine)
            monkeypatch.setattr(engine, "_paused_until", 0.0)
            last = await names(engine)

    assert (first, second, third, last) == ("abcd", "abcd", "abcd", "cabd")
    assert called == 1
    assert [log["event"] for log in logs] == ["reranker.failed", "reranker.back"]


async def test_a_turn_waits_for_the_order_no_longer_than_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon.recall.reranking, "TURN_S", 0.02)
    async with reranking([Hang()]) as (engine, _, _):
        with anyio.fail_after(HANG_S / 2):
            assert await names(engine, in_turn=True) == "abcd"


def test_scores_fall_and_are_never_less_than_those_of_the_search() -> None:
    ordered = in_order(HITS, [0.0, -3.0, 8.0, 1.0])

    assert [(hit.docid, hit.score) for hit in ordered] == [("c", 1.0), ("d", 1.0), ("a", 1.0), ("b", 0.7)]
