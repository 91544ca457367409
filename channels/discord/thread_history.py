"""The messages of a thread before the bot was first asked there."""

import datetime as dt

import anyio
import msgspec

from channels.discord.api import Api, Request, left_s
from channels.discord.api_types import Message, is_snowflake, seconds_of
from channels.discord.discord_events import SAID, THREAD_STARTER, Me, Place, sender_of, words_of
from channels.discord.message_content import attachments_of
from channels.quoted_message import said_with
from daemon.clock import stamp
from daemon.errors import UNREADABLE, ChannelError, SendRefused
from daemon.events import Inbound, Overheard

KEPT_MAX = 50
"""Messages that are read, the last ones before the question; as many as are overheard."""

_message = msgspec.json.Decoder(Message).decode
_messages = msgspec.json.Decoder(list[Message]).decode


class ThreadHistory:
    """Reads the threads of one bot's servers."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def before(self, inbound: Inbound, me: Me, *, timeout_s: float) -> tuple[Overheard, ...]:
        """The messages of the thread before ``inbound``, oldest first. Errors as for ``LooksBack.before``."""
        if not (is_snowflake(inbound.thread) and is_snowflake(inbound.id)):
            return ()
        deadline = anyio.current_time() + timeout_s
        query = {"limit": str(KEPT_MAX), "before": inbound.id}
        request = Request("GET", f"/channels/{inbound.thread}/messages", query=query)
        content = await self._api.call(request, timeout_s=timeout_s)
        try:
            found = _messages(content)
        except UNREADABLE as error:
            raise SendRefused("Discord returned a list of messages that Millpond cannot read") from error
        if len(found) == KEPT_MAX:
            found += await self._root(inbound, left_s(deadline))
        oldest_first = sorted(map(_started, found), key=lambda each: int(each.id))
        return tuple(said for each in oldest_first if (said := _said(each, me)) is not None)

    async def _root(self, inbound: Inbound, timeout_s: float) -> list[Message]:
        """The message that a long thread was made of, which stands in the channel under the thread's ID."""
        request = Request("GET", f"/channels/{inbound.chat}/messages/{inbound.thread}")
        try:
            return [_message(await self._api.call(request, timeout_s=timeout_s))]
        except (ChannelError, *UNREADABLE):
            return []  # a thread without such a message


def _started(message: Message) -> Message:
    """A thread that was made of a message begins with a reference to it."""
    if message.type == THREAD_STARTER and isinstance(message.referenced_message, Message):
        return message.referenced_message
    return message


def _said(message: Message, me: Me) -> Overheard | None:
    sender = sender_of(message)
    if sender is None or message.type not in SAID:
        return None
    files = attachments_of(message)
    text = said_with(files, words_of(message, me, Place(chat=message.channel_id)))
    if not text:
        return None
    at = dt.datetime.fromtimestamp(seconds_of(message.id), dt.UTC)
    return Overheard(
        id=message.id, sender_id=sender.id, sender_name=sender.name, text=text, at=stamp(at), attachments=files
    )
