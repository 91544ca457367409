"""Rules between keys, and rules that a type cannot express.

Pure, but for looking at the time zone database and at which packages are installed.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from urllib.parse import SplitResult, urlsplit

from daemon.config.address import FORM, is_sentinel, sentinel_address
from daemon.config.bot_rules import exec_findings, limit_findings, people_findings, search_findings, web_tools_findings
from daemon.config.channel_rules import discord_findings, slack_findings, telegram_findings, webhook_findings
from daemon.config.channels import PushConfig, TestingConfig, WebConfig
from daemon.config.config_file import data_path
from daemon.config.config_keys import got, join, nearest
from daemon.config.config_reader import ConfigProblem
from daemon.config.feishu_rules import feishu_findings
from daemon.config.model_servers import summary_model_of
from daemon.config.schema import (
    GROUP_COMMANDS,
    BotConfig,
    Config,
    FallbackConfig,
    McpConfig,
    ModelConfig,
    SpeechConfig,
    TranscriptionConfig,
)
from daemon.config.secret import Secret, secret_problem
from daemon.errors import ConfigError

_VARIABLE, _HEADER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}"), re.compile(r"[A-Za-z0-9-]{1,128}")
"""Names of environment variables and of HTTP headers that all programs accept."""
_NAMES = {_VARIABLE: "letters, digits and _, without a digit at the beginning", _HEADER: "letters, digits and -"}

MIN_BUDGET_TOKENS = 1_024
ARCHIVE_SCHEMES = ("s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "https")
REDIS_SCHEMES = ("redis", "rediss", "unix")
SEND_SHARE = 0.8
"""Of a lease, what sending one part may take: what is left is for renewing it."""


def broken(config: Config) -> Iterator[ConfigProblem]:
    """Every rule that ``config`` violates."""
    yield from _data_dir(config)
    yield from _redis(config.redis.url)
    yield from _archive(config.archive.url)
    yield from _order(config)
    yield from _ports(config)
    yield from exec_findings(config)
    for name, bot in config.bots.items():
        yield from _bot(f"bots.{name}", bot)
    for name, channel in config.channels.items():
        if channel.enabled and channel.bot not in config.bots:
            there = ", ".join(config.bots)
            yield ConfigProblem(
                f"channels.{name}.bot", f"bot {got(channel.bot)} was not found. Choose one of: {there}", ("bots",)
            )
        if channel.enabled and isinstance(channel, WebConfig):
            yield from _web(f"channels.{name}", channel)
        if channel.enabled and isinstance(channel, PushConfig):
            yield from _push(f"channels.{name}", channel, config.queue.lease_s)
            yield from _own(f"channels.{name}", channel)
        if channel.enabled and isinstance(channel, TestingConfig):
            yield from _testing(f"channels.{name}", channel)
    yield from people_findings(config)
    yield from limit_findings(config)
    yield from search_findings(config)
    yield from telegram_findings(config)
    yield from slack_findings(config)
    yield from discord_findings(config)
    yield from webhook_findings(config)
    yield from feishu_findings(config)


def _data_dir(config: Config) -> Iterator[ConfigProblem]:
    try:
        data_path(config)
    except ConfigError as error:
        yield ConfigProblem("data_dir", str(error))


def _order(config: Config) -> Iterator[ConfigProblem]:
    queue, bootstrap = config.queue, config.context.bootstrap
    if queue.renew_s >= queue.lease_s:
        text = (
            "the value must be less than lease_s. Otherwise, leases would expire while workers still hold them. "
            f"Got {queue.renew_s} and {queue.lease_s}"
        )
        yield ConfigProblem("queue.renew_s", text, ("queue.lease_s",))
    if queue.backoff_min_s > queue.backoff_max_s:
        text = f"the value must not be greater than backoff_max_s. Got {queue.backoff_min_s} and {queue.backoff_max_s}"
        yield ConfigProblem("queue.backoff_min_s", text, ("queue.backoff_max_s",))
    for path, section in (("context", config.context), ("context.bootstrap", bootstrap)):
        if section.head_ratio + section.tail_ratio > 1:
            text = (
                f"the sum of head_ratio and tail_ratio must not exceed 1. Got {section.head_ratio} and "
                f"{section.tail_ratio}"
            )
            yield ConfigProblem(f"{path}.head_ratio", text, (f"{path}.tail_ratio",))


def _ports(config: Config) -> Iterator[ConfigProblem]:
    """Servers of one process that would listen on the same port."""
    wanted = [("health", config.health.host, config.health.port)]
    wanted += [
        (f"channels.{name}", channel.host, channel.port)
        for name, channel in config.channels.items()
        if isinstance(channel, WebConfig) and channel.enabled
    ]
    taken = dict[tuple[str, int], str]()
    for section, host, port in wanted:
        if port and (other := taken.setdefault((host, port), section)) != section:
            text = f"{port} is also used by {other}. Set a port that is not used by another part of this process"
            yield ConfigProblem(f"{section}.port", text, (f"{other}.port",))


def _redis(url: Secret) -> Iterator[ConfigProblem]:
    if is_sentinel(url.reveal()):
        try:
            sentinel_address(url.reveal())
        except ValueError:
            yield ConfigProblem("redis.url", f"expected {FORM}, got an address of another form")
    elif url and not _is_address(url.reveal(), _names_redis):
        # The address may hold a password, so it is not shown, nor is what the parser says of it.
        yield ConfigProblem(
            "redis.url",
            "expected redis://[:password@]host[:port][/number], rediss://…, unix:///path or sentinel://…, got an "
            "address of another form. Percent-encode special characters in the password",
        )


def _archive(url: Secret) -> Iterator[ConfigProblem]:
    if url and not _is_address(url.reveal(), _names_archive):
        # Not shown, as above.
        yield ConfigProblem(
            "archive.url",
            "expected file:///folder, or the address of an object store, such as s3://bucket/folder, "
            "gs://bucket/folder, az://container/folder or https://host/folder",
        )


def _names_archive(parts: SplitResult) -> bool:
    if parts.scheme == "file":
        return not parts.netloc and len(parts.path) > 1
    return parts.scheme in ARCHIVE_SCHEMES and bool(parts.hostname)


def _names_redis(parts: SplitResult) -> bool:
    if parts.scheme == "unix":
        return bool(parts.path.strip("/"))
    number = parts.path.strip("/")
    return parts.scheme in REDIS_SCHEMES and bool(parts.hostname) and (not number or number.isdecimal())


def _is_address(text: str, fits: Callable[[SplitResult], bool]) -> bool:
    try:
        parts = urlsplit(text)
        return text.isascii() and text.isprintable() and " " not in text and parts.port != 0 and fits(parts)
    except ValueError:  # brackets without end, a port that is no number
        return False


def _bot(path: str, bot: BotConfig) -> Iterator[ConfigProblem]:
    if text := zone_problem(bot.time_zone):
        yield ConfigProblem(f"{path}.time_zone", text)
    for name in bot.groups_may:
        if name not in GROUP_COMMANDS:
            text = f"expected commands from this list: {', '.join(GROUP_COMMANDS)}. Got {got(name)}"
            yield ConfigProblem(f"{path}.groups_may", text)
    first, *fallbacks = bot.model.chain
    yield from _model(f"{path}.model", first)
    for place, fallback in enumerate(fallbacks, 1):
        if fallback.api == first.api or not fallback.offline:
            yield from _fallback(f"{path}.model", place, fallback)
    if bot.summary_model != FallbackConfig():
        yield from _model(f"{path}.summary_model", summary_model_of(bot))
    others = [(f"{path}.model.fallbacks[{place}]", each) for place, each in enumerate(fallbacks, 1)]
    for here, other in (*others, (f"{path}.summary_model", summary_model_of(bot))):
        if other.offline and other.api != first.api:
            text = (
                "this setting is missing, and the API key for the bot's own model is for a different API. Set "
                f"this setting, {other.api.upper()}_API_KEY or base_url"
            )
            yield ConfigProblem(f"{here}.api_key", text, (f"{here}.api_key_file", f"{here}.base_url"))
    yield from _speech(
        f"{path}.transcription", bot, bot.transcription, "converts speech to text (for example, whisper-1)"
    )
    yield from _speech(f"{path}.speech", bot, bot.speech, "converts text to speech (for example, gpt-4o-mini-tts)")
    yield from _tool_servers(f"{path}.mcp", bot.mcp)
    yield from web_tools_findings(path, bot.web, bot.tools)


def _speech(path: str, bot: BotConfig, given: TranscriptionConfig | SpeechConfig, task: str) -> Iterator[ConfigProblem]:
    if given.base_url and not _is_address(given.base_url, _names_server):
        # Not shown: a password in an address is one of the things that is refused here.
        text = (
            "expected http:// or https:// and a host, without a user name or password (a key belongs in api_key_file)"
        )
        yield ConfigProblem(f"{path}.base_url", text)
    if (given.base_url or given.api_key) and not given.name:
        needs = (f"{path}.base_url", f"{path}.api_key", f"{path}.api_key_file")
        yield ConfigProblem(f"{path}.name", f"this setting is missing. Set the name of a model that {task}", needs)
    if given.name and not given.base_url and not given.api_key and (bot.model.offline or bot.model.api != "openai"):
        why = "is offline" if bot.model.offline else "uses Anthropic's API"
        text = (
            f"this setting is missing, and the bot's own model {why}, so the model's server cannot be used. Set "
            "base_url or an API key"
        )
        yield ConfigProblem(f"{path}.base_url", text, (f"{path}.api_key", f"{path}.api_key_file"))
    if text := secret_problem(given.api_key):
        yield ConfigProblem(f"{path}.api_key", text)


def _tool_servers(path: str, servers: Mapping[str, McpConfig]) -> Iterator[ConfigProblem]:
    if servers and find_spec("mcp") is None:
        yield ConfigProblem(path, "tool servers need a package that is not installed. Run: pip install 'millpond[mcp]'")
    for name, server in servers.items():
        here = f"{path}.{name}"
        if bool(server.command) == bool(server.url):
            text = "set either command (a program to start) or url (a server to connect to)"
            yield ConfigProblem(here, text, (f"{here}.command", f"{here}.url"))
        if server.url and not _is_address(server.url, _names_server):
            # Not shown: a password in an address is one of the things that is refused here.
            text = "expected http:// or https:// and a host, without a user name or password (a key belongs in headers)"
            yield ConfigProblem(f"{here}.url", text)
        if any("\0" in text for text in (server.command, *server.args)):
            yield ConfigProblem(f"{here}.command", "a program's name and arguments must not contain NUL characters")
        yield from _texts(f"{here}.env", server.env, _VARIABLE)
        yield from _texts(f"{here}.headers", server.headers, _HEADER)


def _texts(path: str, texts: Mapping[str, Secret], name_rule: re.Pattern[str]) -> Iterator[ConfigProblem]:
    for name, secret in texts.items():
        if not name_rule.fullmatch(name):
            yield ConfigProblem(join(path, name), f"the name is not valid: use at most 128 {_NAMES[name_rule]}")
        elif name_rule is _VARIABLE:
            if "\0" in secret.reveal():
                yield ConfigProblem(f"{path}.{name}", "the value must not contain NUL characters")
        elif not (secret.reveal().isascii() and secret.reveal().isprintable()):
            yield ConfigProblem(f"{path}.{name}", "the value must be one line of ASCII characters")


def zone_problem(name: str) -> str:
    """The problem of a time zone name; empty if it is valid."""
    if name == "UTC":  # holds on a machine without a time zone database too
        return ""
    import zoneinfo  # noqa: PLC0415 - seldom needed, and start-up is counted in milliseconds

    try:
        zoneinfo.ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        known = zoneinfo.available_timezones()
        if not known:
            return "this machine has no time zone database. Install the package tzdata, or set UTC"
        near = nearest(name, known)
        hint = f". Did you mean {near}?" if near else ", such as Europe/Berlin"
        return f"expected an IANA time zone, got {got(name)}{hint}"
    return ""


def _model(path: str, model: ModelConfig) -> Iterator[ConfigProblem]:
    if model.base_url and not _is_address(model.base_url, _names_server):
        # Not shown: a password in an address is one of the things that is refused here.
        text = (
            "expected http:// or https:// and a host, without a user name or password (a key belongs in api_key_file)"
        )
        yield ConfigProblem(f"{path}.base_url", text)
    if not model.offline and not model.name:
        needs = (f"{path}.api_key", f"{path}.base_url", f"{path}.api_key_file")
        yield ConfigProblem(
            f"{path}.name", f"this setting is missing. Set {path}.name or {model.api.upper()}_MODEL", needs
        )
    if text := secret_problem(model.api_key):
        yield ConfigProblem(f"{path}.api_key", text)
    if model.api == "anthropic":
        yield from _anthropic(path, model)
    yield from _budget(path, model)


MIN_THINKING_TOKENS = 1_024
"""The least that the API takes (https://platform.claude.com/docs/en/build-with-claude/extended-thinking)."""


def _anthropic(path: str, model: ModelConfig) -> Iterator[ConfigProblem]:
    if find_spec("anthropic") is None:
        text = "Anthropic's API needs a package that is not installed. Run: pip install 'millpond[anthropic]'"
        yield ConfigProblem(f"{path}.api", text)
    budget, answer = model.thinking.budget_tokens, model.completion_tokens
    if model.thinking.type == "enabled" and not MIN_THINKING_TOKENS <= budget < answer:
        text = (
            f"the value must be at least {MIN_THINKING_TOKENS:,} and less than the maximum answer length of "
            f"{answer:,} tokens (max_completion_tokens, but at most a quarter of the context window). Got "
            f"{budget:,}"
        )
        yield ConfigProblem(f"{path}.thinking.budget_tokens", text, (f"{path}.max_completion_tokens",))


def _fallback(path: str, place: int, fallback: ModelConfig) -> Iterator[ConfigProblem]:
    here = f"{path}.fallbacks[{place}]"
    if fallback.offline:
        text = (
            "this fallback would never be used because the bot's own model is the offline mock model, which "
            f"never fails. Set {path}.base_url or an API key first"
        )
        yield ConfigProblem(here, text, (f"{path}.base_url", f"{path}.api_key", f"{path}.api_key_file"))
    elif not fallback.name:
        yield ConfigProblem(f"{here}.name", "this setting is missing. Name the fallback's model")
    else:
        yield from _model(here, fallback)


def _names_server(parts: SplitResult) -> bool:
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None


def _budget(path: str, model: ModelConfig) -> Iterator[ConfigProblem]:
    if model.budget_tokens >= MIN_BUDGET_TOKENS:
        return
    needs = (f"{path}.max_completion_tokens", f"{path}.safety_buffer_tokens")
    text = (
        f"a context window of {model.context_window_tokens:,} tokens leaves only {model.budget_tokens:,} tokens "
        f"for the prompt. {model.completion_tokens:,} tokens are reserved for the answer (max_completion_tokens, "
        f"but at most a quarter of the window), and {model.safety_buffer_tokens:,} tokens are kept free "
        f"(safety_buffer_tokens). A prompt requires at least {MIN_BUDGET_TOKENS:,} tokens. Raise "
        "context_window_tokens, or lower the other two settings"
    )
    yield ConfigProblem(f"{path}.context_window_tokens", text, needs)


def _web(path: str, channel: WebConfig) -> Iterator[ConfigProblem]:
    if not channel.host:
        yield ConfigProblem(f"{path}.host", "the value must not be empty. 0.0.0.0 listens on every address")
    elif not channel.token and not is_loopback(channel.host):
        text = (
            f"this setting is required because {got(channel.host)} can be reached from other machines. Set "
            "token_file, or set host to 127.0.0.1"
        )
        yield ConfigProblem(f"{path}.token", text, (f"{path}.token_file", f"{path}.host"))
    if channel.open and not is_loopback(channel.host):
        text = (
            f"an open channel accepts requests without a token, but {got(channel.host)} can be reached from other "
            "machines. Remove the `open` setting, or set host to 127.0.0.1"
        )
        yield ConfigProblem(f"{path}.open", text, (f"{path}.host",))
    tokens = {
        "token": channel.token,
        "member_token": channel.member_token,
        "completions_token": channel.completions_token,
    }
    for key, token in tokens.items():
        if text := secret_problem(token):
            yield ConfigProblem(f"{path}.{key}", text)
        if token and key != "token" and token == channel.token:
            text = "the value must differ from the `token` setting, which grants operator rights. Set another value"
            yield ConfigProblem(f"{path}.{key}", text, (f"{path}.token", f"{path}.{key}_file"))


def _push(path: str, channel: PushConfig, lease_s: float) -> Iterator[ConfigProblem]:
    if channel.send_timeout_s > SEND_SHARE * lease_s:
        text = (
            f"the value must be at most {SEND_SHARE:.0%} of queue.lease_s so that sending a message ends before the "
            f"lease expires. Got {channel.send_timeout_s} and {lease_s}"
        )
        yield ConfigProblem(f"{path}.send_timeout_s", text, ("queue.lease_s",))


def _own(path: str, channel: PushConfig) -> Iterator[ConfigProblem]:
    try:
        found = [ConfigProblem(f"{path}.{key}", text) for key, text in channel.problems()]
    except Exception as error:  # noqa: BLE001 - another package's code: a person has to be told whose section it was
        text = (
            "the package that provides this channel type failed to check this section of the configuration: "
            f"{type(error).__name__}: {error}"
        )
        found = [ConfigProblem(path, text)]
    yield from found


def _testing(path: str, channel: TestingConfig) -> Iterator[ConfigProblem]:
    for key, url, needed in (("url", channel.url, True), ("updates_url", channel.updates_url, False)):
        if (url or needed) and not _is_address(url, _names_this_machine):
            text = f"expected http:// and an address of this machine, such as http://127.0.0.1:9000/, got {got(url)}"
            yield ConfigProblem(f"{path}.{key}", text)


def _names_this_machine(parts: SplitResult) -> bool:
    return _names_server(parts) and is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Whether a server that listens on ``host`` can be reached only from its own machine."""
    if host in ("127.0.0.1", "localhost", "::1"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
