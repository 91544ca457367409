"""The session that a person names, and the person's identity."""

import getpass

from daemon.config import Config, TerminalConfig
from daemon.errors import ConfigError, ForeignSession
from daemon.sessionkey import SessionKey


def user_name() -> str:
    """The name of the person at this terminal, as the system knows it; ``user`` where it knows none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container's user without an entry in /etc/passwd
        return "user"


def terminal_of(config: Config) -> str:
    """The terminal's channel instance.

    Raises:
        ConfigError: every one is disabled.
    """
    enabled = [name for name, channel in config.channels.items() if _is_open(channel)]
    if not enabled:
        raise ConfigError(
            "Chatting in a terminal is disabled in the configuration. Set channels.terminal.enabled = true."
        )
    return "terminal" if "terminal" in enabled else enabled[0]


def own_session(config: Config, name: str = "") -> SessionKey:
    """The session called ``name`` of the terminal, by default the one called as its user.

    Raises:
        BadSessionKey: the name cannot be read.
        ForeignSession: it belongs to another channel.
        ConfigError: there is no terminal channel.
    """
    channel = terminal_of(config)
    key = SessionKey.of_channel(name or user_name(), channel)
    if not _is_open(config.channels.get(key.channel)):
        raise ForeignSession(
            f"session {key} belongs to channel {key.channel}, not to the terminal. Choose a session of the terminal "
            f"with --session NAME, or send the message with `millpond send {key} TEXT`."
        )
    return key


def any_session(config: Config, name: str) -> SessionKey:
    """The session called ``name``, of whatever channel; a bare name is one of the terminal's.

    Raises:
        BadSessionKey: the name cannot be read.
        ForeignSession: no channel of the configuration owns it.
        ConfigError: the name is bare and there is no terminal channel.
    """
    key = SessionKey.parse(name) if ":" in name else SessionKey.of_channel(name, terminal_of(config))
    if key.channel not in config.channels:
        known = ", ".join(config.channels)
        raise ForeignSession(
            f"session {key}: channel {key.channel} is not in the configuration. Its channels are: {known}."
        )
    return key


def sender_of(config: Config, key: SessionKey) -> str:
    """The sender in a session that this process writes to: the person at the terminal, otherwise the chat itself."""
    return user_name() if isinstance(config.channels.get(key.channel), TerminalConfig) else key.chat


def _is_open(channel: object) -> bool:
    return isinstance(channel, TerminalConfig) and channel.enabled
