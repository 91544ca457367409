"""Rules for limits, people, the memory search, and the tools of the shell and the web.

Texts about a secret never contain it.
"""

from collections.abc import Iterator
from importlib.util import find_spec

from daemon.config.address import SERVER, is_server
from daemon.config.bot_settings import CostConfig, PricesConfig, WebToolsConfig
from daemon.config.config_keys import got
from daemon.config.config_reader import ConfigProblem
from daemon.config.model_servers import embeddings_of, speech_of, summary_model_of, transcription_of
from daemon.config.schema import BotConfig, Config, FallbackConfig
from daemon.config.secret import secret_problem
from daemon.errors import BadSessionKey
from daemon.sessionkey import SessionKey

# Rules for the usage limits of bots.


def limit_findings(config: Config) -> Iterator[ConfigProblem]:
    """Limits of money that the prices of the bot's models cannot be held against."""
    for name, bot in config.bots.items():
        if bot.limits.cost_per_day != CostConfig():
            yield from _cost(f"bots.{name}", bot, config)


def _cost(path: str, bot: BotConfig, config: Config) -> Iterator[ConfigProblem]:
    first, *others = bot.model.chain
    priced = [(f"{path}.model.prices", first.prices)]
    priced += [(f"{path}.model.fallbacks[{place}].prices", each.prices) for place, each in enumerate(others, 1)]
    if bot.summary_model != FallbackConfig():
        priced.append((f"{path}.summary_model.prices", summary_model_of(bot).prices))
    if embeddings := embeddings_of(config.memory_search, bot):
        priced.append(("memory_search.embeddings.prices", embeddings.prices))
    if config.memory_search.reranker.model:
        priced.append(("memory_search.reranker.prices", config.memory_search.reranker.prices))
    if transcription := transcription_of(bot):
        priced.append((f"{path}.transcription.prices", transcription.prices))
    if speech := speech_of(bot):
        priced.append((f"{path}.speech.prices", speech.prices))
    here = f"{path}.limits.cost_per_day"
    if not first.offline:
        for there, prices in priced:
            if prices == PricesConfig():
                text = f"a cost limit requires a price for every model, but {there} is not set. Set input and output"
                yield ConfigProblem(here, text, (there,))
    currencies = {prices.currency for _, prices in priced if prices != PricesConfig()}
    if len(currencies) > 1:
        names = ", ".join(sorted(repr(currency) for currency in currencies))
        text = f"a cost limit requires a price for every model, all in the same currency. Got {names}"
        yield ConfigProblem(here, text, tuple(there for there, _ in priced))


# Rules for people with several identities. Pure.


def people_findings(config: Config) -> Iterator[ConfigProblem]:
    """Every rule that ``config.people`` violates."""
    known: dict[str, str] = {}
    for name, person in config.people.items():
        here = f"people.{name}.identities"
        if len(person.identities) < 2:
            yield ConfigProblem(here, "the list contains only one identity. List at least two identities to link")
        for identity in person.identities:
            if problem := _problem(config, identity):
                yield ConfigProblem(here, problem, ("channels",))
            elif identity in known:
                other = known[identity]
                where = "twice" if other == name else f"in people.{other} too"
                yield ConfigProblem(here, f"{got(identity)} is listed {where}. List each identity only once")
            known.setdefault(identity, name)


def _problem(config: Config, identity: str) -> str:
    """What is wrong with one identity; empty when nothing is."""
    try:
        key = SessionKey.parse(identity)
    except BadSessionKey:
        key = None
    if key is None or key.thread or str(key) != identity:
        return f"expected <channel>:<sender> as shown by /whoami, got {got(identity)}"
    channel = config.channels.get(key.channel)
    if channel is None:
        return f"{got(identity)} names a channel that does not exist. Choose one of {', '.join(config.channels)}"
    bot = config.bots.get(channel.bot)
    if bot is not None and bot.memory.scope not in ("auto", "person"):
        return (
            f"{got(identity)} belongs to bots.{channel.bot}, whose memory.scope setting is "
            f"{bot.memory.scope!r}. Only per-person memories can be linked: set memory.scope to "
            '"person", or remove this identity'
        )
    return ""


