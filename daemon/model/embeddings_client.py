"""Servers that compute vectors of texts, and their relevance to a query.

Importing this imports the openai SDK: ``daemon.model.embeddings`` does it in a thread.

Cohere, Jina, vLLM, LiteLLM and Infinity take ``documents`` and return ``results``; Hugging Face's Text Embeddings
Inference takes ``texts`` and returns a list. Importing this imports the openai SDK: ``daemon.model.reranker`` does it
in a thread.
"""

import math
from collections.abc import Sequence

import anyio
import httpx2
import msgspec
from anyio import to_thread

from daemon.clock import Clock
from daemon.config.memory_settings import EmbeddingsConfig, RerankerConfig
from daemon.errors import InvalidAnswer
from daemon.model.model_errors import FOREIGN, Endpoint, shows, translated
from daemon.model.openai_model import posted, sdk_client

# Texts into vectors, by an OpenAI-compatible server: ``POST <base_url>/embeddings``.

DEFAULT_BASE_URL = "https://api.openai.com/v1"
ANSWER_MAX_BYTES = 32_000_000
"""Longest answer: 256 vectors of 4,096 numbers, each as JSON writes it."""


class _Item(msgspec.Struct):
    embedding: list[float]
    index: int | None = None
    """Of the text; some servers leave it out and keep the order."""


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0


class _Answer(msgspec.Struct):
    data: list[_Item]
    usage: _Usage | None = None


class EmbeddingResult(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a call."""

    vectors: list[list[float]]
    tokens: int
    """Of the texts, as the server says; 0: it does not."""


_decode = msgspec.json.Decoder(_Answer).decode


class EmbeddingsClient:
    """A server that turns texts into vectors; it never tries again by itself."""

    def __init__(self, config: EmbeddingsConfig, clock: Clock) -> None:
        """Nothing is sent yet. ``config`` names the model, and the server if it is not OpenAI's."""
        self._config = config
        self._clock = clock
        base_url = config.base_url or DEFAULT_BASE_URL
        self._endpoint = Endpoint(model=config.model, host=httpx2.URL(base_url).netloc.decode(), key=config.api_key)
        self._client = sdk_client(base_url, config.api_key, timeout_s=config.timeout_s)
        self.name = f"{config.model}@{self._endpoint.host}"
        """Vectors of one name can be compared with each other."""

    async def vectors_of(self, texts: Sequence[str], *, limit_s: float) -> EmbeddingResult:
        """A vector for each of ``texts``, in order; finite numbers, and all as many.

        Raises:
            ModelError: the server did not give them within ``limit_s`` or the configured time, whichever is shorter.
        """
        try:
            with anyio.fail_after(min(limit_s, self._config.timeout_s)):
                body = await self._answer_to(texts)
            # 256 vectors of 1,536 numbers take 40 ms to read.
            return await to_thread.run_sync(self._read, body, len(texts))
        except FOREIGN as error:
            cause = None if shows(error, self._config.api_key) else error
            raise translated(error, self._endpoint, self._clock.now()) from cause

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()

    async def _answer_to(self, texts: Sequence[str]) -> bytes:
        # No ``encoding_format``: floats are what every server gives, and some refuse the field.
        content = msgspec.json.encode({"model": self._config.model, "input": list(texts)})
        return await posted(self._client, "/embeddings", content, endpoint=self._endpoint, most_bytes=ANSWER_MAX_BYTES)

    def _read(self, body: bytes, count: int) -> EmbeddingResult:
        answer = _decode(body)
        items = answer.data
        if len(items) != count:
            raise InvalidAnswer(f"{self._endpoint} returned {len(items)} vectors for {count} texts")
        if all(item.index is not None for item in items):
            items.sort(key=lambda item: item.index or 0)
            if [item.index for item in items] != list(range(count)):
                raise InvalidAnswer(
                    f"{self._endpoint} returned vectors that do not belong to any of the submitted passages"
                )
        vectors = [item.embedding for item in items]
        sizes = {len(vector) for vector in vectors}
        if len(sizes) != 1 or 0 in sizes:
            raise InvalidAnswer(f"{self._endpoint} returned vectors of different lengths: {sorted(sizes)}")
        if not all(math.isfinite(sum(vector)) for vector in vectors):
            raise InvalidAnswer(f"{self._endpoint} returned a vector that contains NaN or an infinite number")
        return EmbeddingResult(vectors=vectors, tokens=answer.usage.prompt_tokens if answer.usage else 0)


# Relevance of texts to a query, by a server with a reranking model: ``POST <base_url>/rerank``.

RANKING_MAX_BYTES = 4_000_000
"""Longest answer. Some servers return the documents with their scores: 100 documents of 800 characters."""


class _Scored(msgspec.Struct):
    index: int
    relevance_score: float | None = None
    score: float | None = None
    """As TEI names it."""


class _RerankUsage(msgspec.Struct):
    total_tokens: int = 0


class _RerankAnswer(msgspec.Struct):
    results: list[_Scored]
    usage: _RerankUsage | None = None


class RerankResult(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a call."""

    scores: list[float]
    """Finite, one for each text; higher is more relevant."""
    tokens: int
    """Of the query and the texts, as the server says; 0: it does not."""


_rerank_decode = msgspec.json.Decoder(_RerankAnswer).decode
_decode_list = msgspec.json.Decoder(list[_Scored]).decode
"""As TEI answers."""


class Reranker:
    """A server that compares texts with a query; it never tries again by itself."""

    def __init__(self, config: RerankerConfig, clock: Clock) -> None:
        """Nothing is sent yet."""
        self._config = config
        self._clock = clock
        host = httpx2.URL(config.base_url).netloc.decode()
        self._endpoint = Endpoint(model=config.model, host=host, key=config.api_key)
        self._client = sdk_client(config.base_url, config.api_key, timeout_s=config.timeout_s)
        self.name = f"{config.model}@{host}"

    async def scores_of(self, query: str, texts: Sequence[str], *, limit_s: float) -> RerankResult:
        """How relevant each of ``texts`` is to ``query``.

        Raises:
            ModelError: the server did not tell within ``limit_s`` or the configured time, whichever is shorter.
        """
        fields = (
            {"query": query, "texts": list(texts), "truncate": True}
            if self._config.api == "tei"
            else {"model": self._config.model, "query": query, "documents": list(texts), "top_n": len(texts)}
        )
        try:
            with anyio.fail_after(min(limit_s, self._config.timeout_s)):
                body = await posted(
                    self._client,
                    "/rerank",
                    msgspec.json.encode(fields),
                    endpoint=self._endpoint,
                    most_bytes=RANKING_MAX_BYTES,
                )
            return self._read(body, len(texts))
        except FOREIGN as error:
            cause = None if shows(error, self._config.api_key) else error
            raise translated(error, self._endpoint, self._clock.now()) from cause

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()

    def _read(self, body: bytes, count: int) -> RerankResult:
        answer = _RerankAnswer(results=_decode_list(body)) if body.lstrip()[:1] == b"[" else _rerank_decode(body)
        results, usage = answer.results, answer.usage
        if sorted(each.index for each in results) != list(range(count)):
            raise InvalidAnswer(f"{self._endpoint} did not return one score for each of the {count} passages")
        results.sort(key=lambda each: each.index)
        scores = [each.relevance_score if each.relevance_score is not None else each.score for each in results]
        finite = [score for score in scores if score is not None and math.isfinite(score)]
        if len(finite) != count:
            raise InvalidAnswer(f"{self._endpoint} returned a score that is not a finite number")
        return RerankResult(scores=finite, tokens=usage.total_tokens if usage else 0)
