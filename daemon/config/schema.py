"""The sections of the configuration as frozen structs; every default carries its unit in its name.

Where no other source is named, a default is the system's own specification. Sections are ``[redis]``, ``[queue]``,
``[agent]``, ``[run]``, ``[health]``, ``[consolidation]``, ``[archive]``, ``[retention]``, ``[memory_flush]``,
``[memory_search]``, ``[memory_search.embeddings]``, ``[memory_search.reranker]``, ``[micro_compact]``, ``[context]``,
``[context.bootstrap]``,
``[bots.<name>]`` and
``[channels.<name>]`` (``channels``).
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from daemon.config.bot_settings import ExecConfig, LimitsConfig, PricesConfig, RemindersConfig, WebToolsConfig
from daemon.config.channels import ChannelConfig, TerminalConfig, WebConfig
from daemon.config.memory_settings import (
    ArchiveConfig,
    ConsolidationConfig,
    MemoryFlushConfig,
    MemorySearchConfig,
    MicroCompactConfig,
    RetentionConfig,
)
from daemon.config.secret import Secret
from daemon.config.section import (
    NO_SECRET,
    Count,
    PathText,
    Port,
    Seconds,
    Section,
    Share,
    Tokens,
    WindowTokens,
)


class RedisConfig(Section, frozen=True):
    """The connection to Redis."""

    url: Secret = NO_SECRET
    """``redis://``, ``rediss://`` or ``unix://``; empty: an embedded server in ``data_dir``. May hold a password."""
    url_file: PathText = ""
    """A file that holds it."""
    prefix: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.-]+\Z")] = "mp"
    """First part of every key."""
    partitions: Annotated[int, Meta(ge=1, le=16384)] | None = None
    """Fixed when a database is first used: 1, or 64 on a cluster. Unset: what the database says."""
    min_replicas: Annotated[int, Meta(ge=0, le=16)] = 0
    """Replicas that must have a message before it counts as accepted, and a turn before it counts as committed."""
    server: PathText = ""
    """Path of the server program for the embedded server; empty: the one that came with Millpond, else the PATH's."""


class QueueConfig(Section, frozen=True):
    """Limits and times for accepting, claiming and retrying."""

    waiting_max: Count = 1_000
    """Messages that may wait in one session."""
    partition_max: Count = 100_000
    """Messages that may wait in one partition."""
    message_max_bytes: Count = 262_144
    """Largest text of a message, UTF-8."""
    seen_ttl_s: Seconds = 86_400.0
    """How long an accepted message's id is remembered."""
    lease_s: Seconds = 15.0
    renew_s: Seconds = 5.0
    """How often a worker renews the leases it holds."""
    wakeup_s: Seconds = 5.0
    """How long a woken session may go unclaimed before the reaper wakes it again."""
    attempts_max: Count = 5
    """Claims of a message without progress before it becomes a dead letter."""
    backoff_min_s: Seconds = 1.0
    backoff_max_s: Seconds = 30.0
    park_max_s: Seconds = 21_600.0
    """How long a session waits out a model's outage."""
    notice_ttl_s: Seconds = 86_400.0
    """How long an aside stays readable."""
    live_ttl_s: Seconds = 60.0
    """How long text that is being written is kept for viewers who join."""


class AgentConfig(Section, frozen=True):
    """How agent workers run turns."""

    slots: Count = 64
    """Turns at a time in one process."""
    turn_timeout_s: Seconds = 600.0
    tool_timeout_s: Seconds = 60.0
    iterations_max: Count = 25
    """Model calls in one turn."""
    tool_calls_max: Count = 256
    """Tool calls in one turn, and so in one answer; some ten for each model call."""
    attachment_max_bytes: Count = 20_000_000
    """Largest file of a person's that is fetched; what Telegram lets bots fetch (Bot API, ``getFile``)."""


