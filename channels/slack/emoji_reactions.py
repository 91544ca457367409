"""Marking messages with emoji, which Slack knows by name."""

from collections import OrderedDict

from channels.slack.api import Api
from channels.slack.api_types import Rejected
from channels.slack.text_forms import is_ts

KEPT_MAX = 1_000
"""Marks of which it is known what they are."""

DONE = frozenset({"already_reacted", "no_reaction"})
"""The mark is as it should be."""

NAMES = {
    "👀": "eyes",
    "👍": "+1",
    "👌": "ok_hand",
    "👋": "wave",
    "🙏": "pray",
    "👂": "ear",
    "✍": "writing_hand",
    "❤": "heart",
    "🔥": "fire",
    "🎉": "tada",
    "💯": "100",
    "🤔": "thinking_face",
    "🫡": "saluting_face",
    "🤖": "robot_face",
    "✅": "white_check_mark",
    "✔": "heavy_check_mark",
    "⏳": "hourglass_flowing_sand",
    "⌛": "hourglass",
    "📝": "memo",
    "💬": "speech_balloon",
    "⚡": "zap",
    "🌊": "ocean",
    "☕": "coffee",
}
"""Those that bots are likely to use; every other one is configured by its name, ``tada`` for example."""

_AS_PICTURE = "\ufe0f"


def name_of(sign: str) -> str:
    """What Slack calls an emoji, which may be given by its name already, with colons or without."""
    plain = sign.replace(_AS_PICTURE, "").strip()
    return NAMES.get(plain, plain.strip(":"))


class EmojiReactions:
    """The marks of one bot; it has one on a message at most."""

    def __init__(self, api: Api, *, usual: str) -> None:
        """``usual``: the emoji of those that another process has put, or this one long ago."""
        self._api = api
        self._usual = usual
        self._put: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def mark(self, channel: str, ts: str, sign: str, *, timeout_s: float) -> None:
        """Put a mark on a message, or ("") take it away. Errors as for ``Channel.react``."""
        name = name_of(sign) or self._put.get((channel, ts)) or name_of(self._usual)
        if not name or not is_ts(ts):  # a slash command is no message
            return
        params = {"channel": channel, "timestamp": ts, "name": name}
        try:
            await self._api.call("reactions.add" if sign else "reactions.remove", params, timeout_s=timeout_s)
        except Rejected as no:
            if no.error not in DONE:
                raise
        if sign:
            self._put[(channel, ts)] = name
            while len(self._put) > KEPT_MAX:
                self._put.popitem(last=False)
