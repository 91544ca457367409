"""Calls models: clients for model servers, request formats, fallbacks and errors.

Public: ``connect`` creates the ``Model`` of a bot's configuration; ``transcriber``, ``speech_synthesizer``,
``embeddings`` and ``reranker`` create the others.
Begin with ``chat_model`` (the interface) and ``http_model``. ``fallback_model`` tries other models, ``answer_parts``
reads a stream.
"""

from typing import TYPE_CHECKING

from anyio import to_thread

from daemon.clock import Clock
from daemon.config.memory_settings import EmbeddingsConfig, RerankerConfig
from daemon.config.schema import ModelConfig, SpeechConfig, TranscriptionConfig
from daemon.model.adaptation import with_own
from daemon.model.chat_model import (
    RUNTIME_CONTEXT,
    Answer,
    Chunk,
    CutOff,
    Model,
    OnlyThought,
    Request,
    TextChunk,
    ToolCall,
    Unsaid,
    Usage,
)
from daemon.model.dialect import dialect_of, server_of
from daemon.model.dialect_store import LearntDialect, learnt_of, recall, remember, stored
from daemon.model.fallback_model import FallbackEntry, FallbackModel
from daemon.model.model_status import (
    LASTS_S,
    RETRY_AFTER_MAX_S,
    FailingModel,
    FailureCounts,
    account_of,
    failing,
    note_failing,
    note_failure,
    note_working,
    read_failing,
    read_failures,
)
from daemon.model.reasoning import said
from daemon.model.untrusted_text import enclosed, ends, without_marks
from daemon.model.usage_counts import is_charged, priced
from daemon.wording import Language

if TYPE_CHECKING:
    from daemon.model.embeddings_client import EmbeddingsClient, Reranker
    from daemon.model.speech import SpeechSynthesizer, Transcriber

__all__ = [
    "LASTS_S",
    "RETRY_AFTER_MAX_S",
    "RUNTIME_CONTEXT",
    "Answer",
    "Chunk",
    "CutOff",
    "FailingModel",
    "FailureCounts",
    "FallbackModel",
    "LearntDialect",
    "Model",
    "OnlyThought",
    "Request",
    "TextChunk",
    "ToolCall",
    "Unsaid",
    "Usage",
    "account_of",
    "connect",
    "embeddings",
    "enclosed",
    "ends",
    "failing",
    "is_charged",
    "learnt_of",
    "note_failing",
    "note_failure",
    "note_working",
    "priced",
    "read_failing",
    "read_failures",
    "recall",
    "remember",
    "reranker",
    "said",
    "sends_all_own",
    "speech_synthesizer",
    "stored",
    "transcriber",
    "with_own",
    "without_marks",
]


def sends_all_own(config: ModelConfig) -> bool:
    """Whether a model's server wants what it alone understands back with each of its answers, as far as is known."""
    return dialect_of(server_of(config), config.name).form.own == "window"


async def connect(config: ModelConfig, *, language: Language = "en") -> Model:
    """The model that ``config`` names; the caller closes it. ``language`` is for messages that show none themselves.

    Nothing is sent yet: a wrong address or key shows at the first call.
    """
    if config.offline:
        return await to_thread.run_sync(_offline_model, language)
    return await to_thread.run_sync(_http_models, config)


def _offline_model(language: Language) -> Model:
    from daemon.model.offline_model import OfflineModel  # noqa: PLC0415 - most processes have a real model

    return OfflineModel(language=language)


def _http_models(config: ModelConfig) -> Model:
    rungs = [FallbackEntry(_http_model(each), each) for each in config.chain]
    return FallbackModel(rungs) if len(rungs) > 1 else rungs[0].model


def _http_model(config: ModelConfig) -> Model:
    if config.api == "anthropic":
        from daemon.model.anthropic.anthropic_model import AnthropicModel  # noqa: PLC0415 - as below, and an extra

        return AnthropicModel(config)
    from daemon.model.openai_model import OpenAIModel  # noqa: PLC0415 - 0.4 s: in a thread, where one is configured

    return OpenAIModel(config)


async def transcriber(config: TranscriptionConfig, clock: Clock) -> "Transcriber":
    """What turns speech into text at the server of ``config``; the caller closes it. Nothing is sent yet."""
    return await to_thread.run_sync(_transcriber, config, clock)


def _transcriber(config: TranscriptionConfig, clock: Clock) -> "Transcriber":
    from daemon.model.speech import Transcriber  # noqa: PLC0415 - as above

    return Transcriber(config, clock)


async def speech_synthesizer(config: SpeechConfig, clock: Clock) -> "SpeechSynthesizer":
    """What turns text into speech at the server of ``config``; the caller closes it. Nothing is sent yet."""
    return await to_thread.run_sync(_speech_synthesizer, config, clock)


def _speech_synthesizer(config: SpeechConfig, clock: Clock) -> "SpeechSynthesizer":
    from daemon.model.speech import SpeechSynthesizer  # noqa: PLC0415 - as above

    return SpeechSynthesizer(config, clock)


async def embeddings(config: EmbeddingsConfig, clock: Clock) -> "EmbeddingsClient":
    """What turns texts into vectors at the server of ``config``; the caller closes it. Nothing is sent yet."""
    return await to_thread.run_sync(_embeddings, config, clock)


def _embeddings(config: EmbeddingsConfig, clock: Clock) -> "EmbeddingsClient":
    from daemon.model.embeddings_client import EmbeddingsClient  # noqa: PLC0415 - as above

    return EmbeddingsClient(config, clock)


async def reranker(config: RerankerConfig, clock: Clock) -> "Reranker":
    """What compares texts with a query at the server of ``config``; the caller closes it. Nothing is sent yet."""
    return await to_thread.run_sync(_reranker, config, clock)


def _reranker(config: RerankerConfig, clock: Clock) -> "Reranker":
    from daemon.model.embeddings_client import Reranker  # noqa: PLC0415 - as above

    return Reranker(config, clock)
