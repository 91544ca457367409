"""Reactions as the platforms tell them: whose are heard, and by what they are known."""

from collections.abc import Callable
from typing import Any

import msgspec

from channels.arrival import Arrival
from channels.discord import discord_events as discord
from channels.discord.api_types import ReactionChange
from channels.feishu import feishu_events as feishu
from channels.feishu.api_types import Body as FeishuBody
from channels.feishu.api_types import Item
from channels.shapes import lenient
from channels.slack import slack_events as slack
from channels.slack.api_types import Body as SlackBody
from channels.telegram import updates as telegram
from tests.tables import each_row

Read = Callable[..., list[Arrival]]
Heard = list[tuple[str, str, str, bool]]


def at_telegram(**change: Any) -> list[Arrival]:
    fields = {"chat": {"id": 5, "type": "supergroup"}, "message_id": 6, "user": {"id": 7, "first_name": "Ann"}}
    fields |= {"old_reaction": [], "new_reaction": [{"type": "emoji", "emoji": "👍"}], **change}
    update = msgspec.json.encode({"update_id": 1, "message_reaction": fields})
    found = telegram.read(update, telegram.Me(id=77))
    return list(found.arrivals) if isinstance(found, telegram.Reacted) else []


def at_discord(kind: str = discord.REACTION_ADDED, **change: Any) -> list[Arrival]:
    fields = {"channel_id": "5", "message_id": "6", "guild_id": "3", "user_id": "7", "emoji": {"name": "👍"}, **change}
    event = msgspec.convert(fields, ReactionChange)
    found = discord.reaction_of(kind, event, discord.Me(id="77"), discord.Place(chat="5"))
    return [found] if found else []


def at_slack(kind: str = "reaction_added", **change: Any) -> list[Arrival]:
    item = {"type": "message", "channel": "C5", "ts": "6.1"}
    fields = {"type": kind, "user": "U7", "reaction": "thumbsup", "item": item, "item_user": "U77", **change}
    found = slack.reaction_of(lenient(SlackBody, {"event": fields}), slack.Me(team="T", user="U77", bot="B77"))
    return [found] if found else []


def at_feishu(kind: str = "im.message.reaction.created_v1", author: str = "cli_77", **change: Any) -> list[Arrival]:
    fields = {"message_id": "om_6", "operator_type": "user", "user_id": {"open_id": "ou_7"}}
    fields |= {"reaction_type": {"emoji_type": "THUMBSUP"}, **change}
    body = lenient(FeishuBody, {"header": {"event_type": kind}, "event": fields})
    item = lenient(Item, {"message_id": "om_6", "chat_id": "oc_5", "sender": {"id": author}})
    me = feishu.Me(open_id="ou_77", app_id="cli_77")
    found = feishu.reaction_of(body, me, item) if feishu.marked_in(body) else None
    return [found] if found else []


THUMB, FIRE = {"type": "emoji", "emoji": "👍"}, {"type": "emoji", "emoji": "🔥"}
REMOVED = "MESSAGE_REACTION_REMOVE"


@each_row(
    "read, change, found",
    [
        (at_telegram, {}, [("6", "7", "👍", False)]),
        (at_telegram, {"old_reaction": [THUMB], "new_reaction": []}, [("6", "7", "👍", True)]),
        (at_telegram, {"old_reaction": [FIRE]}, [("6", "7", "🔥", True), ("6", "7", "👍", False)]),
        (at_telegram, {"old_reaction": [THUMB], "new_reaction": [THUMB, FIRE]}, [("6", "7", "🔥", False)]),
        (at_telegram, {"new_reaction": [{"type": "custom_emoji", "id": "9"}]}, [("6", "7", "custom emoji", False)]),
        (at_telegram, {"user": None, "actor_chat": {"id": -8, "title": "Keepers"}}, [("6", "-8", "👍", False)]),
        (at_telegram, {"user": {"id": 77}}, []),
        (at_telegram, {"user": None}, []),
        (at_telegram, {"chat": {"id": 5, "type": "channel"}}, []),
        (at_discord, {}, [("6", "7", "👍", False)]),
        (at_discord, {"emoji": {"name": "pond", "id": "9"}, "message_author_id": "77"}, [("6", "7", "pond", False)]),
        (at_discord, {"kind": REMOVED}, [("6", "7", "👍", True)]),
        (at_discord, {"kind": f"{REMOVED}_EMOJI", "user_id": ""}, [("6", "", "👍", True)]),
        (at_discord, {"kind": f"{REMOVED}_ALL", "user_id": "", "emoji": {}}, [("6", "", "*", True)]),
        (at_discord, {"message_author_id": "8"}, []),
        (at_discord, {"user_id": "77"}, []),
        (at_discord, {"user_id": ""}, []),
        (at_discord, {"emoji": {}}, []),
        (at_discord, {"message_id": "../6"}, []),
        (at_slack, {}, [("6.1", "U7", ":thumbsup:", False)]),
        (at_slack, {"kind": "reaction_removed"}, [("6.1", "U7", ":thumbsup:", True)]),
        (at_slack, {"item_user": ""}, [("6.1", "U7", ":thumbsup:", False)]),
        (at_slack, {"item_user": "U8"}, []),
        (at_slack, {"user": "U77"}, []),
        (at_slack, {"item": {"type": "file", "file": "F1"}}, []),
        (at_slack, {"reaction": ""}, []),
        (at_feishu, {}, [("om_6", "ou_7", ":THUMBSUP:", False)]),
        (at_feishu, {"kind": "im.message.reaction.deleted_v1"}, [("om_6", "ou_7", ":THUMBSUP:", True)]),
        (at_feishu, {"author": "ou_8"}, []),
        (at_feishu, {"operator_type": "app"}, []),
        (at_feishu, {"message_id": "om_6/../7"}, []),
        (at_feishu, {"user_id": None}, []),
        (at_feishu, {"reaction_type": {}}, []),
    ],
)
def test_only_what_people_put_on_messages_of_the_bot_is_a_reaction(
    read: Read, change: dict[str, Any], found: Heard
) -> None:
    heard = read(**change)

    assert [(each.id, each.sender.id, each.reaction, each.deleted) for each in heard] == found
    assert {each.chat for each in heard} <= {"5", "C5", "oc_5"}
