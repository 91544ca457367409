"""What the bot says of what it could not send; ``daemon.wording`` has it among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {"file_too_large": "[{name}: {megabytes} MB, too large to be sent here]"}

CHINESE: Mapping[str, str] = {"file_too_large": "[{name}：{megabytes} MB，太大，无法在这里发送]"}
