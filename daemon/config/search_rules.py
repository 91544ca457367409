"""Rules for ``[memory_search]``. Pure. Texts about a secret never contain it."""

from collections.abc import Iterator

from daemon.config.address import SERVER, is_server
from daemon.config.config_reader import Finding
from daemon.config.embedding_server import embeddings_of
from daemon.config.schema import Config
from daemon.config.secret import secret_problem

_PATH = "memory_search.embeddings"
_RERANKER = "memory_search.reranker"


def search_findings(config: Config) -> Iterator[Finding]:
    """Every rule that the section violates."""
    given = config.memory_search.embeddings
    needs = (f"{_PATH}.base_url", f"{_PATH}.api_key", f"{_PATH}.api_key_file")
    if given.base_url and not is_server(given.base_url):
        yield Finding(f"{_PATH}.base_url", SERVER)
    if text := secret_problem(given.api_key):
        yield Finding(f"{_PATH}.api_key", text)
    if (given.base_url or given.api_key) and not given.model:
        text = "this setting is missing. Name the model that turns texts into vectors, such as text-embedding-3-small"
        yield Finding(f"{_PATH}.model", text, needs)
    if given.model and not any(embeddings_of(config.memory_search, bot) for bot in config.bots.values()):
        text = (
            "this setting is missing, and no bot has a model whose server could be used instead. Set base_url or an "
            "API key"
        )
        yield Finding(f"{_PATH}.base_url", text, needs)
    yield from _reranker_findings(config)


def _reranker_findings(config: Config) -> Iterator[Finding]:
    given = config.memory_search.reranker
    if given.base_url and not is_server(given.base_url):
        yield Finding(f"{_RERANKER}.base_url", SERVER)
    if text := secret_problem(given.api_key):
        yield Finding(f"{_RERANKER}.api_key", text)
    needs = tuple(f"{_RERANKER}.{key}" for key in ("model", "base_url", "api_key", "api_key_file"))
    if (given.base_url or given.api_key) and not given.model:
        text = "the key is not set. Name the model that orders search results, such as rerank-v3.5"
        yield Finding(f"{_RERANKER}.model", text, needs)
    if given.model and not given.base_url:
        text = "the key is not set. Set the address of the server that orders search results, such as http://host/v1"
        yield Finding(f"{_RERANKER}.base_url", text, needs)
