"""Marking messages with emoji."""

from collections import OrderedDict
from urllib.parse import quote

from channels.discord.api import Api, Request
from channels.discord.api_types import UNKNOWN_EMOJI, UNKNOWN_MESSAGE, Rejected, is_snowflake

KEPT_MAX = 1_000
"""Marks that are remembered."""


class EmojiReactions:
    """The marks of one bot, at most one on a message."""

    def __init__(self, api: Api, *, usual: str) -> None:
        """``usual``: the emoji of marks that another process made."""
        self._api = api
        self._usual = usual
        self._put: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def mark(self, channel: str, message_id: str, sign: str, *, timeout_s: float) -> None:
        """Put a mark on a message, or ("") remove it. Errors as for ``Channel.react``."""
        emoji = sign or self._put.get((channel, message_id)) or self._usual
        if not emoji or not is_snowflake(message_id):
            return
        # An emoji of a server is written <:name:id>, and named name:id in addresses.
        name = quote(emoji.strip("<>").removeprefix("a:").strip(":"), safe=":")
        path = f"/channels/{channel}/messages/{message_id}/reactions/{name}/@me"
        try:
            await self._api.call(Request("PUT" if sign else "DELETE", path, passing=True), timeout_s=timeout_s)
        except Rejected as no:
            # A slash command is no message, and a removed mark needs no removal.
            if no.code != UNKNOWN_MESSAGE and (sign or no.code != UNKNOWN_EMOJI):
                raise
        if sign:
            self._put[(channel, message_id)] = emoji
            while len(self._put) > KEPT_MAX:
                self._put.popitem(last=False)
