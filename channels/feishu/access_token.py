"""The access token of an app, which all clients of a process share (``auth/v3/tenant_access_token/internal``).

Feishu gives the same token until it lasts for less than half an hour, and then another one; both are valid meanwhile.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio

from daemon.config import FeishuConfig
from daemon.config.secret import Secret
from daemon.errors import SendRefused
from daemon.process import Process

EARLY_S = 300.0
"""How long before its end a token is replaced: calls under way, and clocks that differ, need less."""

NO_TOKEN = Secret("")


class AccessToken:
    """The token of one app at one server, and what buys it."""

    def __init__(self, app_id: str, app_secret: Secret) -> None:
        self.app_id = app_id
        self.app_secret = app_secret
        self._held = NO_TOKEN
        self._until = 0.0
        """By the clock of the event loop."""
        self._turn = anyio.Lock()

    async def held(self, buy: Callable[[], Awaitable[Mapping[str, Any]]]) -> Secret:
        """The token; ``buy`` asks for one where there is none, for one caller at a time.

        Raises:
            SendRefused: the answer holds none; what ``buy`` raises.
        """
        if not self._is_valid():
            async with self._turn:
                if not self._is_valid():
                    self._note(await buy())
        return self._held

    def drop(self, token: Secret) -> None:
        """It is not accepted any more; another one may have taken its place already."""
        if self._held == token:
            self._held = NO_TOKEN

    def _is_valid(self) -> bool:
        return bool(self._held) and anyio.current_time() < self._until

    def _note(self, found: Mapping[str, Any]) -> None:
        token, lasts_s = found.get("tenant_access_token"), found.get("expire")
        if not isinstance(token, str) or not token or not isinstance(lasts_s, int):
            raise SendRefused("Feishu did not return an access token")
        self._held, self._until = Secret(token), anyio.current_time() + max(lasts_s - EARLY_S, lasts_s / 2)


class _Tokens:
    """The tokens of a process."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str, str], AccessToken] = {}


def token_of(process: Process, config: FeishuConfig) -> AccessToken:
    """The token of the app of a channel."""
    key = (config.base_url, config.app_id, config.app_secret.reveal())
    return process.shared(_Tokens).found.setdefault(key, AccessToken(config.app_id, config.app_secret))
