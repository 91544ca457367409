"""Sentences about files that could not be sent; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {"file_too_large": "[The file {name} ({megabytes} MB) is too large to be sent here.]"}

CHINESE: Mapping[str, str] = {"file_too_large": "[文件 {name}（{megabytes} MB）太大，无法在这里发送。]"}