# Rules for ``[memory_search]``. Pure. Texts about a secret never contain it.

_PATH = "memory_search.embeddings"
_RERANKER = "memory_search.reranker"


def search_findings(config: Config) -> Iterator[ConfigProblem]:
    """Every rule that the section violates."""
    given = config.memory_search.embeddings
    needs = (f"{_PATH}.base_url", f"{_PATH}.api_key", f"{_PATH}.api_key_file")
    if given.base_url and not is_server(given.base_url):
        yield ConfigProblem(f"{_PATH}.base_url", SERVER)
    if text := secret_problem(given.api_key):
        yield ConfigProblem(f"{_PATH}.api_key", text)
    if (given.base_url or given.api_key) and not given.model:
        text = "this setting is missing. Set the model that converts text into vectors, such as text-embedding-3-small"
        yield ConfigProblem(f"{_PATH}.model", text, needs)
    if given.model and not any(embeddings_of(config.memory_search, bot) for bot in config.bots.values()):
        text = (
            "this setting is missing, and no bot has a model whose server could be used instead. Set base_url or an "
            "API key"
        )
        yield ConfigProblem(f"{_PATH}.base_url", text, needs)
    yield from _reranker_findings(config)


def _reranker_findings(config: Config) -> Iterator[ConfigProblem]:
    given = config.memory_search.reranker
    if given.base_url and not is_server(given.base_url):
        yield ConfigProblem(f"{_RERANKER}.base_url", SERVER)
    if text := secret_problem(given.api_key):
        yield ConfigProblem(f"{_RERANKER}.api_key", text)
    needs = tuple(f"{_RERANKER}.{key}" for key in ("model", "base_url", "api_key", "api_key_file"))
    if (given.base_url or given.api_key) and not given.model:
        text = "this setting is missing. Set the model that reranks search results, such as rerank-v3.5"
        yield ConfigProblem(f"{_RERANKER}.model", text, needs)
    if given.model and not given.base_url:
        text = (
            "this setting is missing. Set the address of the server that reranks search results, such as http://host/v1"
        )
        yield ConfigProblem(f"{_RERANKER}.base_url", text, needs)


# Rules for ``[bots.<name>.web]``. Texts about a secret never contain it.


def web_tools_findings(path: str, web: WebToolsConfig, tools: tuple[str, ...]) -> Iterator[ConfigProblem]:
    """Every rule that a bot's section violates; ``path`` is that of the bot."""
    here = f"{path}.web"
    if "web_search" in tools and not web.search:
        text = "this setting is missing. Set the provider for the web_search tool: brave, tavily or searxng"
        yield ConfigProblem(f"{here}.search", text, (f"{path}.tools",))
    if "web_fetch" in tools and (find_spec("resiliparse") is None or find_spec("protego") is None):
        text = "the tool web_fetch needs packages that are not installed. Run: pip install 'millpond[web]'"
        yield ConfigProblem(f"{path}.tools", text)
    if web.search in ("brave", "tavily") and not web.api_key:
        text = f"this setting is missing. Set the API key for {web.search}, or its file"
        yield ConfigProblem(f"{here}.api_key", text, (f"{here}.api_key_file", f"{here}.search"))
    if web.search == "searxng" and not web.search_url:
        text = "this setting is missing. Set the address of your SearXNG server, such as http://127.0.0.1:8888"
        yield ConfigProblem(f"{here}.search_url", text, (f"{here}.search",))
    if web.search_url and not is_server(web.search_url):
        yield ConfigProblem(f"{here}.search_url", SERVER)
    if text := secret_problem(web.api_key):
        yield ConfigProblem(f"{here}.api_key", text)


def exec_findings(config: Config) -> Iterator[ConfigProblem]:
    """Commands that would wait for approval longer than their turns last."""
    limit = "agent.turn_timeout_s"
    for name, bot in config.bots.items():
        if bot.exec.approval and bot.exec.approval_s >= config.agent.turn_timeout_s:
            text = f"the value must be less than {limit}. Got {bot.exec.approval_s} and {config.agent.turn_timeout_s}"
            yield ConfigProblem(f"bots.{name}.exec.approval_s", text, (limit,))
