"""The sections about growing conversations: consolidation, archive, flush, recall and truncation."""

from typing import Annotated, Literal

from msgspec import Meta

from daemon.config.bot_settings import PricesConfig
from daemon.config.secret import Secret
from daemon.config.section import NO_SECRET, Count, Limit, PathText, Seconds, Section, Share, Tokens


class AuditConfig(Section, frozen=True):
    """The audit of what each consolidation kept."""

    enabled: bool = True
    """Also switches the part ``## Pinned`` of MEMORY.md."""
    pinned_max_share: Share = 0.025
    """The largest part of the context window for ``## Pinned``."""
    quiz: Annotated[int, Meta(ge=0, le=20)] = 0
    """Questions that the summary model is asked about each range; 0: none. They take three calls."""


class ConsolidationConfig(Section, frozen=True):
    """Token-budget consolidation."""

    slots: Count = 8
    """Sessions that one process consolidates at a time."""
    rounds_max: Count = 5
    failures_max: Count = 3
    """Failures in a row before the range is archived raw."""
    keep_turns: Count = 2
    """Newest turns that are never consolidated."""
    call_deadline_s: Seconds = 60.0
    turn_wait_s: Seconds = 15.0
    """Longest that a turn waits for a consolidation."""
    breaker_failures: Count = 5
    breaker_probe_s: Seconds = 30.0
    memory_max_share: Share = 0.1
    """MEMORY.md's share of the context window."""
    audit: AuditConfig = AuditConfig()


class ArchiveConfig(Section, frozen=True):
    """The archive of consolidated messages."""

    url: Secret = NO_SECRET
    """Empty: the folder ``transcripts`` of the data directory. An address may hold a key."""
    allow_http: bool = False
    """Whether an object store may be reached without TLS, as in a private network."""
    orphan_after_s: Seconds = 86_400.0
    """Age of a file that nothing lists, from which on it is deleted."""
    segments_listed: Count = 1
    """Newest segments that a list in Redis holds itself; older ones stand in a file."""


class RetentionConfig(Section, frozen=True):
    """How long finished data is kept, as far as this can be configured; docs/data.md lists the other limits."""

    dead_days: Limit = 0
    """Dead letters older than this are dropped; 0: a person replays or drops them."""
    unknown_days: Annotated[int, Meta(ge=1, le=7)] = 7
    """Parts of replies of which nobody knows whether they arrived."""
    usage_days: Annotated[int, Meta(ge=2, le=400)] = 400
    """Accounts of what was used; two days of them are needed for limits."""
    transcripts_days: Limit = 0
    """Archived messages older than this are deleted; 0: never. Memory keeps what it made of them."""


class MemoryFlushConfig(Section, frozen=True):
    """The silent turn before a consolidation."""

    enabled: bool = True
    reserve_floor_tokens: Tokens = 20_000
    soft_threshold_tokens: Tokens = 4_000


class EmbeddingsConfig(Section, frozen=True):
    """The server that computes vectors, ``POST <base_url>/embeddings``; off while ``model`` is empty."""

    model: str = ""
    """As ``text-embedding-3-small``."""
    base_url: str = ""
    """An OpenAI-compatible server, ``https://host/v1``; empty: that of the bot's own model, with its key."""
    api_key: Secret = NO_SECRET
    api_key_file: PathText = ""
    timeout_s: Seconds = 30.0
    """How long one call may take."""
    prices: PricesConfig = PricesConfig()


class RerankerConfig(Section, frozen=True):
    """The server that orders hits by relevance, ``POST <base_url>/rerank``; off while ``model`` is empty."""

    model: str = ""
    """As ``rerank-v3.5``."""
    base_url: str = ""
    """As ``https://api.cohere.com/v2``."""
    api: Literal["cohere", "tei"] = "cohere"
    """``tei``: that of Hugging Face's Text Embeddings Inference."""
    api_key: Secret = NO_SECRET
    api_key_file: PathText = ""
    candidates: Count = 20
    """Best hits of a search that are sent; the others keep their order behind them."""
    timeout_s: Seconds = 10.0
    """How long one call may take; in a turn one second at most."""
    prices: PricesConfig = PricesConfig()


class MemorySearchConfig(Section, frozen=True):
    """Recall from long-term memory."""

    enabled: bool = True
    """Whether turns recall by themselves; tools and people can search all the same."""
    backend: Literal["builtin", "qmd"] = "builtin"
    mode: Literal["search", "vsearch", "query"] | None = None
    """Unset: ``query`` with the builtin backend, ``search`` with qmd."""
    max_results: Count = 5
    min_score: Share = 0.4
    """Of a search by words relative to the best hit."""
    timeout_s: Seconds = 30.0
    """How long a search that somebody asked for may take."""
    turn_deadline_s: Seconds = 2.0
    """How long a turn waits for what it recalls."""
    place: Literal["system", "user"] = "user"
    qmd: PathText = ""
    """Path of the program ``qmd``; empty: the one on the PATH."""
    embeddings: EmbeddingsConfig = EmbeddingsConfig()
    reranker: RerankerConfig = RerankerConfig()

    @property
    def mode_used(self) -> Literal["search", "vsearch", "query"]:
        """``mode``, or the default of the backend."""
        return self.mode or ("query" if self.backend == "builtin" else "search")


class MicroCompactConfig(Section, frozen=True):
    """Truncation of old tool results in prompts."""

    enabled: bool = True
    keep_messages: Count = 6
    max_chars: Count = 200
    min_prompt_tokens: Tokens = 0