class RunConfig(Section, frozen=True):
    """The life and the end of a process."""

    grace_s: Seconds = 25.0
    """What a stopping process gives its turns to finish before it hands them over."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"


class HealthConfig(Section, frozen=True):
    """The address at which each process reports its health (``channels/web/health_endpoints.py``), in all roles."""

    host: str = "127.0.0.1"
    port: Port | None = None
    """Unset: nowhere; 0: any free one."""


class BootstrapConfig(Section, frozen=True):
    """The share of the workspace's bootstrap files in the prompt."""

    max_chars: Count = 20_000
    total_max_chars: Count = 24_000
    head_ratio: Share = 0.7
    tail_ratio: Share = 0.2
    min_budget_chars: Count = 64


class ContextConfig(Section, frozen=True):
    """The content of a prompt."""

    workspace_max_share: Share = 0.25
    """Of the budget, what bootstrap files and skills may take together."""
    head_ratio: Share = 0.7
    tail_ratio: Share = 0.2
    """What is shown of a message that alone does not fit: its beginning and its end."""
    bootstrap: BootstrapConfig = BootstrapConfig()


class MemoryConfig(Section, frozen=True):
    """The scope of the memory that a bot keeps."""

    scope: Literal["auto", "session", "person", "workspace"] = "auto"
    """``auto``: the person in a direct chat, the group in a group."""


class ThinkingConfig(Section, frozen=True):
    """The thinking settings of a model behind Anthropic's API, sent unchanged."""

    type: Literal["default", "enabled", "adaptive", "disabled"] = "default"
    """``default``: nothing is sent, and the model does as is usual for it."""
    budget_tokens: Tokens = 0
    """With ``enabled``: tokens that it may think, of those of the answer."""


class FallbackConfig(Section, frozen=True):
    """A model that is called when the models before it fail. Its unset keys are those of the first model.

    Without a ``base_url`` of its own it is at the first one's server, with its key; with one, the key is its own too.
    """

    api: Literal["openai", "anthropic"] | None = None
    """Another one than the first's: the address is not the first's either, nor the key."""
    base_url: str = ""
    name: str = ""
    """Required."""
    api_key: Secret = NO_SECRET
    api_key_file: PathText = ""
    context_window_tokens: WindowTokens | None = None
    """It is passed over while the prompt does not fit."""
    max_completion_tokens: Count | None = None
    safety_buffer_tokens: Tokens | None = None
    call_timeout_s: Seconds | None = None
    chunk_timeout_s: Seconds | None = None
    max_concurrent: Count | None = None
    thinking: ThinkingConfig = ThinkingConfig()
    """``default``: as the first one."""
    prices: PricesConfig = PricesConfig()


