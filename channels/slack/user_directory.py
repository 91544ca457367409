"""What people and bots of a workspace are called."""

from collections.abc import Mapping
from typing import Any, Protocol

from channels.name_directory import CALL_S, NameDirectory


class Calls(Protocol):
    """What calls a method of the Web API."""

    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float, key: str = ""
    ) -> Mapping[str, Any]:
        """The answer. Raises: ChannelError."""
        ...


class UserDirectory(NameDirectory):
    """The names of people and bots by their ids; who keeps it for long has to ``run`` it, which renews old names."""

    def __init__(self, api: Calls, *, channel: str) -> None:
        super().__init__(channel=channel)
        self._api = api

    async def _asked(self, who: str) -> str:
        if who.startswith("B"):
            found = await self._api.call("bots.info", {"bot": who}, timeout_s=CALL_S)
            return _first(_object(found.get("bot")), "name")
        user = _object((await self._api.call("users.info", {"user": who}, timeout_s=CALL_S)).get("user"))
        profile = _object(user.get("profile"))
        return _first(profile, "display_name", "real_name") or _first(user, "real_name", "name")


def _object(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType] - whatever is answered


def _first(found: Mapping[str, Any], *keys: str) -> str:
    """The first of the texts under ``keys`` that says something."""
    return next((text for key in keys if isinstance(text := found.get(key), str) and text.strip()), "")
