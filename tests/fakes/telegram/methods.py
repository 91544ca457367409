"""What each method of the Bot API does, and what it says when it does not."""

import re
from collections.abc import Callable
from typing import Any

from tests.fakes.telegram import rich
from tests.fakes.telegram.calls import Call, Failed, bad
from tests.fakes.telegram.entities import CAPTION_MAX, TEXT_MAX, units, wrong_with
from tests.fakes.telegram.faults import Floods
from tests.fakes.telegram.world import Bot, Chat, File, Hook, Json, Message, World
from tests.fakes.wire import Upload

DOWNLOAD_MAX = 20 << 20
UPLOAD_MAX = 50 << 20
PHOTO_MAX = 10 << 20
ALBUM = (2, 10)
DELETE_MAX_S = 48 * 3600
COMMANDS_MAX = 100
REACTIONS = set(
    "👍👎❤🔥🥰👏😁🤔🤯😱🤬😢🎉🤩🤮💩🙏👌🕊🤡🥱🥴😍🐳🌚🌭💯🤣⚡🍌🏆💔🤨😐🍓🍾💋🖕😈😴😭🤓👻👀🎃🙈😇😨🤝✍🤗🫡🎅🎄☃💅🤪🗿🆒💘🙉🦄😘💊🙊😎👾😡"
)
ACTIONS = {
    *("typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document"),
    *("choose_sticker", "find_location", "record_video_note", "upload_video_note"),
}
SENDING = ("disable_notification", "protect_content", "allow_paid_broadcast", "message_effect_id")
PREVIEW = {"is_disabled", "url", "prefer_small_media", "prefer_large_media", "show_above_text"}
MEDIA = {
    "sendPhoto": "photo", "sendDocument": "document", "sendAudio": "audio", "sendVideo": "video",
    "sendVoice": "voice", "sendAnimation": "animation",
}  # fmt: skip


