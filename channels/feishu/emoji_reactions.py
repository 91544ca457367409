"""Marking messages with emoji, which Feishu knows by names of its own ("Emojis")."""

from collections import OrderedDict

from channels.feishu.api import Api, left_s
from channels.feishu.api_types import Rejected
from channels.feishu.message_sender import GONE, MESSAGE
from channels.shapes import nested, objects_in

KEPT_MAX = 1_000
"""Marks of which the id is known."""

DONE = GONE | {231003, 231019}
"""There is no such mark or message any more (``im/v1/messages/:message_id/reactions``)."""

NAMES = {
    "👀": "GLANCE",
    "👍": "THUMBSUP",
    "👌": "OK",
    "👋": "WAVE",
    "🙏": "THANKS",
    "💪": "MUSCLE",
    "👏": "APPLAUSE",
    "✅": "DONE",
    "✔": "DONE",
    "🤔": "THINKING",
    "❤": "HEART",
    "🎉": "PARTY",
    "💯": "Hundred",
    "🔥": "Fire",
    "✍": "Typing",
    "⏳": "OneSecond",
    "😊": "SMILE",
}
"""Those that bots are likely to use; every other one is configured by its name, ``Typing`` for example."""

_AS_PICTURE = "\ufe0f"


def name_of(sign: str) -> str:
    """What Feishu calls an emoji, which may be given by its name already."""
    plain = sign.replace(_AS_PICTURE, "").strip()
    return NAMES.get(plain, plain.strip(":"))


class EmojiReactions:
    """The marks of one bot; it has one on a message at most."""

    def __init__(self, api: Api, *, usual: str) -> None:
        """``usual``: the emoji of those that another process has put, or this one long ago."""
        self._api = api
        self._usual = usual
        self._put: OrderedDict[str, str] = OrderedDict()
        """The mark's id, by the message."""

    async def mark(self, message_id: str, sign: str, deadline: float) -> None:
        """Put a mark on a message, or ("") take it away. Errors as for ``Channel.react``."""
        if not message_id.startswith(MESSAGE):
            return
        if not sign:
            await self._take_away(message_id, deadline)
            return
        body = {"reaction_type": {"emoji_type": name_of(sign)}}
        answer = await self._api.call("POST", _path(message_id), body, timeout_s=left_s(deadline))
        put = nested(answer, "data", "reaction_id")
        if isinstance(put, str):
            self._put[message_id] = put
            while len(self._put) > KEPT_MAX:
                self._put.popitem(last=False)

    async def _take_away(self, message_id: str, deadline: float) -> None:
        put = self._put.get(message_id) or await self._found(message_id, deadline)
        if not put:
            return
        try:
            await self._api.call("DELETE", f"{_path(message_id)}/{put}", timeout_s=left_s(deadline))
        except Rejected as no:
            if no.code not in DONE:
                raise
        self._put.pop(message_id, None)

    async def _found(self, message_id: str, deadline: float) -> str:
        """The mark that another process has put; empty: none."""
        query = {"reaction_type": name_of(self._usual)} if self._usual else {}
        try:
            answer = await self._api.call("GET", _path(message_id), timeout_s=left_s(deadline), query=query)
        except Rejected as no:
            if no.code not in DONE:
                raise
            return ""
        for each in objects_in(nested(answer, "data", "items")):
            put = each.get("reaction_id")
            if nested(each, "operator", "operator_id") == self._api.app_id and isinstance(put, str):
                return put
        return ""


def _path(message_id: str) -> str:
    return f"/im/v1/messages/{message_id}/reactions"
