"""What the methods of the API do."""

import json
import secrets
from collections.abc import Callable
from typing import Any

from tests.fakes.feishu.world import TOKEN_LASTS_S, UUID_LASTS_S, Chat, Failed, Message, World
from tests.fakes.platform import Call
from tests.fakes.wire import Upload

CARD_MAX, TEXT_MAX = 30_720, 153_600  # bytes of a request
TABLES_MAX = 4
NEEDS = {
    "messages.create": "im:message:send_as_bot", "messages.reply": "im:message:send_as_bot",
    "messages.patch": "im:message", "messages.get": "im:message", "messages.delete": "im:message",
    "messages.list": "im:message", "reactions.": "im:message", "images.create": "im:resource",
    "files.create": "im:resource", "resources.get": "im:message", "cards.": "cardkit:card:write",
    "users.get": "contact:user.base:readonly",
    "chats.get": "im:chat:readonly",
}  # fmt: skip


class Methods:
    def __init__(self, world: World) -> None:
        self.world = world

    def act(self, call: Call, files: dict[str, Upload]) -> Any:
        """The answer's ``data``, or the content of a file. Raises: Failed."""
        scope = next((need for name, need in NEEDS.items() if call.method.startswith(name)), "")
        if scope and scope not in self.world.app.scopes:
            raise Failed(99991672, f"Access denied. One of the following scopes is required: [{scope}]")
        method: Callable[..., Any] = getattr(self, f"_{call.method.replace('.', '_')}")
        return method(call, files) if call.method in ("images.create", "files.create") else method(call)

    def token(self, params: dict[str, Any]) -> dict[str, Any]:
        app = self.world.app
        if params.get("app_id") != app.id or params.get("app_secret") != app.secret:
            raise Failed(10014, "app secret invalid", status=200)
        token = f"t-{secrets.token_hex(16)}"
        app.tokens[token] = self.world.now() + TOKEN_LASTS_S
        return {"code": 0, "msg": "ok", "tenant_access_token": token, "expire": TOKEN_LASTS_S}

    def _messages_create(self, call: Call) -> dict[str, Any]:
        to = str(call.params.get("receive_id"))
        match call.params.get("receive_id_type"):
            case "chat_id":
                chat = self.world.chats.get(to)
            case "open_id":
                chat = self.world.directs.get(to)
            case _:
                raise Failed(230001, "receive_id_type")
        if chat is None:
            raise Failed(230034, "The receive_id is invalid.")
        return self._sent(call, chat, "")

    def _messages_reply(self, call: Call) -> dict[str, Any]:
        parent = self.world.message(call.params["message_id"])
        if parent.deleted:
            raise Failed(230011, "The message is recalled.")
        return self._sent(call, parent.chat, parent.id)

    def _sent(self, call: Call, chat: Chat, answers: str) -> dict[str, Any]:
        if not chat.has_bot:
            raise Failed(230002, "The bot can not be outside the group.")
        kind, content, uuid = call.params.get("msg_type"), call.params.get("content"), str(call.params.get("uuid", ""))
        if len(uuid) > 50:
            raise Failed(230001, "uuid")
        told = self._content(str(kind), content, len(json.dumps(call.params, ensure_ascii=False).encode()))
        at, message = self.world.uuids.get(uuid, (0.0, None))
        if not uuid or message is None or self.world.now() - at > UUID_LASTS_S:
            in_thread = bool(call.params.get("reply_in_thread"))
            message = chat.add(str(kind), told, by=None, answers=answers, in_thread=in_thread)
            self.world.uuids[uuid] = (self.world.now(), message)
        return message.item()

    def _content(self, kind: str, content: Any, size_bytes: int) -> dict[str, Any]:
        if not isinstance(content, str):
            raise Failed(230001, "content is not a string")
        if size_bytes > (TEXT_MAX if kind == "text" else CARD_MAX):
            raise Failed(230025, "The length of the message content reaches its limit.")
        told: dict[str, Any] = json.loads(content)
        if kind == "interactive":
            _check_card(told)
        elif kind == "text":
            if not told["text"].strip() or "<at " in told["text"]:
                raise Failed(230001, "text")
        elif kind in ("image", "file", "audio"):
            key = str(told.get("image_key" if kind == "image" else "file_key"))
            form = "opus" if kind == "audio" else "stream"
            if key not in self.world.files or (kind != "image" and self.world.forms[key] != form):
                raise Failed(230055, "The type of file upload does not match the type of message being sent.")
            told |= {"file_name": self.world.files[key][0]} if kind == "file" else {}
        else:
            raise Failed(230001, "msg_type")
        return told

    def _messages_patch(self, call: Call) -> dict[str, Any]:
        message = self._ours(call)
        if message.kind != "interactive":
            raise Failed(230001, "no card")
        card = self._content("interactive", call.params.get("content"), len(str(call.params.get("content")).encode()))
        if not card["config"].get("update_multi"):
            raise Failed(230099, "update_multi")
        message.content = card
        return {}

    def _messages_delete(self, call: Call) -> dict[str, Any]:
        self._ours(call).deleted = True
        return {}

    def _messages_get(self, call: Call) -> dict[str, Any]:
        message = self.world.message(call.params["message_id"])
        inner = [{**each.item(), "upper_message_id": message.id} for each in message.forwarded]
        return {"items": [message.item(), *inner]}

    def _messages_list(self, call: Call) -> dict[str, Any]:
        kind, where = call.params["container_id_type"], call.params["container_id"]
        found = [
            message
            for chat in self.world.chats.values()
            for message in chat.messages.values()
            if (message.thread == where if kind == "thread" else chat.id == where)
        ]
        if call.params.get("sort_type") == "ByCreateTimeDesc":
            found.reverse()
        size, at = int(call.params.get("page_size", 20)), int(call.params.get("page_token") or 0)
        if not 1 <= size <= 50:
            raise Failed(230001, "page_size")
        more = at + size < len(found)
        page = [message.item() for message in found[at : at + size]]
        return {"items": page, "has_more": more} | ({"page_token": str(at + size)} if more else {})

    def _ours(self, call: Call) -> Message:
        message = self.world.message(call.params["message_id"])
        if message.by is not None:
            raise Failed(230026, "not the bot's")
        if message.deleted:
            raise Failed(230011, "The message is recalled.")
        return message

    def _reactions_create(self, call: Call) -> dict[str, Any]:
        message = self.world.message(call.params["message_id"])
        emoji = call.params["reaction_type"]["emoji_type"]
        if not emoji.isascii() or not emoji:
            raise Failed(231001, "reaction type is invalid.")
        if message.deleted:
            raise Failed(231003, "the message is recalled")
        put = f"r{next(self.world.numbers):x}"
        message.reactions[put] = (emoji, self.world.app.id)
        self.world.changed()
        return {"reaction_id": put, "reaction_type": {"emoji_type": emoji}}

    def _reactions_list(self, call: Call) -> dict[str, Any]:
        wanted, message = call.params.get("reaction_type"), self.world.message(call.params["message_id"])
        return {
            "items": [
                {"reaction_id": put, "operator": {"operator_id": who, "operator_type": "app"},
                 "reaction_type": {"emoji_type": emoji}}
                for put, (emoji, who) in message.reactions.items() if wanted in (None, emoji)
            ]
        }  # fmt: skip

    def _reactions_delete(self, call: Call) -> dict[str, Any]:
        message = self.world.message(call.params["message_id"])
        if message.reactions.pop(call.params["reaction_id"], None) is None:
            raise Failed(231003, "no such reaction")
        self.world.changed()
        return {}

    def _images_create(self, call: Call, files: dict[str, Upload]) -> dict[str, Any]:
        upload = files["image"]
        if call.params.get("image_type") != "message" or not upload.data.startswith((b"\x89PNG", b"\xff\xd8", b"GIF8")):
            raise Failed(234011, "Can't recognize the image format.")
        return {"image_key": self._stored("img", upload.name, upload.data)}

    def _files_create(self, call: Call, files: dict[str, Upload]) -> dict[str, Any]:
        upload = files["file"]
        form = call.params.get("file_type")
        if form not in ("stream", "opus") or not call.params.get("file_name"):
            raise Failed(234001, "file_type")
        if form == "opus" and not (upload.data.startswith(b"OggS") and str(call.params.get("duration")).isdecimal()):
            raise Failed(234001, "no Opus, or no duration")
        key = self._stored("file", str(call.params["file_name"]), upload.data)
        self.world.forms[key] = form
        return {"file_key": key}

    def _stored(self, kind: str, name: str, data: bytes) -> str:
        if not data:
            raise Failed(234010, "File's size can't be 0.")
        key = f"{kind}_v3_{next(self.world.numbers):x}"
        self.world.files[key] = (name, data)
        return key

    def _resources_get(self, call: Call) -> bytes:
        kind = "image" if call.params["file_key"].startswith("img_") else "file"
        message, key = self.world.message(call.params["message_id"]), call.params["file_key"]
        if message.deleted:
            raise Failed(230110, "The message has been deleted.")
        own = self.world.files.get(key, ("", None))[1] if key in message.content.values() else None
        found = self.world.resources.get((message.id, key), own)
        if found is None or call.params.get("type") != kind:
            raise Failed(234003, "File not in msg.")
        return found

    def _cards_id_convert(self, call: Call) -> dict[str, Any]:
        message = self._ours(call)
        if message.kind != "interactive":
            raise Failed(200740, "no card")
        message.card_id = message.card_id or str(7_355_439_197_428_236_000 + next(self.world.numbers) % 1_000)
        return {"card_id": message.card_id}

    def _cards_content(self, call: Call) -> dict[str, Any]:
        message = self._card(call)
        if not message.is_streaming:
            raise Failed(300309, "Card streaming closed")
        element = message.content["body"]["elements"][0]
        if call.params["element_id"] != element["element_id"]:
            raise Failed(300313, "element")
        element["content"] = call.params["content"]
        self.world.changed()
        return {}

    def _cards_element_delete(self, call: Call) -> dict[str, Any]:
        message = self._card(call)
        elements = message.content["body"]["elements"]
        left = [each for each in elements if each["element_id"] != call.params["element_id"]]
        if len(left) == len(elements):
            raise Failed(300313, "element")
        elements[:] = left
        self.world.changed()
        return {}

    def _chats_get(self, call: Call) -> dict[str, Any]:
        chat = self.world.chats.get(call.params["chat_id"])
        if chat is None or not chat.has_bot:
            raise Failed(232011, "Operator can NOT be out of the chat.")
        return {"chat_mode": chat.kind, "name": ""}

    def _cards_update(self, call: Call) -> dict[str, Any]:
        message = self._card(call)
        card = call.params["card"]
        message.content = self._content("interactive", card["data"], len(card["data"].encode()))
        self.world.changed()
        return {}

    def _card(self, call: Call) -> Message:
        cards = [each for chat in self.world.chats.values() for each in chat.messages.values() if each.card_id]
        message = next((each for each in cards if each.card_id == call.params["card_id"]), None)
        if message is None or message.deleted:
            raise Failed(200740, "The card entity does not exist")
        sequence = call.params.get("sequence")
        if not isinstance(sequence, int) or not message.sequence < sequence <= 2_147_483_647:
            raise Failed(300317, "The sequence number did not increment")
        message.sequence = sequence
        return message

    def _users_get(self, call: Call) -> dict[str, Any]:
        person = self.world.people.get(call.params["user_id"])
        if person is None:
            raise Failed(41012, "user id invalid error")
        return {"user": {"open_id": person.id, "name": person.name}}

    def _bot_info(self, call: Call) -> dict[str, Any]:
        app = self.world.app
        return {"activate_status": app.status, "app_name": app.name, "open_id": app.open_id, "ip_white_list": []}

    def _scopes_list(self, call: Call) -> dict[str, Any]:
        return {"scopes": [{"scope_name": each, "grant_status": 1} for each in sorted(self.world.app.scopes)]}


def _check_card(card: dict[str, Any]) -> None:
    if card.get("schema") != "2.0":
        raise Failed(230099, "Failed to create card content, ext=ErrCode: 200621; parse card json err")
    for element in card["body"]["elements"]:
        if element["tag"] == "column_set":
            _check_buttons(element)
            continue
        text = element["content"]
        outside = "".join(text.split("```")[::2])
        if "<at " in outside or "![" in outside:
            raise Failed(230099, "Failed to create card content, ext=ErrCode: 200570; card contains invalid image keys")
        if outside.count("\n|-") > TABLES_MAX:
            raise Failed(230099, "Failed to create card content, ext=ErrCode: 11310; card table number over limit")


def _check_buttons(found: dict[str, Any]) -> None:
    for column in found["columns"]:
        for button in column["elements"]:
            text, [behavior] = button["text"], button["behaviors"]
            shape = (column["tag"], button["tag"], text["tag"], behavior["type"])
            if shape != ("column", "button", "plain_text", "callback") or not 1 <= len(text["content"]) <= 100:
                raise Failed(230099, "Failed to create card content, ext=ErrCode: 200621; parse card json err")
