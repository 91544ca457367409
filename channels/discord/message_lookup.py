"""Looking up whether a message was sent: by its nonce, else by its text."""

from collections.abc import Iterator

import anyio
import msgspec

from channels.base import Part
from channels.discord.api import Api, Request, left_s
from channels.discord.api_types import UNKNOWN_CHANNEL, Message, Rejected, is_snowflake, seconds_of, snowflake_at
from channels.discord.message_sender import DOCUMENT_NAME, nonce_of, shown, target_of
from daemon.clock import Clock
from daemon.errors import UNREADABLE, SendRefused
from daemon.sessionkey import SessionKey

PAGE = 100
"""Messages that Discord returns at most."""

LOOK_BACK_S = 86_400.0
"""Greatest age of a message that is found; a reply that waited for longer is sent again."""

SAME_S = 3_600.0
"""Greatest age of a message that is found only by its text: a bot may write the same again another day."""

_messages = msgspec.json.Decoder(list[Message]).decode


class LookupRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A message that may have been sent."""

    part: Part
    nonce: str
    preview_nonce: str
    """Of the preview that the part may have been edited into."""
    now_s: float
    """Seconds of the epoch."""


class MessageLookup:
    """Looks in the channels of one bot."""

    def __init__(self, api: Api, clock: Clock) -> None:
        self._api = api
        self._clock = clock

    async def find(self, chat: SessionKey, part: Part, me: str, *, timeout_s: float) -> str:
        """The ID of the message that some attempt at ``part`` created; empty: none. Errors as for ``Finds.find``."""
        now_s = self._clock.now().timestamp()
        after = part.reply_to if is_snowflake(part.reply_to) else snowflake_at(now_s - LOOK_BACK_S)
        # Without ``after``, for which Discord returns the oldest messages and not the newest.
        deadline = anyio.current_time() + timeout_s
        try:
            content = await self._newest(target_of(chat), timeout_s)
        except Rejected as no:
            if no.code != UNKNOWN_CHANNEL or not chat.thread:
                raise
            # The thread was deleted: the message may be in its channel.
            content = await self._newest(chat.chat, left_s(deadline))
        try:
            found = _messages(content)
        except UNREADABLE as error:
            raise SendRefused("Discord returned a list of messages that Millpond cannot read") from error
        ours = [each for each in found if each.author and each.author.id == me and int(each.id) > int(after)]
        preview = msgspec.structs.replace(part, preview=True)
        return found_in(
            ours,
            LookupRequest(part=part, nonce=nonce_of(chat, part), preview_nonce=nonce_of(chat, preview), now_s=now_s),
        )

    async def _newest(self, channel: str, timeout_s: float) -> bytes:
        request = Request("GET", f"/channels/{channel}/messages", query={"limit": str(PAGE)})
        return await self._api.call(request, timeout_s=timeout_s)


def found_in(ours: list[Message], wanted: LookupRequest) -> str:
    """The newest of the bot's messages that is the wanted one. Pure."""
    newest_first = sorted(ours, key=lambda each: int(each.id), reverse=True)
    return next((each.id for each in _matching(newest_first, wanted)), "")


def _matching(ours: list[Message], wanted: LookupRequest) -> Iterator[Message]:
    part = wanted.part
    yield from (each for each in ours if each.nonce == wanted.nonce)
    if not part.preview:
        edited = (each for each in ours if each.nonce == wanted.preview_nonce)
        # Discord removes spaces and lines at the ends.
        yield from (each for each in edited if each.content.strip() == shown(part.text).strip())
    # Discord keeps nonces for a short time only.
    if any(each.nonce for each in ours):
        return
    yield from (each for each in ours if wanted.now_s - seconds_of(each.id) <= SAME_S and _is_like(each, part))


def _is_like(message: Message, part: Part) -> bool:
    names = [each.name or "file" for each in part.attachments]
    if part.document:
        names.insert(0, DOCUMENT_NAME)
    if [_words(each.filename) for each in message.attachments] != [_words(each) for each in names]:
        return False
    begun, words = _words(message.content), _words(shown(part.text))
    if part.preview:
        return bool(begun) and words.startswith(begun)
    return begun == words and bool(words or names)


def _words(text: str) -> str:
    """Letters and digits alone: Discord may change the others, as in names of files."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())
