"""Saying something, changing it, writing it bit by bit, marking it: the methods that people see."""

import re
from typing import Any

import anyio

from tests.fakes.slack.apps import Bot
from tests.fakes.slack.calls import Call, Failed, bad
from tests.fakes.slack.texts import BLOCKS_MAX, MARKDOWN_MAX, TEXT_MAX, UPDATE_MAX, escaped
from tests.fakes.slack.world import Channel, Json, Message, World

METADATA_MAX = 16_000  # characters of an ``event_payload``
TS = re.compile(r"\d+(\.\d+)?")
FORMS = (
    "as_user", "icon_emoji", "icon_url", "username", "link_names", "mrkdwn", "parse", "unfurl_links", "unfurl_media",
)  # fmt: skip


def channel_of(bot: Bot, call: Call, name: str = "channel") -> Channel:
    """The channel that a call is about; one where the bot is not cannot be known from one that is not there.

    A person's id stands for the direct messages with that person.
    """
    id = call.text(name)
    if id in bot.team.people and id.startswith(("U", "W")):
        return bot.direct(bot.team.people[id])
    channel = bot.team.channels.get(id)
    if channel is None or (channel.kind != "channel" and bot.person not in channel.members):
        raise Failed("channel_not_found")
    return channel


def _writable(bot: Bot, call: Call, name: str = "channel") -> Channel:
    channel = channel_of(bot, call, name)
    if channel.archived:
        raise Failed("is_archived")
    if bot.person not in channel.members:
        raise Failed("not_in_channel")
    return channel


def thread_in(channel: Channel, call: Call, *, needed: bool = False) -> str:
    """``thread_ts``: the first message of a thread, or one that can become it."""
    ts = call.text("thread_ts", None if needed else "")
    if not ts:
        return ""
    if TS.fullmatch(ts) is None:
        raise bad("thread_ts", "invalid timestamp")
    root = channel.messages.get(ts)
    if root is None or (root.gone and not root.replies):
        raise Failed("thread_not_found")
    if root.thread:
        raise Failed("cannot_reply_to_message")
    return ts


def message_of(channel: Channel, call: Call, name: str = "ts") -> Message:
    ts = call.text(name)
    message = channel.messages.get(ts)
    if message is None or message.gone:
        raise Failed("message_not_found")
    return message


def metadata_of(call: Call) -> Json | None:
    """``metadata``, if it has its form."""
    found = call.tree("metadata")
    if found is None:
        return None
    if not isinstance(found.get("event_type"), str) or not isinstance(found.get("event_payload"), dict):
        raise Failed("invalid_metadata_format")
    if len(str(found["event_payload"])) > METADATA_MAX:
        raise Failed("metadata_too_large")
    return {"event_type": found["event_type"], "event_payload": found["event_payload"]}


def _wording(call: Call, *, text_max: int, cut: bool) -> tuple[str, Any]:
    """What is to be said, and in which form: ``markdown_text`` or ``text``, not both."""
    markdown, text = call.text("markdown_text", ""), call.text("text", "")
    blocks = call.tree("blocks", list)
    call.ignored("attachments")
    if markdown and (text or blocks):
        raise Failed("markdown_text_conflict")
    if markdown:
        if len(markdown) > min(MARKDOWN_MAX, text_max if not cut else MARKDOWN_MAX):
            raise Failed("msg_too_long")
        if len(escaped(markdown)) > BLOCKS_MAX:
            raise Failed("msg_blocks_too_long")
        return markdown, "markdown"
    if not text and not blocks:
        raise Failed("no_text")
    for block in blocks or ():
        _see_block(block)
    if blocks and sum(len(escaped(str(block))) for block in blocks) > BLOCKS_MAX:
        raise Failed("msg_blocks_too_long")
    if len(text) > text_max and not cut:
        raise Failed("msg_too_long")
    return text[:text_max], "mrkdwn"