class Methods:
    """Everything but ``getUpdates``, which waits."""

    def __init__(self, world: World, floods: Floods | None, *, rich_known: bool = True) -> None:
        self.world = world
        self.floods = floods
        self.rich_known = rich_known
        """Whether this server knows rich messages; an old one has no such method."""
        self.hooked: Callable[[Bot], None] = lambda _bot: None
        self.local = False
        """A server of one's own: webhooks without encryption, files of any size."""
        self._table: dict[str, Callable[[Bot, Call], Any]] = {
            "getMe": self._me, "getWebhookInfo": self._webhook_info, "setWebhook": self._set_webhook,
            "deleteWebhook": self._delete_webhook, "sendMessage": self._send_message,
            "sendRichMessage": self._send_rich, "sendMediaGroup": self._send_album,
            "editMessageReplyMarkup": self._edit_markup, "answerCallbackQuery": self._answer_query,
            "editMessageText": self._edit_text, "deleteMessage": self._delete, "sendChatAction": self._action,
            "setMessageReaction": self._react, "setMyCommands": self._set_commands,
            "getMyCommands": self._get_commands, "deleteMyCommands": self._delete_commands, "getFile": self._get_file,
            "getChat": self._get_chat, "getChatMember": self._get_member, **dict.fromkeys(MEDIA, self._send_media),
        }  # fmt: skip

    def knows(self, method: str) -> bool:
        return method in self._table and (self.rich_known or "Rich" not in method)

    def act(self, bot: Bot, call: Call) -> Any:
        """Do it; the ``result``. Raises Failed: it was not done."""
        return self._table[call.method](bot, call)

    # Who and where

    def _me(self, bot: Bot, _call: Call) -> Json:
        abilities = {"can_join_groups": True, "can_read_all_group_messages": not bot.privacy}
        return {**bot.person.said(), **abilities, "supports_inline_queries": False, "has_topics_enabled": False}

    def _get_member(self, bot: Bot, call: Call) -> Json:
        chat = self.chat(bot, call)
        if call.integer("user_id") != bot.person.id:
            raise bad("user not found")
        return {"user": bot.person.said(), "status": "administrator" if chat.has_administrators else "member"}

    def chat(self, bot: Bot, call: Call) -> Chat:
        chat = self.world.chats.get((bot.person.id, call.integer("chat_id")))
        if chat is None:
            raise bad("chat not found")
        if chat.moved_to:
            description = "Bad Request: group chat was upgraded to a supergroup chat"
            raise Failed(400, description, migrate_to_chat_id=chat.moved_to)
        if chat.closed:
            raise Failed(403, f"Forbidden: {chat.closed}")
        return chat

    def _get_chat(self, bot: Bot, call: Call) -> Json:
        return self.chat(bot, call).said()

    def _thread(self, chat: Chat, call: Call) -> int:
        thread = call.integer("message_thread_id", 0)
        if thread and (thread not in chat.topics or chat.kind == "group"):
            raise bad("message thread not found")
        return thread

    def _message(self, chat: Chat, number: int, wanted: str) -> Message:
        message = chat.messages.get(number)
        if message is None or message.gone:
            raise bad(f"message to {wanted} not found")
        return message

    def _answered(self, chat: Chat, call: Call) -> Message | None:
        call.ignored("reply_to_message_id")
        if "reply_to_message_id" in call.params:
            raise bad("reply_to_message_id is no longer a parameter")
        parameters = call.tree("reply_parameters")
        if parameters is None:
            return None
        number = parameters.get("message_id")
        if not isinstance(number, int) or isinstance(number, bool) or number <= 0:
            raise bad("invalid message_id in reply_parameters")
        found = chat.messages.get(number)
        if (found is None or found.gone) and not parameters.get("allow_sending_without_reply"):
            raise bad("message to be replied not found")
        return found

    def _pace(self, bot: Bot, chat: Chat) -> None:
        wait_s = self.floods.wait_s(bot.token, chat.id) if self.floods else 0
        if wait_s:
            raise Failed(429, f"Too Many Requests: retry after {wait_s}", retry_after=wait_s)

    # Sending

    def _post(self, bot: Bot, call: Call, chat: Chat, **fields: Any) -> Json:
        call.ignored(*SENDING)
        fields.setdefault("previewed", self._previews(call, str(fields.get("text"))))
        thread, reply_to = self._thread(chat, call), self._answered(chat, call)
        if reply_to is not None and reply_to.gone:
            reply_to = None
        fields["buttons"] = self._keyboard(call)
        self._pace(bot, chat)
        message = Message(chat=chat, id=0, by=bot.person, thread=thread, reply_to=reply_to, **fields)
        return chat.put(message).said()

    def _previews(self, call: Call, text: str) -> bool:
        options = call.tree("link_preview_options") or {}
        if unknown := set(options) - PREVIEW:
            raise bad(f"unknown link preview options {sorted(unknown)}")
        return "://" in text and options.get("is_disabled") is not True

    def _send_message(self, bot: Bot, call: Call) -> Json:
        chat = self.chat(bot, call)
        text, entities = self._text(call, "text", "entities", TEXT_MAX)
        return self._post(bot, call, chat, text=text, entities=entities)

    def _text(self, call: Call, name: str, entities_name: str, longest: int) -> tuple[str, list[Json]]:
        text = call.text(name)
        if call.text("parse_mode"):
            raise bad("can't parse entities: this server does not know that parse_mode")
        if name == "text" and not text:
            raise bad("message text is empty")
        if name == "text" and not text.strip():
            raise bad("text must be non-empty")
        entities = call.tree(entities_name, list) or []
        if reason := wrong_with(text, entities):
            raise bad(reason)
        if units(text) > longest:
            raise bad("message is too long" if name == "text" else "message caption is too long")
        return text, entities

    def _send_rich(self, bot: Bot, call: Call) -> Json:
        chat = self.chat(bot, call)
        markdown, read = self._rich(call)
        return self._post(bot, call, chat, text=read.text, rich=markdown, kinds=read.kinds)

    def _rich(self, call: Call) -> tuple[str, rich.Rich]:
        message = call.tree("rich_message")
        if message is None:
            raise bad("rich message must be specified")
        if set(message) - {"markdown", "html", "blocks", "media", "is_rtl", "skip_entity_detection"}:
            raise bad(f"unknown field of a rich message in {sorted(message)}")
        if sum(name in message for name in ("markdown", "html", "blocks")) != 1:
            raise bad("exactly one of markdown, html and blocks must be specified")
        markdown = message.get("markdown")
        if not isinstance(markdown, str):
            raise bad("can't parse rich message: expected a String")
        try:
            return markdown, rich.read(markdown, detect=not message.get("skip_entity_detection"))
        except rich.Unreadable as error:
            raise bad(str(error)) from None

    def _send_media(self, bot: Bot, call: Call) -> Json:
        chat = self.chat(bot, call)
        kind = MEDIA[call.method]
        caption, entities = self._text(call, "caption", "caption_entities", CAPTION_MAX)
        call.ignored("show_caption_above_media", "has_spoiler", "disable_content_type_detection", "thumbnail")
        call.ignored("duration", "performer", "title", "width", "height", "supports_streaming")
        file = self._file(call, kind, call.params.get(kind), kind)
        return self._post(bot, call, chat, text=caption, entities=entities, file=file, previewed=False)

    def _file(self, call: Call, kind: str, value: object, name: str) -> File:
        call.ignored(name)
        upload = call.files.get(name)
        if isinstance(value, str) and value.startswith("attach://"):
            attached = value.removeprefix("attach://")
            call.ignored(attached)
            upload = call.files.get(attached)
        if upload is not None:
            return self._uploaded(kind, upload)
        if not value:
            raise bad(f"there is no {kind} in the request")
        known = self.world.files.get(str(value))
        if known is None:
            raise bad("wrong file identifier/HTTP URL specified")
        return known

    def _uploaded(self, kind: str, upload: Upload) -> File:
        if not upload.data:
            raise bad("file must be non-empty")
        if len(upload.data) > (PHOTO_MAX if kind == "photo" else UPLOAD_MAX):
            raise Failed(413, "Request Entity Too Large")
        if kind == "photo" and not upload.data.startswith((b"\x89PNG", b"\xff\xd8", b"GIF8", b"RIFF")):
            raise bad("IMAGE_PROCESS_FAILED")
        return self.world.file(kind, upload.data, name=upload.name)

    def _send_album(self, bot: Bot, call: Call) -> list[Json]:
        chat = self.chat(bot, call)
        media = call.tree("media", list) or []
        if not ALBUM[0] <= len(media) <= ALBUM[1]:
            raise bad("there must be 2 to 10 media in an album")
        kinds = {item.get("type") for item in media}
        if not kinds <= {"photo", "video", "document", "audio"} or (len(kinds) > 1 and not kinds <= {"photo", "video"}):
            raise bad("wrong mixture of media types in an album")
        group = str(self.world.dice.randrange(10**16, 10**17))
        sent: list[Json] = []
        for item in media:
            if units(item.get("caption", "")) > CAPTION_MAX:
                raise bad("message caption is too long")
            file = self._file(call, item["type"], item.get("media"), "media")
            more = {"media_group_id": group}
            sent.append(
                self._post(bot, call, chat, text=item.get("caption", ""), file=file, previewed=False, more=more)
            )
        return sent

    def _edit_text(self, bot: Bot, call: Call) -> Json:
        chat = self.chat(bot, call)
        message = self._message(chat, call.integer("message_id"), "edit")
        buttons = self._keyboard(call)
        if message.by is not bot.person:
            raise bad("message can't be edited")
        if message.file is not None:
            raise bad("there is no text in the message to edit")
        if "rich_message" in call.params:
            if call.text("text"):
                raise bad("only one of text and rich_message must be specified")
            if not self.rich_known:
                raise bad("message text is empty")
            markdown, read = self._rich(call)
            new: tuple[Any, ...] = (read.text, [], markdown, read.kinds)
        else:
            new = (*self._text(call, "text", "entities", TEXT_MAX), "", ())
        if (message.text, message.entities, message.rich, message.kinds, message.buttons) == (*new, buttons):
            same = "specified new message content and reply markup are exactly the same as a current content"
            raise bad(f"message is not modified: {same} and reply markup of the message")
        self._pace(bot, chat)
        message.edits.append(message.text)
        message.previewed = message.previewed or self._previews(call, new[0])
        message.text, message.entities, message.rich, message.kinds = new
        message.buttons = buttons
        self.world.changed()
        return message.said()

    def _keyboard(self, call: Call) -> list[list[Json]]:
        markup = call.tree("reply_markup")
        if markup is None:
            return []
        rows = markup.get("inline_keyboard")
        if set(markup) != {"inline_keyboard"} or not isinstance(rows, list):
            raise bad("this fake knows inline keyboards alone")
        for button in (button for row in rows for button in row):
            if set(button) != {"text", "callback_data"} or not button["text"]:
                raise bad("can't parse inline keyboard button")
            if not 1 <= len(button["callback_data"].encode()) <= 64:
                raise bad("BUTTON_DATA_INVALID")
        return rows

    def _edit_markup(self, bot: Bot, call: Call) -> Json:
        chat = self.chat(bot, call)
        message = self._message(chat, call.integer("message_id"), "edit")
        buttons = self._keyboard(call)
        if message.buttons == buttons:
            raise bad("message is not modified")
        message.buttons = buttons
        self.world.changed()
        return message.said()

    def _answer_query(self, _bot: Bot, call: Call) -> bool:
        query, text = call.text("callback_query_id"), call.text("text")
        if query not in self.world.queries:
            raise bad("query is too old and response timeout expired or query ID is invalid")
        if units(text) > 200:
            raise bad("MESSAGE_TOO_LONG")
        self.world.queries[query] = text
        self.world.changed()
        return True

    def _delete(self, bot: Bot, call: Call) -> bool:
        chat = self.chat(bot, call)
        message = self._message(chat, call.integer("message_id"), "delete")
        if self.world.now() - message.at > DELETE_MAX_S or (message.by is not bot.person and chat.kind != "private"):
            raise bad("message can't be deleted")
        message.gone = True
        self.world.changed()
        return True

    # Signs

    def _action(self, bot: Bot, call: Call) -> bool:
        chat = self.chat(bot, call)
        action, thread = call.text("action"), self._thread(chat, call)
        if action not in ACTIONS:
            raise bad("wrong parameter action in request")
        chat.actions.append((self.world.now(), action, thread))
        self.world.changed()
        return True

    def _react(self, bot: Bot, call: Call) -> bool:
        chat = self.chat(bot, call)
        call.ignored("is_big")
        message = self._message(chat, call.integer("message_id"), "react")
        reaction = call.tree("reaction", list) or []
        if len(reaction) > 1:
            raise bad("REACTIONS_TOO_MANY")
        for each in reaction:
            if each.get("type") != "emoji" or each.get("emoji", "").removesuffix("\ufe0f") not in REACTIONS:
                raise bad("REACTION_INVALID")
            message.reactions[bot.person.id] = each["emoji"]
        if not reaction:
            message.reactions.pop(bot.person.id, None)
        self.world.changed()
        return True

    # Commands

    def _scope(self, call: Call) -> tuple[str, str]:
        scope = call.tree("scope") or {"type": "default"}
        language = call.text("language_code")
        if language and not re.fullmatch(r"[a-z]{2}", language):
            raise bad("invalid language code specified")
        return str(sorted(scope.items())), language

    def _set_commands(self, bot: Bot, call: Call) -> bool:
        commands = call.tree("commands", list)
        if commands is None or len(commands) > COMMANDS_MAX:
            raise bad("BOT_COMMANDS_TOO_MUCH" if commands else 'field "commands" must be specified')
        for each in commands:
            if not re.fullmatch(r"[a-z0-9_]{1,32}", str(each.get("command", ""))):
                raise bad("BOT_COMMAND_INVALID")
            if not 1 <= len(str(each.get("description", ""))) <= 256:
                raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
        bot.commands[self._scope(call)] = commands
        self.world.changed()
        return True

    def _get_commands(self, bot: Bot, call: Call) -> list[Json]:
        return bot.commands.get(self._scope(call), [])

    def _delete_commands(self, bot: Bot, call: Call) -> bool:
        bot.commands.pop(self._scope(call), None)
        return True

    # Files

    def _get_file(self, _bot: Bot, call: Call) -> Json:
        found = self.world.files.get(call.text("file_id").removesuffix("-s"))
        if found is None:
            raise bad("invalid file_id")
        if found.size > DOWNLOAD_MAX and not self.local:
            raise bad("file is too big")
        unique = found.said()["file_unique_id"]
        path = f"{found.kind}s/{found.id}"
        return {"file_id": found.id, "file_unique_id": unique, "file_size": found.size, "file_path": path}

    # Webhooks

    def _set_webhook(self, bot: Bot, call: Call) -> bool:
        call.ignored("certificate", "ip_address", "max_connections")
        url, secret = call.text("url"), call.text("secret_token")
        if url and not url.startswith("https://") and not self.local:
            raise bad("bad webhook: An HTTPS URL must be provided for webhook")
        if secret and not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", secret):
            raise bad("secret token contains unallowed characters")
        self._allow(bot, call)
        self._drop(bot, call)
        bot.hook = Hook(url=url, secret=secret, generation=bot.hook.generation + 1)
        if url and bot.poll is not None:
            bot.poll.reason = "terminated by setWebhook request"
            bot.poll.ended.set()
        self.hooked(bot)
        return True

    def _delete_webhook(self, bot: Bot, call: Call) -> bool:
        self._drop(bot, call)
        bot.hook = Hook(generation=bot.hook.generation + 1)
        self.world.changed()
        return True

    def _webhook_info(self, bot: Bot, _call: Call) -> Json:
        failed = {"last_error_message": bot.hook.failed, "last_error_date": int(self.world.now())}
        said = {"url": bot.hook.url, "has_custom_certificate": False, "pending_update_count": len(bot.updates)}
        return said | (failed if bot.hook.failed else {})

    def _allow(self, bot: Bot, call: Call) -> None:
        allow(bot, call)

    def _drop(self, bot: Bot, call: Call) -> None:
        if call.flag("drop_pending_updates"):
            bot.updates.clear()


def allow(bot: Bot, call: Call) -> None:
    """Remember which updates are wanted; an empty list is all of the usual ones, and none at all those as before."""
    wanted = call.tree("allowed_updates", list)
    if wanted is None:
        return
    if not all(isinstance(kind, str) for kind in wanted):
        raise bad("can't parse allowed_updates: expected Strings")
    bot.allowed = tuple(wanted) or type(bot).__dataclass_fields__["allowed"].default
