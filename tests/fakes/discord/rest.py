"""What the fake REST API does: as strict as the documentation, of what Millpond may ask."""

import json
import time
from typing import Any
from urllib.parse import unquote

from tests.fakes.discord.calls import UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, Call, Failed
from tests.fakes.discord.world import NONCE_S, REPLY, SAID, Bot, Chat, Interaction, Message, World
from tests.fakes.platform import Buckets

CONTENT_MAX, NONCE_MAX, FILE_MAX = 2_000, 25, 10_485_760
VOICE = 1 << 13
FLAGS = (1 << 2) | (1 << 12) | VOICE  # those that may be set: no previews, no sound, a voice message
FILES_MAX = 10
SENT = {
    "content",
    "nonce",
    "enforce_nonce",
    "attachments",
    "message_reference",
    "allowed_mentions",
    "flags",
    "components",
}
EDITED = {"content", "allowed_mentions", "flags"}


class Rest:
    """The routes; ``limits`` None: as much may be sent as one likes."""

    def __init__(self, world: World, limits: Buckets | None) -> None:
        self.world = world
        self.limits = limits
        self.gateway = ""

    def act(self, bot: Bot, call: Call) -> Any:  # noqa: PLR0911, PLR0912 - one for each route
        match (call.method.partition(" ")[0], *call.path):
            case ("GET", "users", "@me"):
                return bot.person.said()
            case ("GET", "applications", "@me"):
                return {"id": bot.app_id, "name": bot.person.name, "flags": bot.flags} | {
                    "approximate_guild_count": len(self.world.guilds),
                    "owner": self._owner(),
                }
            case ("GET", "applications", bot.app_id, "commands"):
                return bot.commands
            case ("PUT", "applications", bot.app_id, "commands"):
                return self._registered(bot, call)
            case ("GET", "gateway", "bot"):
                starts = {"total": 1_000, "remaining": bot.starts_left, "reset_after": 60_000, "max_concurrency": 1}
                return {"url": self.gateway, "shards": self.world.shards, "session_start_limit": starts}
            case ("GET", "guilds", guild, "roles"):
                return self.world.guilds[guild].roles
            case ("POST", "users", "@me", "channels"):
                person = self.world.people.get(str(call.params["recipient_id"]))
                if person is None:
                    raise Failed(400, 50_033, "Invalid Recipient(s)")
                return self.world.direct(person).described()
            case ("POST", "interactions", event, token, "callback"):
                return self._answered(bot, event, token, call)
            case ("POST", "webhooks", bot.app_id, token):
                bot.answers.append(self._interaction(token).follow_up(call.params))
                return None
            case ("PATCH", "webhooks", bot.app_id, token, "messages", "@original"):
                bot.answers.append(self._interaction(token).change(call.params))
                self.world.changed()
                return None
            case (verb, "channels", chat, *rest):
                return self._in_chat(bot, call, verb, self._chat(chat), rest)
            case _:
                raise Failed(404, 0, "404: Not Found")

    def _owner(self) -> Any:
        people = [each for each in self.world.people.values() if not each.is_bot]
        return people[0].said() if people else {"id": "1", "username": "nobody"}

    def _in_chat(self, bot: Bot, call: Call, verb: str, chat: Chat, rest: list[str]) -> Any:  # noqa: PLR0911, PLR0912
        if chat.is_archived and verb != "GET":
            if chat.is_locked or (verb, *rest) not in (("PATCH",), ("POST", "messages")):
                raise Failed(400, 50_083, "Thread is archived")
            chat.is_archived = False
        match (verb, *rest):
            case ("GET",):
                return chat.described()
            case ("PATCH",):
                assert call.params == {"archived": False}, call.params
                return chat.described()
            case ("POST", "typing"):
                chat.typings += 1
                return None
            case ("POST", "messages"):
                return self._sent(bot, chat, call)
            case ("GET", "messages"):
                return self._listed(chat, call)
            case ("GET", "messages", number):
                return self._message(chat, number).said(self.world.base_url)
            case ("PATCH", "messages", number):
                return self._edited(bot, self._message(chat, number), call)
            case ("DELETE", "messages", number):
                self._own(bot, self._message(chat, number)).gone = True
                return None
            case ("PUT" | "DELETE", "messages", number, "reactions", emoji, "@me"):
                people = self._message(chat, number).reactions.setdefault(unquote(emoji), set())
                if verb == "DELETE" and bot.person.id not in people:
                    raise Failed(404, 10_014, "Unknown Emoji")
                (people.add if verb == "PUT" else people.discard)(bot.person.id)
                return None
            case _:
                raise Failed(404, 0, "404: Not Found")

    def _chat(self, number: str) -> Chat:
        chat = self.world.chats.get(number)
        if chat is None or chat.is_gone:
            raise Failed(*UNKNOWN_CHANNEL)
        return chat

    def _message(self, chat: Chat, number: str) -> Message:
        message = chat.messages.get(number)
        if message is None or message.gone:
            raise Failed(*UNKNOWN_MESSAGE)
        return message

    def _own(self, bot: Bot, message: Message) -> Message:
        if message.by is not bot.person:
            raise Failed(403, 50_005, "Cannot edit a message authored by another user")
        return message

    def _sent(self, bot: Bot, chat: Chat, call: Call) -> Any:
        body = self._body(call, SENT)
        if chat.is_closed:
            raise Failed(403, 50_001, "Missing Access")
        nonce = str(body.get("nonce", ""))
        if len(nonce) > NONCE_MAX:
            raise _invalid("nonce")
        if nonce and body.get("enforce_nonce") and (known := self._with_nonce(bot, nonce)):
            if known.gone:
                raise Failed(*UNKNOWN_MESSAGE)
            return known.said(self.world.base_url)
        if [each.name for each in call.files.values()] != [each["filename"] for each in body.get("attachments", [])]:
            raise _invalid("attachments")
        files = [self.world.file(each.data, each.name.replace(" ", "_")) for each in call.files.values()]
        if len(files) > FILES_MAX:
            raise _invalid("attachments")
        if body.get("flags", 0) & VOICE:
            _check_voice(chat, body)
        if any(len(file.data) > FILE_MAX for file in files):
            raise Failed(413, 40_005, "Request entity too large")
        text = self._content(body)
        if not text.strip() and not files:
            raise Failed(400, 50_006, "Cannot send an empty message")
        if body.get("message_reference") and chat.hides_history:
            raise Failed(403, 160_002, "Cannot reply without permission to read message history")
        answered = self._answered_message(chat, body)
        kind = REPLY if answered else SAID
        message = self.world.add(
            chat, bot.person, text, kind=kind, files=files, reply_to=answered, nonce=nonce, flags=body.get("flags", 0)
        )
        message.rows = self._rows(body)
        self.world.tell("MESSAGE_CREATE", message)
        return message.said(self.world.base_url)

    def _with_nonce(self, bot: Bot, nonce: str) -> Message | None:
        said = (each for chat in self.world.chats.values() for each in chat.messages.values())
        recent = (each for each in said if each.by is bot.person and self.world.now() - each.at < NONCE_S)
        return next((each for each in recent if each.nonce == nonce), None)

    def _answered_message(self, chat: Chat, body: Any) -> Message | None:
        reference = body.get("message_reference")
        if not reference:
            return None
        found = chat.messages.get(reference["message_id"])
        if found is None or found.gone:
            if reference.get("fail_if_not_exists", True):
                raise _invalid("message_reference")
            return None
        return found

    def _edited(self, bot: Bot, message: Message, call: Call) -> Any:
        body = self._body(call, EDITED)
        self._own(bot, message).text = self._content(body)
        message.edited = f"2026-11-20T12:00:00.{next(self.world.numbers):06}+00:00"
        self.world.tell("MESSAGE_UPDATE", message)
        return message.said(self.world.base_url)

    def _listed(self, chat: Chat, call: Call) -> Any:
        limit = int(call.params.get("limit", 50))
        if not 1 <= limit <= 100:
            raise _invalid("limit")
        if chat.hides_history:
            return []
        there = [each for each in chat.messages.values() if not each.gone]
        if "before" in call.params:
            there = [each for each in there if int(each.id) < int(call.params["before"])]
        if "after" in call.params:
            there = [each for each in there if int(each.id) > int(call.params["after"])][:limit]
        return [each.said(self.world.base_url) for each in reversed(there[-limit:])]

    def _registered(self, bot: Bot, call: Call) -> Any:
        commands: list[Any] = call.params["[]"]
        for each in commands:
            assert each["name"].islower() and len(each["description"]) <= 100
            assert each["integration_types"] == [0], "by default, also where the bot is no member"
        bot.commands = [{**each, "id": self.world.id(), "version": "1"} for each in commands]
        return bot.commands

    def _answered(self, bot: Bot, event: str, token: str, call: Call) -> Any:
        interaction = self._interaction(token, event)
        if interaction.answered:
            raise Failed(400, 40_060, "Interaction has already been acknowledged.")
        interaction.answered = call.params["type"]
        if interaction.answered == 7:
            interaction.change(call.params["data"])
        bot.answers.append(call.params)
        self.world.changed()
        return None

    def _interaction(self, token: str, event: str = "") -> Interaction:
        found = next((each for each in self.world.interactions.values() if each.token == token), None)
        if found is None or event not in ("", found.id) or not (event or found.answered):
            raise Failed(404, 10_062, "Unknown interaction")
        return found

    def _body(self, call: Call, known: set[str]) -> Any:
        body = json.loads(call.params["payload_json"]) if "payload_json" in call.params else call.params
        call.used.update(known, {"payload_json"})
        if unknown := set(body) - known:
            raise _invalid(", ".join(sorted(unknown)))
        if body.get("flags", 0) & ~FLAGS:
            raise _invalid("flags")
        if body.get("allowed_mentions", {}).get("parse") != []:
            raise _invalid("a mention could notify people")
        return body

    def _rows(self, body: Any) -> list[Any]:
        rows = body.get("components", [])
        buttons = [button for row in rows for button in row["components"]]
        well = all(0 < len(each["label"]) <= 80 and 0 < len(each["custom_id"]) <= 100 for each in buttons)
        if len(rows) > 5 or any(row["type"] != 1 or len(row["components"]) > 5 for row in rows) or not well:
            raise _invalid("components")
        if len({each["custom_id"] for each in buttons}) < len(buttons):
            raise _invalid("components: custom_id duplicated")
        return rows

    def _content(self, body: Any) -> str:
        text = body.get("content") or ""
        if len(text) > CONTENT_MAX:
            raise _invalid("content")
        return text.strip()

    # Rate limits

    def limited(self, bot: Bot, call: Call) -> dict[str, str]:
        """The headers of an answer; raises Failed when a limit is reached."""
        if self.limits is None or call.method.startswith("GET"):
            return {}
        is_interaction = call.path[0] in ("interactions", "webhooks")  # which the limit of all requests leaves out
        major = (
            call.path[2 if call.path[0] == "webhooks" else 1] if call.path[0] == "channels" or is_interaction else ""
        )
        name = call.method
        everywhere = [] if is_interaction else [(f"{bot.token} all", 50, 50.0)]
        wait_s = self.limits.take(*everywhere, (f"{bot.token} {name} {major}", 5, 1.0))
        if wait_s:
            raise Failed(429, 0, "You are being rate limited.", retry_after=float(wait_s), **{"global": False})
        room = self.limits._filled(f"{bot.token} {name} {major}", 5, 1.0).room
        bucket = f"{abs(hash(name)):x}"[:8]
        reset_s = f"{max(0.0, 1.0 - room):.3f}"
        return {
            "x_ratelimit_bucket": bucket,
            "x_ratelimit_limit": "5",
            "x_ratelimit_remaining": str(int(room)),
            "x_ratelimit_reset_after": reset_s,
            "x_ratelimit_reset": str(time.time() + 1),
        }


def _check_voice(chat: Chat, body: Any) -> None:
    if chat.takes_no_voice:
        raise Failed(403, 50_173, "Cannot send voice messages in this channel")
    if body.get("content"):
        raise Failed(400, 50_159, "Voice messages do not support additional content.")
    [*files] = body.get("attachments", [])
    if len(files) != 1 or not files[0]["filename"].endswith(".ogg"):
        raise Failed(400, 50_160, "Voice messages must have a single audio attachment.")
    if not isinstance(files[0].get("duration_secs"), float) or not files[0].get("waveform"):
        raise Failed(400, 50_161, "Voice messages must have supporting metadata.")


def _invalid(field: str) -> Failed:
    errors = {field: {"_errors": [{"code": "INVALID", "message": "invalid"}]}}
    return Failed(400, 50_035, f"Invalid Form Body: {field}", errors=errors)