def _see_block(block: Json) -> None:
    if block.get("type") == "actions":
        for button in block.get("elements") or [{}]:
            value, label = button.get("value", ""), button.get("text", {})
            well = button.get("type") == "button" and label.get("type") == "plain_text" and button.get("action_id")
            if not well or not 0 < len(label.get("text", "")) <= 75 or len(value) > 2_000:
                raise Failed("invalid_blocks")
    elif block.get("type") not in {"markdown", "section", "rich_text"}:
        raise Failed("invalid_blocks")


def _buttons(call: Call) -> list[Json]:
    return [
        each for block in call.tree("blocks", list) or () if block["type"] == "actions" for each in block["elements"]
    ]


def whisper(world: World, bot: Bot, call: Call) -> Json:
    channel, user = _writable(bot, call), call.text("user", "")
    thread_in(channel, call)
    if user not in bot.team.people:
        raise Failed("user_not_in_channel")
    channel.whispers.append((user, call.text("text", "")))
    world.changed()
    return {"message_ts": world.next_ts()}


def post(_world: World, bot: Bot, call: Call) -> Json:
    channel = _writable(bot, call)
    call.ignored("reply_broadcast", "client_msg_id", *FORMS)
    thread, metadata = thread_in(channel, call), metadata_of(call)
    text, form = _wording(call, text_max=TEXT_MAX, cut=True)
    message = Message(
        channel, "", bot.person, text, form=form, thread=thread, metadata=metadata, buttons=_buttons(call)
    )
    channel.put(message)
    _clear_status(channel, thread)
    return {"channel": channel.id, "ts": message.ts, "message": message.said(metadata=True)}


def update(world: World, bot: Bot, call: Call) -> Json:
    channel = _writable(bot, call)
    call.ignored("reply_broadcast", "file_ids", *FORMS)
    message = message_of(channel, call)
    if message.by is not bot.person:
        raise Failed("cant_update_message")
    if message.streaming and world.now() - message.at <= world.stream_lives_s:
        raise Failed("streaming_state_conflict")
    metadata = metadata_of(call)
    text, form = _wording(call, text_max=UPDATE_MAX, cut=False)
    before = message.said()
    message.edits.append(message.text)
    message.text, message.form, message.buttons = text, form, _buttons(call)
    message.metadata = metadata or message.metadata
    message.edited = {"user": bot.person.id, "ts": world.next_ts()}
    channel.tell_changed(message, before)
    return {"channel": channel.id, "ts": message.ts, "text": message.said()["text"], "message": message.said()}


def delete(world: World, bot: Bot, call: Call) -> Json:
    channel = channel_of(bot, call)
    call.ignored("as_user")
    message = message_of(channel, call)
    if message.by is not bot.person:
        raise Failed("cant_delete_message")
    if message.streaming and world.now() - message.at <= world.stream_lives_s:
        raise Failed("cant_delete_message")
    channel.delete(message)
    return {"channel": channel.id, "ts": message.ts}


# Bit by bit


def _bit(call: Call) -> str:
    text = call.text("markdown_text", "")
    call.tree("chunks", list)
    if len(text) > MARKDOWN_MAX:
        raise Failed("msg_too_long")
    return text


def start_stream(_world: World, bot: Bot, call: Call) -> Json:
    channel = _writable(bot, call)
    thread = thread_in(channel, call, needed=True)
    user, team = call.text("recipient_user_id", ""), call.text("recipient_team_id", "")
    call.ignored("task_display_mode", "icon_emoji", "icon_url", "username")
    # In direct messages too, whatever the documentation says of them.
    if not team:
        raise Failed("missing_recipient_team_id")
    if not user:
        raise Failed("missing_recipient_user_id")
    if team != bot.team.id:
        raise Failed("team_not_found")
    if user not in bot.team.people:
        raise Failed("user_not_found")
    text = _bit(call)
    message = Message(channel, "", bot.person, text, form="markdown", thread=thread, streaming=True)
    channel.put(message)
    _clear_status(channel, thread)
    return {"channel": channel.id, "ts": message.ts}


