"""The configuration: one TOML file and the environment, decoded into frozen structs.

``load`` reads and checks it; the structs are the sections as they stand in the file.
"""

from daemon.config.channel_plugins import Adapter, connect_of
from daemon.config.channels import (
    AccessConfig,
    ChannelConfig,
    DiscordConfig,
    FeishuConfig,
    FeishuEventsConfig,
    PushConfig,
    SlackConfig,
    SlackEventsConfig,
    TelegramConfig,
    TerminalConfig,
    TestingConfig,
    WebConfig,
    WebhookChannelConfig,
    WebhookConfig,
    WebLimitsConfig,
)
from daemon.config.config_loader import Loaded, load
from daemon.config.config_reader import Finding
from daemon.config.config_rules import zone_problem
from daemon.config.embedding_server import embeddings_of
from daemon.config.exec_tool import ExecConfig
from daemon.config.limit_settings import CostConfig, EachConfig, LimitsConfig
from daemon.config.memory_settings import (
    ArchiveConfig,
    ConsolidationConfig,
    EmbeddingsConfig,
    MemoryFlushConfig,
    MemorySearchConfig,
    MicroCompactConfig,
    RerankerConfig,
    RetentionConfig,
)
from daemon.config.paths import bot_workspace, data_path
from daemon.config.prices import PricesConfig
from daemon.config.reminder_settings import RemindersConfig
from daemon.config.schema import (
    GROUP_COMMANDS,
    TOOLS,
    AgentConfig,
    BootstrapConfig,
    BotConfig,
    Config,
    ContextConfig,
    FallbackConfig,
    HealthConfig,
    McpConfig,
    MemoryConfig,
    ModelConfig,
    QueueConfig,
    RedisConfig,
    RunConfig,
    SpeechConfig,
    TranscriptionConfig,
)
from daemon.config.secret import Secret, decode_secret, encode_secret, masked_url
from daemon.config.section import PathText, Port, Seconds
from daemon.config.summary_model import summary_model_of
from daemon.config.transcription_server import speech_of, transcription_of
from daemon.config.web_tools import WebToolsConfig
from daemon.config.webhook_rules import signing_key

__all__ = [
    "GROUP_COMMANDS",
    "TOOLS",
    "AccessConfig",
    "Adapter",
    "AgentConfig",
    "ArchiveConfig",
    "BootstrapConfig",
    "BotConfig",
    "ChannelConfig",
    "Config",
    "ConsolidationConfig",
    "ContextConfig",
    "CostConfig",
    "DiscordConfig",
    "EachConfig",
    "EmbeddingsConfig",
    "ExecConfig",
    "FallbackConfig",
    "FeishuConfig",
    "FeishuEventsConfig",
    "Finding",
    "HealthConfig",
    "LimitsConfig",
    "Loaded",
    "McpConfig",
    "MemoryConfig",
    "MemoryFlushConfig",
    "MemorySearchConfig",
    "MicroCompactConfig",
    "ModelConfig",
    "PathText",
    "Port",
    "PricesConfig",
    "PushConfig",
    "QueueConfig",
    "RedisConfig",
    "RemindersConfig",
    "RerankerConfig",
    "RetentionConfig",
    "RunConfig",
    "Seconds",
    "Secret",
    "SlackConfig",
    "SlackEventsConfig",
    "SpeechConfig",
    "TelegramConfig",
    "TerminalConfig",
    "TestingConfig",
    "TranscriptionConfig",
    "WebConfig",
    "WebLimitsConfig",
    "WebToolsConfig",
    "WebhookChannelConfig",
    "WebhookConfig",
    "bot_workspace",
    "connect_of",
    "data_path",
    "decode_secret",
    "embeddings_of",
    "encode_secret",
    "load",
    "masked_url",
    "signing_key",
    "speech_of",
    "summary_model_of",
    "transcription_of",
    "zone_problem",
]
