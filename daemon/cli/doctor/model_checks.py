"""The doctor's checks of models, prompt caches, the search engine and reminders."""

import shutil
import subprocess

from anyio import to_thread

from daemon.bus import Bus
from daemon.cli.doctor.doctor_finding import Finding, error, ok, warning
from daemon.clock import Clock
from daemon.config import (
    BotConfig,
    Config,
    MemorySearchConfig,
    ModelConfig,
    speech_of,
    summary_model_of,
    transcription_of,
)
from daemon.errors import ModelError
from daemon.model import account_of, read_failing, stored
from daemon.model.dialect import differences, known_of, server_of
from daemon.recall.qmd import INSTALL, PROGRAM, ProbeResult, probed
from daemon.setup.voice_interview import try_voice
from daemon.usage import UsageBook, last_days
from daemon.wording.durations import duration

# The doctor's report of models that fail, of what the workers have learnt about their servers, and of speech.

_NAMES = {"outage": "outage", "setup": "set-up fault", "refused": "refusals"}


async def examine_models(bus: Bus, config: Config) -> list[Finding]:
    """A finding for each model that cannot be asked, and for each whose server refused something.

    Raises:
        BusUnavailable: the server became unavailable meanwhile.
    """
    return [finding for model in _models(config) for finding in await _examine(bus, model)]


async def examine_speech(name: str, bot: BotConfig, *, probe: bool) -> list[Finding]:
    """Whether voice messages to a bot can be transcribed and its answers be spoken; with ``probe``, a word is."""
    hears, speaks = transcription_of(bot), speech_of(bot)
    check = f"speech of {name}" if speaks else f"transcription of {name}"
    if hears is None and speaks is None:
        return []
    if hears is None:
        text = f"bots.{name}.transcription is not set, so the model cannot understand voice messages"
        return [warning(check, text)]
    if not probe:
        both = [(f"transcription of {name}", hears), (f"speech of {name}", speaks)]
        return [ok(each, f"{its.name} was not tested (--probe-model tests the model)") for each, its in both if its]
    try:
        return [ok(check, await try_voice(hears, speaks))]
    except ModelError as failure:
        return [error(check, str(failure))]


def _models(config: Config) -> list[ModelConfig]:
    """Each model of the configuration once, fallbacks and summary models too."""
    models = [model for bot in config.bots.values() for model in (bot.model, summary_model_of(bot))]
    return list({(each.name, account_of(each)): each for model in models for each in model.chain}.values())


async def _examine(bus: Bus, model: ModelConfig) -> list[Finding]:
    found: list[Finding] = []
    if failing := await read_failing(bus, model):
        text = f"{failing.reason} ({_NAMES[failing.kind]} for {duration(failing.since_s, 'en')})"
        found.append(error(f"model {model.name}", text))
    learnt = await stored(bus, model)
    if learnt and (lines := learnt.lines(model)):
        found.append((ok if learnt.window_tokens is None else warning)(f"server of {model.name}", "; ".join(lines)))
    return found


# The doctor's report of prompt caches: the share of each bot's input that providers read from their caches.

DAYS = 2
"""Days that are examined, including today: long enough for quiet bots, and a remedy shows on the next day."""
CALLS_MIN = 50
"""With fewer model calls, the first calls of conversations, which no cache can know, decide the share."""
PROMPT_MIN_TOKENS = 1_024
"""Providers do not cache shorter prompts (OpenAI; Anthropic from 1,024 tokens on, depending on the model)."""
HINTS = {"key", "cache", "marks"}
"""Fields of ``Dialect`` for the hints that requests contain for prompt caches."""
SHARE_MIN = 0.5
"""Consecutive prompts share more than nine tenths of their bytes (``benchmarks cache``)."""


FULL_PRICE = (
    "The provider reports cached tokens, but no price for cached input is set, so Millpond counts cached tokens at "
    "the full price. Set model.prices.cached_input."
)


async def examine_caching(bus: Bus, config: Config, clock: Clock) -> list[Finding]:
    """Findings for each bot with enough model calls whose provider reports cached tokens, and for missing prices.

    Raises:
        BusUnavailable: the server became unavailable meanwhile.
    """
    found: list[Finding] = []
    accounts = await UsageBook(bus).read(last_days(config, DAYS, clock), by="bot")
    for name, bot in config.bots.items():
        amount = accounts.get(name)
        if amount is None or amount.cached_share is None:
            continue
        if amount.cached_in and bot.model.prices.input and bot.model.prices.cached_input is None:
            found.append(warning(f"prices of {name}", FULL_PRICE))
        if amount.calls < CALLS_MIN or amount.cacheable_in < amount.calls * PROMPT_MIN_TOKENS:
            continue
        text = f"{amount.cached_share:.0%} of the input tokens since yesterday came from the provider's prompt cache"
        if amount.cached_share >= SHARE_MIN:
            found.append(ok(f"prompt cache of {name}", text))
        else:
            found.append(warning(f"prompt cache of {name}", f"{text}. {await _cause(bus, config, bot)}"))
    return found