def _streamed(world: World, bot: Bot, call: Call) -> Message:
    message = message_of(_writable(bot, call), call)
    if message.by is not bot.person:
        raise Failed("message_not_owned_by_app")
    if world.now() - message.at > world.stream_lives_s:
        message.streaming = False
    if not message.streaming:
        raise Failed("stopped_by_user" if message.stopped_by_user else "message_not_in_streaming_state")
    return message


def append_stream(world: World, bot: Bot, call: Call) -> Json:
    message = _streamed(world, bot, call)
    text = _bit(call)
    if not text:
        raise Failed("no_text")
    _grow(message, text)
    world.changed()
    return {"channel": message.channel.id, "ts": message.ts}


def stop_stream(world: World, bot: Bot, call: Call) -> Json:
    message = _streamed(world, bot, call)
    metadata, before = metadata_of(call), message.said()
    text = _bit(call)
    call.tree("blocks", list)
    call.ignored("session_status")
    if text:
        _grow(message, text)
    message.streaming = False
    message.metadata = metadata or message.metadata
    message.channel.tell_changed(message, before)
    return {"channel": message.channel.id, "ts": message.ts, "message": message.said(metadata=True)}


def _grow(message: Message, text: str) -> None:
    if len(message.text) + len(text) > TEXT_MAX or len(escaped(message.text + text)) > TEXT_MAX:
        raise Failed("msg_too_long")
    message.edits.append(message.text)
    message.text += text


# Signs


def react(world: World, bot: Bot, call: Call) -> Json:
    message, name = _marked(bot, call)
    who = message.reactions.setdefault(name, [])
    if bot.person.id in who:
        raise Failed("already_reacted")
    who.append(bot.person.id)
    world.changed()
    return {}


def unreact(world: World, bot: Bot, call: Call) -> Json:
    message, name = _marked(bot, call)
    if bot.person.id not in message.reactions.get(name, []):
        raise Failed("no_reaction")
    message.reactions[name].remove(bot.person.id)
    if not message.reactions[name]:
        del message.reactions[name]
    world.changed()
    return {}


def _marked(bot: Bot, call: Call) -> tuple[Message, str]:
    name = call.text("name")
    if re.fullmatch(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?", name) is None:
        raise Failed("invalid_name")
    return message_of(_writable(bot, call), call, "timestamp"), name


def set_status(world: World, bot: Bot, call: Call) -> Json:
    channel = _writable(bot, call, "channel_id")
    thread, status = thread_in(channel, call, needed=True), call.text("status", "")
    call.tree("loading_messages", list)
    call.ignored("icon_emoji", "icon_url", "username")
    channel.statuses.append((anyio.current_time(), thread, status))
    world.changed()
    return {}


def set_session(_world: World, bot: Bot, call: Call) -> Json:
    """What takes the place of ``assistant.threads.setStatus``."""
    channel = _writable(bot, call, "channel_id")
    thread, status = thread_in(channel, call, needed=True), call.text("status")
    if status not in ("processing", "active"):
        raise bad("status", "must be one of: processing, active")
    channel.statuses.append((anyio.current_time(), thread, "processing" if status == "processing" else ""))
    return {}


def set_title(_world: World, bot: Bot, call: Call) -> Json:
    thread_in(_writable(bot, call, "channel_id"), call, needed=True)
    call.text("title")
    return {}


def set_prompts(_world: World, bot: Bot, call: Call) -> Json:
    channel = _writable(bot, call, "channel_id")
    thread_in(channel, call)
    call.tree("prompts", list)
    call.ignored("title")
    return {}


def _clear_status(channel: Channel, thread: str) -> None:
    standing = [status for _, where, status in channel.statuses if where == thread]
    if standing and standing[-1]:
        channel.statuses.append((anyio.current_time(), thread, ""))
