"""Sentences of the bot during its setup; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "owner_welcome": (
        "Hello, {name}! You are now my administrator. To start me, run `millpond run`. If you have already sent me "
        "messages, I will answer them as soon as I am running. Send /help to see my commands."
    ),
    # Slack keeps a message without a recipient for minutes only, and takes a message that begins with / for a command
    # of its own.
    "owner_welcome_slack": (
        "Hello, {name}! You are now my administrator. To start me, run `millpond run`. Then write to me here, or "
        "mention me in a channel. `/millpond help` lists my commands."
    ),
}

CHINESE: Mapping[str, str] = {
    "owner_welcome": (
        "{name}，你好！你现在是我的管理员了。请用 `millpond run` 启动我。在启动之前发送的消息，我会在启动之后回答。"
        "/help 会列出我的命令。"
    ),
    "owner_welcome_slack": (
        "{name}，你好！你现在是我的管理员了。请用 `millpond run` 启动我，然后在这里给我发消息，或者在频道里提到我。"
        "`/millpond help` 会列出我的命令。"
    ),
}
