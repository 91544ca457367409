"""Masks a tool server's secrets with stars in its texts, which models, logs and users can read."""

import re
from collections.abc import Iterator

from daemon.config import McpConfig
from daemon.config.secret import SECRET_MIN_CHARS, STARS

_SECRETS_NAME = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
"""Variables with other names hold folders and settings, which results are full of."""


class Redaction:
    """Stars the secrets of one server."""

    def __init__(self, config: McpConfig) -> None:
        # The longest first: one may be part of another.
        self._secrets = sorted(set(_secrets(config)), key=len, reverse=True)

    def over(self, text: str) -> str:
        """``text`` without them."""
        # Not one expression for all: this takes some ms for 8 MB, that would stop the event loop for longer.
        for secret in self._secrets:
            text = text.replace(secret, STARS)
        return text


def _secrets(config: McpConfig) -> Iterator[str]:
    texts = [secret.reveal() for name, secret in config.env.items() if _SECRETS_NAME.search(name)]
    texts += [word for secret in config.headers.values() for word in secret.reveal().split()]
    texts += [value for value in re.split(r"[&=]", config.url.partition("?")[2]) if any(map(str.isdigit, value))]
    return (text for text in texts if len(text) >= SECRET_MIN_CHARS)
