"""Files: three steps to send one, and where one can be had."""

import mimetypes

from tests.fakes.slack.apps import Bot
from tests.fakes.slack.calls import Call, Failed, bad
from tests.fakes.slack.posting import channel_of, thread_in
from tests.fakes.slack.world import File, Json, Message, World


def info(_world: World, bot: Bot, call: Call) -> Json:
    call.ignored("count", "cursor", "limit", "page")
    return {"file": _file(bot, call).said()}


def upload_url(world: World, bot: Bot, call: Call) -> Json:
    name, length = call.text("filename"), call.integer("length", 0)
    call.ignored("alt_txt", "snippet_type")
    if length < 1:
        raise bad("length")
    mimetype = mimetypes.guess_type(name)[0] or ""
    file = world.file(b"", name=name, mimetype=mimetype, by=bot.person, claims_bytes=length, uploaded=False)
    return {"upload_url": f"{world.base}/upload/v1/{file.id}", "file_id": file.id}


def complete(_world: World, bot: Bot, call: Call) -> Json:
    """The last step; without a channel nobody sees it."""
    listed = call.tree("files", list)
    if not listed or not all(isinstance(each, dict) and isinstance(each.get("id"), str) for each in listed):
        raise bad("files")
    call.ignored("blocks", "channels")
    files = [_unshared(bot, each) for each in listed]
    text = call.text("initial_comment", "")
    if call.text("channel_id", ""):
        channel = channel_of(bot, call, "channel_id")
        if bot.person not in channel.members:
            raise Failed("not_in_channel")
        thread = thread_in(channel, call)
        channel.put(Message(channel, "", bot.person, text, thread=thread, files=files, subtype="file_share"))
    for file in files:
        file.claims_bytes = None
    # Who it was shared with is not known yet: that comes about later.
    return {"files": [{"id": file.id, "title": file.title or file.name} for file in files]}


def _unshared(bot: Bot, listed: Json) -> File:
    file = bot.app.world.files.get(listed["id"])
    if file is None or file.by is not bot.person:
        raise Failed("file_not_found")
    if not file.uploaded or file.shared:
        raise Failed("file_update_failed")
    file.title = str(listed.get("title") or file.name)
    return file


def delete(world: World, bot: Bot, call: Call) -> Json:
    file = _file(bot, call)
    if file.by is not bot.person:
        raise Failed("cant_delete_file")
    del world.files[file.id]
    for message in file.shared:
        message.files.remove(file)
        message.gone = not message.text and not message.files
    world.changed()
    return {}


def _file(bot: Bot, call: Call) -> File:
    file = bot.app.world.files.get(call.text("file"))
    if file is None:
        raise Failed("file_not_found")
    return file
