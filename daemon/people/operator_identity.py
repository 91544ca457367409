"""The person that a logged-in operator is: the sender of the messages from all browsers of the operator. Pure."""

from daemon.config import Config
from daemon.errors import ConfigError
from daemon.sessionkey import SessionKey

OPERATOR = "operator"
"""Sender ID of an operator without a name."""

NAMED = f"{OPERATOR}-"
"""Beginning of the sender ID of an operator whose name is not in ``[people]``."""


def operator_sender(config: Config, channel: str, name: str) -> str:
    """The sender ID of the operator ``name`` on a web channel.

    A name of ``[people]`` means the person's identity on the channel. Without a name, the only person of ``[people]``
    with an identity on the channel is the operator, if there is exactly one.

    Raises:
        ConfigError: the person has no identity on the channel.
    """
    found = {person: sender for person in config.people if (sender := _identity(config, person, channel))}
    if not name:
        return next(iter(found.values())) if len(found) == 1 else OPERATOR
    if name in found:
        return found[name]
    if name in config.people:
        raise ConfigError(
            f"people.{name}.identities contains no identity for channel {channel}. "
            f'Add an identity such as "{channel}:{name}".'
        )
    return f"{NAMED}{name}"


def is_operator(config: Config, channel: str, sender: str) -> bool:
    """Whether a sender ID of a web channel is reserved for operators and people of the configuration."""
    return (
        sender == OPERATOR
        or sender.startswith(NAMED)
        or any(sender == _identity(config, person, channel) for person in config.people)
    )


def _identity(config: Config, person: str, channel: str) -> str:
    keys = map(SessionKey.parse, config.people[person].identities)
    return next((key.chat for key in keys if key.channel == channel), "")