class ModelConfig(Section, frozen=True):
    """The model of a bot; offline when neither ``base_url`` nor a key is set."""

    api: Literal["openai", "anthropic"] = "openai"
    """What its server speaks: OpenAI's chat completions, or Anthropic's messages."""
    base_url: str = ""
    """Of the server, ``https://host/v1``; default ``OPENAI_BASE_URL`` or ``ANTHROPIC_BASE_URL``."""
    name: str = ""
    """Default ``OPENAI_MODEL`` or ``ANTHROPIC_MODEL``; required unless offline."""
    api_key: Secret = NO_SECRET
    """Default ``OPENAI_API_KEY`` or ``ANTHROPIC_API_KEY``; better in a file than in the configuration."""
    api_key_file: PathText = ""
    context_window_tokens: WindowTokens = 65_536
    max_completion_tokens: Count = 8_192
    """Capped at a quarter of the window."""
    safety_buffer_tokens: Tokens = 1_024
    call_timeout_s: Seconds = 120.0
    chunk_timeout_s: Seconds = 30.0
    """Longest silence inside a streamed answer."""
    max_concurrent: Count = 64
    """Calls at a time in one process; others wait for their turn within ``call_timeout_s``."""
    vision: bool = True
    """Whether it takes images; else they are named to it, and it reads them with a tool if it can."""
    thinking: ThinkingConfig = ThinkingConfig()
    prices: PricesConfig = PricesConfig()
    fallbacks: tuple[FallbackConfig, ...] = ()
    """Asked in this order when the first one gives no answer."""

    @property
    def chain(self) -> "tuple[ModelConfig, ...]":
        """This model, then its fallbacks with all keys filled in. None of them has fallbacks."""
        alone = msgspec.structs.replace(self, fallbacks=())
        return (alone, *(filled(alone, fallback) for fallback in self.fallbacks))

    @property
    def names(self) -> list[str]:
        """Names of the models that a conversation may choose, its own first."""
        return ["offline"] if self.offline else list(dict.fromkeys(model.name for model in self.chain))

    @property
    def offline(self) -> bool:
        """Whether the mock model answers."""
        return not (self.base_url or self.api_key)

    @property
    def completion_tokens(self) -> int:
        """Tokens kept free for the answer: ``max_completion_tokens``, at most a quarter of the window."""
        return min(self.max_completion_tokens, self.context_window_tokens // 4)

    @property
    def budget_tokens(self) -> int:
        """The largest prompt: window less answer less safety buffer."""
        return self.context_window_tokens - self.completion_tokens - self.safety_buffer_tokens


def filled(first: ModelConfig, fallback: FallbackConfig) -> ModelConfig:
    """``fallback`` with its unset keys taken from ``first``."""
    own = {name: value for name in fallback.__struct_fields__ if (value := getattr(fallback, name)) is not None}
    if fallback.thinking == ThinkingConfig():
        own["thinking"] = first.thinking
    if not fallback.base_url and own.get("api", first.api) == first.api:
        own["base_url"] = first.base_url
        own["api_key"] = fallback.api_key or first.api_key
    return msgspec.structs.replace(first, **own)


class McpConfig(Section, frozen=True):
    """A tool server of the Model Context Protocol: a program to start, or an address."""

    command: str = ""
    """Program that speaks the protocol over its standard input and output."""
    args: tuple[str, ...] = ()
    env: dict[str, Secret] = msgspec.field(default_factory=dict[str, Secret])
    """Its environment, beside a few variables that every program needs; nothing else of ours is handed on."""
    url: str = ""
    """Where a server is that speaks it over HTTP (streamable HTTP)."""
    headers: dict[str, Secret] = msgspec.field(default_factory=dict[str, Secret])
    """Sent with every request."""
    tools: tuple[str, ...] = ()
    """Which of its tools the bot may use, by the server's names; empty: all."""
    timeout_s: Seconds = 60.0
    """How long a call may take."""


class TranscriptionConfig(Section, frozen=True):
    """The server that transcribes speech, ``POST <base_url>/audio/transcriptions``; off while ``name`` is empty."""

    base_url: str = ""
    """An OpenAI-compatible server, ``https://host/v1``; empty: the model's own, with its key."""
    name: str = ""
    """As ``whisper-1``."""
    api_key: Secret = NO_SECRET
    api_key_file: PathText = ""
    timeout_s: Seconds = 60.0
    """How long one recording may take."""
    prices: PricesConfig = PricesConfig()
    """Of a second of speech, 10 tokens are paid where the server does not say how many there are."""


class SpeechConfig(Section, frozen=True):
    """The server that speaks answers to voice messages, ``POST <base_url>/audio/speech``; off if ``name`` is empty."""

    base_url: str = ""
    """As in ``TranscriptionConfig``."""
    name: str = ""
    """As ``gpt-4o-mini-tts``."""
    api_key: Secret = NO_SECRET
    api_key_file: PathText = ""
    voice: str = "alloy"
    """Name of a voice that the server has (OpenAI, "Text to speech")."""
    format: Literal["opus", "mp3"] = "opus"
    """Of the recordings; Opus comes in an Ogg file."""
    timeout_s: Seconds = 60.0
    """How long one answer may take."""
    max_chars: Count = 4_000
    """A longer answer is not spoken; OpenAI takes 4,096 characters."""
    prices: PricesConfig = PricesConfig()
    """A character counts as a token."""


GROUP_COMMANDS = ("compact", "export", "forget", "memory", "model", "new", "remind", "stop")
"""Commands that are about the conversation or the memory that all members of a group share."""


TOOLS = (
    *("time", "message", "compact", "read_file", "write_file", "edit_file", "list_files", "grep"),
    *("memory_search", "memory_get", "conversation_search", "remind"),
)
"""Of a bot that lists none: the builtin tools that stay within a conversation's own files."""


class BotConfig(Section, frozen=True):
    """One personality with its workspace, model and limits."""

    workspace: PathText = ""
    """Folder of its files; default ``<data_dir>/bots/<name>``."""
    tools: tuple[str, ...] = TOOLS
    language: Literal["en", "zh"] = "en"
    """Of what the bot itself says, not of the model."""
    time_zone: str = "UTC"
    """IANA name."""
    admins: tuple[str, ...] = ()
    groups_may: tuple[str, ...] = ("memory", "stop")
    """Of ``GROUP_COMMANDS``, those that also members may use who are no administrators. These two change no memory."""
    context_budget_tokens: Tokens = 0
    """0: every iteration of a turn gets the full history; 1 to 499 count as 500."""
    memory: MemoryConfig = MemoryConfig()
    model: ModelConfig = ModelConfig()
    summary_model: FallbackConfig = FallbackConfig()
    """Sums up, see ``summary_model_of``; its name may be left open too."""
    titles: Literal["auto", "words", "model"] = "auto"
    """Conversation titles: their first words, or by the summary model; auto: by the model if one is set."""
    transcription: TranscriptionConfig = TranscriptionConfig()
    speech: SpeechConfig = SpeechConfig()
    web: WebToolsConfig = WebToolsConfig()
    exec: ExecConfig = ExecConfig()
    limits: LimitsConfig = LimitsConfig()
    reminders: RemindersConfig = RemindersConfig()
    mcp: dict[str, McpConfig] = msgspec.field(default_factory=dict[str, McpConfig])
    """Tool servers by name; their tools are called ``<name>_<tool>``."""

    @property
    def titles_by_model(self) -> bool:
        """Whether a model writes the titles of conversations."""
        return self.titles == "model" or (self.titles == "auto" and self.summary_model != FallbackConfig())


class PersonConfig(Section, frozen=True):
    """A person with several identities, which share one memory with each bot."""

    identities: tuple[str, ...] = ()
    """``<channel instance>:<sender>`` each, as ``/whoami`` shows it; the memory of a bot's first one stays."""


def _default_bots() -> dict[str, BotConfig]:
    return {"pond": BotConfig()}


def _default_channels() -> dict[str, ChannelConfig]:
    return {"terminal": TerminalConfig(), "web": WebConfig()}


class Config(Section, frozen=True):
    """The whole configuration."""

    data_dir: PathText = "~/.millpond"
    """Everything that is kept lies here."""
    redis: RedisConfig = RedisConfig()
    queue: QueueConfig = QueueConfig()
    agent: AgentConfig = AgentConfig()
    run: RunConfig = RunConfig()
    health: HealthConfig = HealthConfig()
    consolidation: ConsolidationConfig = ConsolidationConfig()
    archive: ArchiveConfig = ArchiveConfig()
    retention: RetentionConfig = RetentionConfig()
    memory_flush: MemoryFlushConfig = MemoryFlushConfig()
    memory_search: MemorySearchConfig = MemorySearchConfig()
    micro_compact: MicroCompactConfig = MicroCompactConfig()
    context: ContextConfig = ContextConfig()
    bots: dict[str, BotConfig] = msgspec.field(default_factory=_default_bots)
    channels: dict[str, ChannelConfig] = msgspec.field(default_factory=_default_channels)
    people: dict[str, PersonConfig] = msgspec.field(default_factory=dict[str, PersonConfig])