async def _cause(bus: Bus, config: Config, bot: BotConfig) -> str:
    """The most likely cause of a low share, and the remedy."""
    if config.memory_search.place == "system":
        return (
            'The memory_search.place setting is "system", so the memories found for a message change the beginning '
            'of each prompt. Set memory_search.place to "user".'
        )
    learnt = await stored(bus, bot.model)
    if learnt and learnt.dialect and HINTS & set(differences(known_of(server_of(bot.model)), learnt.dialect)):
        return (
            f"The server of {bot.model.name} rejected prompt cache markers, so the server might not find a "
            "conversation's cached prompts. Use a server or gateway that accepts prompt_cache_key and cache_control."
        )
    return (
        "Likely causes are long pauses between messages (a provider often keeps its cache for only 5 minutes), a "
        "gateway that sends the requests of a conversation to different servers, and bootstrap files or tools that "
        "change often. Extend the cache lifetime at the provider, or send all requests of a conversation to the same "
        "server. `millpond trace ID` shows the cached share of a turn's tokens."
    )


# The doctor's check of the search engine for memories.

CHECK = "memory search"
NODE_OLDEST = 22
"""Of QMD 2.8."""

NODE_S = 10.0
SAID_MAX_CHARS = 200


async def examine_search(config: MemorySearchConfig) -> list[Finding]:
    """Whether the engine can do what the configuration requires; QMD is tested with a real search."""
    if config.backend == "builtin":
        return [ok(CHECK, f"the built-in engine, {config.mode_used}")]
    found = await probed(config.qmd or PROGRAM)
    if not found.why:
        return [
            ok(CHECK, f"QMD {found.version} ({found.path}) works; a test search took {found.took_s:.2f} s"),
            *_meaning(config),
        ]
    return [warning(CHECK, await to_thread.run_sync(_wrong, config, found))]


def _meaning(config: MemorySearchConfig) -> list[Finding]:
    if config.mode_used == "search":
        return []
    text = (
        f"in mode {config.mode_used}, QMD downloads 2 GB of models before it creates the first vectors. "
        "The built-in engine answers searches until all vectors exist, and whenever QMD is too slow"
    )
    return [warning(CHECK, text)]


def _wrong(config: MemorySearchConfig, found: ProbeResult) -> str:
    """The problem and the remedy. Blocks."""
    builtin = "Until QMD works, searches use the built-in engine."
    if not found.path:
        where = (
            f"memory_search.qmd is set to {config.qmd}, which cannot be started"
            if config.qmd
            else "the program qmd was not found on the PATH"
        )
        return f"{where}. {INSTALL}. {builtin}"
    said = " ".join(found.said.split())[-SAID_MAX_CHARS:]
    why = f"{found.path}: {found.why}{f' ({said})' if said else ''}"
    return f"{why}. {_node()}. {INSTALL}, or set memory_search.backend to builtin. {builtin}"


def _node() -> str:
    """The version of Node.js: under an older one QMD prints its version, but crashes at every search."""
    program = shutil.which("node")
    if program is None:
        return "Node.js was not found on the PATH"
    try:
        asked = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=NODE_S, check=False)  # noqa: S603 - as found
        version = asked.stdout.strip()
        major = int(version.removeprefix("v").partition(".")[0])
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return f"{program} did not report its version"
    if major < NODE_OLDEST:
        return f"Node.js is version {version} ({program}), but QMD needs {NODE_OLDEST} or newer"
    return f"Node.js is {version}"


# What ``millpond doctor`` finds out about reminders.

LATE_MS = 60_000
"""From then on a reminder is late: workers look for them every half second."""


async def examine_reminders(bus: Bus) -> list[Finding]:
    """Whether reminders fire in time. Raises BusUnavailable."""
    seconds, _ = await bus.call("TIME")
    late_ms = int(seconds) * 1000 - LATE_MS
    keys = [bus.keys.upcoming(partition) for partition in range(bus.keys.partitions)]
    active = sum([await bus.call("ZCARD", key) for key in keys])
    late = sum([len(await bus.call("ZRANGEBYSCORE", key, "-inf", late_ms)) for key in keys])
    if late:
        text = f"{late:,} of {active:,} active reminders are late. Start a process with the `agent` role."
        return [warning("reminders", text)]
    return [ok("reminders", f"{active:,} active")]
