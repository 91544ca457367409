"""Looking: what was said, who and where somebody is."""

from typing import Any

from tests.fakes.slack.apps import Bot
from tests.fakes.slack.calls import Call, Failed, bad
from tests.fakes.slack.posting import channel_of
from tests.fakes.slack.world import Channel, Json, Message, World

PAGE_MAX = 999
HISTORY = {"channel": "channels", "group": "groups", "im": "im", "mpim": "mpim"}


def history(_world: World, bot: Bot, call: Call) -> Json:
    """Newest first; not what stands in threads."""
    channel = _readable(bot, call)
    found = [message for message in channel.messages.values() if not message.thread and _stands(message)]
    return _page(call, channel, sorted(found, key=lambda message: -message.at), default=100)


def replies(_world: World, bot: Bot, call: Call) -> Json:
    """A thread, its first message first; that one is on every page."""
    channel = _readable(bot, call)
    root = channel.messages.get(call.text("ts"))
    root = channel.messages.get(root.thread) if root is not None and root.thread else root
    if root is None or not _stands(root):
        raise Failed("thread_not_found")
    page = _page(call, channel, root.replies, default=1000, room=1)
    metadata = call.flag("include_all_metadata")
    return {**page, "messages": [_said(channel, root, metadata), *page["messages"]]}


def _page(call: Call, channel: Channel, found: list[Message], *, default: int, room: int = 0) -> Json:
    limit = call.integer("limit", default)
    if limit < 1 or (limit > PAGE_MAX and limit != default):
        raise Failed("invalid_limit")
    metadata, inclusive = call.flag("include_all_metadata"), call.flag("inclusive")
    oldest, latest = _ts(call, "oldest", 0.0), _ts(call, "latest", float("inf"))
    at, cursor = 0, call.text("cursor", "")
    if cursor:
        if not cursor.startswith("next:") or not cursor[5:].isdigit():
            raise Failed("invalid_cursor")
        at = int(cursor[5:])

    def within(message: Message) -> bool:
        return oldest < message.at < latest or (inclusive and message.at in (oldest, latest))

    kept = [message for message in found if within(message)]
    end = at + max(1, limit - room)
    shown, more = kept[at:end], len(kept) > end
    answer: Json = {"messages": [_said(channel, message, metadata) for message in shown], "has_more": more}
    return answer | ({"response_metadata": {"next_cursor": f"next:{end}"}} if more else {})


def _ts(call: Call, name: str, default: float) -> float:
    value = call.text(name, "")
    try:
        return float(value) if value else default
    except ValueError:
        raise Failed(f"invalid_ts_{name}") from None


def _said(channel: Channel, message: Message, metadata: bool) -> Json:
    return message.said(metadata=metadata and channel.keeps_metadata)


def _stands(message: Message) -> bool:
    return not message.gone or bool(message.replies)


def _readable(bot: Bot, call: Call) -> Channel:
    channel = channel_of(bot, call)
    _needs(bot, f"{HISTORY[channel.kind]}:history")
    if bot.person not in channel.members:
        raise Failed("not_in_channel")
    return channel


def _needs(bot: Bot, scope: str) -> None:
    if scope not in bot.scopes:
        raise Failed("missing_scope", needed=scope, provided=",".join(sorted(bot.scopes)))


def info(_world: World, bot: Bot, call: Call) -> Json:
    channel = channel_of(bot, call)
    _needs(bot, f"{HISTORY[channel.kind]}:read")
    call.ignored("include_locale", "include_num_members")
    return {"channel": channel.said(bot.person)}


def open_direct(_world: World, bot: Bot, call: Call) -> Json:
    call.ignored("return_im", "prevent_creation")
    users = [user for user in call.text("users", "").split(",") if user]
    if len(users) != 1:
        raise bad("users")
    if users[0] not in bot.team.people:
        raise Failed("user_not_found")
    return {"channel": {"id": bot.direct(bot.team.people[users[0]]).id}}


def user(_world: World, bot: Bot, call: Call) -> Json:
    call.ignored("include_locale")
    found = bot.team.people.get(call.text("user"))
    if found is None:
        raise Failed("user_not_found")
    return {"user": found.said()}


def bot(_world: World, bot: Bot, call: Call) -> Json:
    wanted = call.text("bot", "")
    call.ignored("team_id")
    found: Any = next((person for person in bot.team.people.values() if person.bot_id == wanted and wanted), None)
    if found is None:
        raise Failed("bot_not_found")
    said = {"id": found.bot_id, "deleted": found.deleted, "name": found.name, "user_id": found.id}
    return {"bot": {**said, "app_id": found.app_id, "updated": 1_790_000_000}}


def team(_world: World, bot: Bot, call: Call) -> Json:
    call.ignored("team", "domain")
    return {"team": {"id": bot.team.id, "name": bot.team.name, "domain": bot.team.domain}}
