"""Relevance of texts to a query, by a server with a reranking model: ``POST <base_url>/rerank``.

Cohere, Jina, vLLM, LiteLLM and Infinity take ``documents`` and return ``results``; Hugging Face's Text Embeddings
Inference takes ``texts`` and returns a list. Importing this imports the openai SDK: ``daemon.model.reranker`` does it
in a thread.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import httpx2
import msgspec

from daemon.clock import Clock
from daemon.config.memory_settings import RerankerConfig
from daemon.errors import InvalidAnswer
from daemon.model.model_errors import FOREIGN, Endpoint, shows, translated
from daemon.model.openai_sdk import posted, sdk_client

ANSWER_MAX_BYTES = 4_000_000
"""Longest answer. Some servers return the documents with their scores: 100 documents of 800 characters."""


class _Scored(msgspec.Struct):
    index: int
    relevance_score: float | None = None
    score: float | None = None
    """As TEI names it."""


class _Usage(msgspec.Struct):
    total_tokens: int = 0


class _Answer(msgspec.Struct):
    results: list[_Scored]
    usage: _Usage | None = None


@dataclass(frozen=True, kw_only=True)
class Reranked:
    """The answer to a call."""

    scores: list[float]
    """Finite, one for each text; higher is more relevant."""
    tokens: int
    """Of the query and the texts, as the server says; 0: it does not."""


_decode = msgspec.json.Decoder(_Answer).decode
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

    async def scores_of(self, query: str, texts: Sequence[str], *, limit_s: float) -> Reranked:
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
                    most_bytes=ANSWER_MAX_BYTES,
                )
            return self._read(body, len(texts))
        except FOREIGN as error:
            cause = None if shows(error, self._config.api_key) else error
            raise translated(error, self._endpoint, self._clock.now()) from cause

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.close()

    def _read(self, body: bytes, count: int) -> Reranked:
        answer = _Answer(results=_decode_list(body)) if body.lstrip()[:1] == b"[" else _decode(body)
        results, usage = answer.results, answer.usage
        if sorted(each.index for each in results) != list(range(count)):
            raise InvalidAnswer(f"{self._endpoint} did not return one score for each of {count} texts")
        results.sort(key=lambda each: each.index)
        scores = [each.relevance_score if each.relevance_score is not None else each.score for each in results]
        finite = [score for score in scores if score is not None and math.isfinite(score)]
        if len(finite) != count:
            raise InvalidAnswer(f"{self._endpoint} returned a score that is not a finite number")
        return Reranked(scores=finite, tokens=usage.total_tokens if usage else 0)
