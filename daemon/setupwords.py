"""What the bot says while it is set up; ``daemon.wording`` has it among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "owner_welcome": (
        "Hello, {name}! I know now that I am yours. I answer as soon as I am started with `millpond run`; what you "
        "write until then waits. /help says what I understand."
    ),
    # Slack keeps what is said to nobody for minutes, and takes what begins with / for an order to itself.
    "owner_welcome_slack": (
        "Hello, {name}! I know now that I am yours. Start me with `millpond run`, then write to me here, or mention me "
        "in a channel. `/millpond help` says what I understand."
    ),
}

CHINESE: Mapping[str, str] = {
    "owner_welcome": (
        "{name}，你好！现在我知道你是我的主人了。用 `millpond run` 启动之后我就会回答；在那之前写的内容会等着。"
        "/help 会告诉你我能听懂什么。"
    ),
    "owner_welcome_slack": (
        "{name}，你好！现在我知道你是我的主人了。用 `millpond run` 启动我，然后在这里写给我，或者在频道里提到我。"
        "`/millpond help` 会告诉你我能听懂什么。"
    ),
}
