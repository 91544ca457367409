"""The adapter: what ``channels.base.Channel`` asks for, in terms of the Bot API."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import msgspec
import structlog

from channels.base import Health, Intake, Limits, Part, Purpose, Rate
from channels.leader_election import Leader
from channels.telegram import command_menus
from channels.telegram.api import Api
from channels.telegram.api import connect as connect_api
from channels.telegram.api_types import Path, Rejected
from channels.telegram.attachments import SEND_MAX_BYTES
from channels.telegram.buttons import Buttons
from channels.telegram.event_inlet import EventInlet
from channels.telegram.group_migration import NEW, GroupMigrations
from channels.telegram.health_check import examined, me_of
from channels.telegram.message_sender import MessageSender, Target
from channels.telegram.polling import Polling, under_lease
from channels.telegram.text_forms import CAPTION_MAX, TEXT_MAX
from channels.telegram.updates import Me, kinds_of
from channels.telegram.webhook import Webhook
from daemon.config import TelegramConfig
from daemon.errors import BusError, ChannelError, SendRefused, SendRejected, SendUnknown, brief
from daemon.events import Attachment
from daemon.process import Process
from daemon.sessionkey import SessionKey

FETCH_MAX_BYTES = 20_971_520
"""Largest file that a bot can fetch (Bot API, ``getFile``: 20 MB)."""

LIMITS = Limits(
    part_max=TEXT_MAX,
    # An edit counts as a message: one a second in a chat, twenty a minute in a group (Bot FAQ, "My bot is hitting
    # limits"), of which the answers themselves need some.
    edit_every_s=1.2,
    group_edit_every_s=5.0,
    typing_lasts_s=5.0,
    fetch_max_bytes=FETCH_MAX_BYTES,
    send_max_bytes=SEND_MAX_BYTES,
    caption_max=CAPTION_MAX,
    said_max=TEXT_MAX,
)

ALL_COUNT, ALL_S = 30, 1.0
"""Messages of a bot to all its chats (Bot FAQ)."""

CHAT_COUNT, CHAT_S = 3, 3.0
"""To one chat: one a second, of which a few may come at once."""

GROUP_COUNT, GROUP_S = 20, 60.0
"""To one group, all of its topics together."""

LEAD_STEP_S = 1.0
"""What of asking needs the lease: nothing that could do harm without it."""

REST_S = 5.0
"""Pause before the platform is asked once more who the bot is, less up to a half of it."""

_path = msgspec.json.Decoder(Path).decode
_log = structlog.get_logger()


class TelegramChannel:
    """One bot of Telegram."""

    limits = LIMITS

    def __init__(self, process: Process, name: str, config: TelegramConfig, api: Api) -> None:
        self.name = name
        self._process = process
        self._config = config
        self._api = api
        self._moved = GroupMigrations(process.bus, name)
        self._sending = MessageSender(api, process.workspace(config.bot), rich=config.rich)

    async def load(self) -> None:
        """Learn which groups have moved; while Redis is away the platform says it again."""
        try:
            await self._moved.load()
        except BusError as error:
            _log.warning("chat.moved", channel=self.name, reason=brief(error))

    async def receive(self, intake: Intake) -> None:
        """As ``Channel.receive``: ask for updates while this process leads, or serve the webhook."""
        # Its own connections: what waits for the next update must not be thrown away with a send, nor hold one up.
        async with connect_api(self._config.base_url, self._config.token) as api:
            me = await self._me(api)
            leader = Leader(
                self._process,
                key=self._process.bus.keys.poller(self.name),
                channel=self.name,
                longest_s=LEAD_STEP_S,
            )
            await self.load()
            buttons = Buttons(api, channel=self.name)
            inlet = EventInlet(intake, me, self._moved, channel=self.name, buttons=buttons)
            async with anyio.create_task_group() as tg:
                tg.start_soon(self._register)
                if self._config.webhook.url:
                    await Webhook(self._process, self.name, self._config, api).run(leader, inlet)
                else:
                    await under_lease(
                        leader, lambda: Polling(api, inlet, channel=self.name, kinds=kinds_of(self._config))
                    )
                tg.cancel_scope.cancel()

    def length(self, text: str) -> int:
        """In UTF-16 units; a text that fits into one rich message is no longer than a part."""
        return self._sending.length(text)

    def rates(self, chat: SessionKey, purpose: Purpose = "send") -> tuple[Rate, ...]:
        """As the platform's FAQ says; who keeps to them hardly ever hears a 429."""
        everywhere = Rate(bucket="all", count=ALL_COUNT, per_s=ALL_S)
        here = Rate(bucket=f"chat {chat.chat}", count=CHAT_COUNT, per_s=CHAT_S)
        if not chat.chat.startswith("-"):  # no group
            return (everywhere, here)
        return (everywhere, here, Rate(bucket=f"group {chat.chat}", count=GROUP_COUNT, per_s=GROUP_S))

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """As ``Channel.send``."""
        deadline = anyio.current_time() + timeout_s
        try:
            sent = await self._sending.send(self._target(chat, part.reply_to), part, timeout_s=timeout_s)
        except Rejected as no:
            if not no.moved_to:
                raise
            # Refused, so nothing was sent: at its new address it can be sent at once.
            await self._moved.noted(int(self._moved.address(chat.chat)), no.moved_to)
            left_s = max(deadline - anyio.current_time(), 0.0)
            sent = await self._sending.send(self._target(chat, part.reply_to), part, timeout_s=left_s)
        return f"{NEW}{sent}" if sent and self._moved.address(chat.chat) != chat.chat else sent

    async def edit(self, chat: SessionKey, platform_id: str, part: Part, *, timeout_s: float) -> None:
        """As ``Channel.edit``."""
        number = self._moved.message_id(chat.chat, platform_id)
        if number is None:
            raise SendRejected(f"message {platform_id!r} cannot be edited because it was not found")
        await self._sending.edit(self._target(chat), number, part, timeout_s=timeout_s)

    async def remove(self, chat: SessionKey, platform_id: str, *, timeout_s: float) -> None:
        """As ``Channel.remove``."""
        number = self._moved.message_id(chat.chat, platform_id)
        if number is None:
            return
        params = {"chat_id": self._target(chat).fields["chat_id"], "message_id": number}
        try:
            await self._api.call("deleteMessage", params, timeout_s=timeout_s)
        except Rejected as no:
            if not no.says("not found"):
                raise

    async def typing(self, chat: SessionKey, *, timeout_s: float) -> None:
        """As ``Channel.typing``."""
        params = {**self._target(chat).fields, "action": "typing"}
        await self._api.call("sendChatAction", params, timeout_s=timeout_s)

    async def react(self, chat: SessionKey, message_id: str, sign: str, *, timeout_s: float) -> None:
        """As ``Channel.react``."""
        number = self._moved.message_id(chat.chat, message_id)
        if number is None:
            return
        reaction = [{"type": "emoji", "emoji": sign}] if sign else []
        params = {"chat_id": self._target(chat).fields["chat_id"], "message_id": number, "reaction": reaction}
        await self._api.call("setMessageReaction", params, timeout_s=timeout_s)

    async def fetch(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """As ``Channel.fetch``."""
        if attachment.size_bytes > FETCH_MAX_BYTES:
            raise SendRejected(
                f"the file is {attachment.size_bytes:,} bytes, but bots can download at most {FETCH_MAX_BYTES:,} bytes"
            )
        deadline = anyio.current_time() + timeout_s
        try:
            found = await self._api.call("getFile", {"file_id": attachment.source}, timeout_s=timeout_s)
            path = _path(found).file_path
        except Rejected as no:
            if no.says("too big"):
                raise SendRejected(
                    f"the file is too large: bots can download at most {FETCH_MAX_BYTES:,} bytes"
                ) from no
            raise
        except SendUnknown as error:
            raise SendRefused(str(error)) from error
        except msgspec.DecodeError:
            raise SendRejected("Telegram did not return a path for the file") from None
        if not path or path.startswith("/"):
            raise SendRejected("the Bot API server runs in local mode (--local), which is not supported")
        left_s = max(deadline - anyio.current_time(), 0.0)
        return await self._api.download(path, max_bytes=FETCH_MAX_BYTES, timeout_s=left_s)

    async def health(self) -> Health:
        """As ``Channel.health``."""
        remarks = await examined(self._api, self._config, name=self.name)
        return Health(ok=all(each.state != "error" for each in remarks), text="; ".join(each.text for each in remarks))

    async def _register(self) -> None:
        await command_menus.register(self._api, channel=self.name, bot=self._process.bot(self._config.bot))

    async def _me(self, api: Api) -> Me:
        """Who the bot is; asked until it is known, for without that nobody can tell whether it is meant."""
        while True:
            try:
                user = await me_of(api)
            except (ChannelError, msgspec.DecodeError) as error:
                _log.warning("poll.failed", channel=self.name, reason=brief(error))
                told_s = error.retry_after_s if isinstance(error, SendRefused) else None
                await anyio.sleep(told_s or REST_S * random.uniform(0.5, 1.0))
            else:
                return Me(id=user.id, username=user.username)

    def _target(self, chat: SessionKey, reply_to: str = "") -> Target:
        number = self._moved.message_id(chat.chat, reply_to) if reply_to else None
        return Target(chat=self._moved.address(chat.chat), thread=chat.thread, reply_to=number)


@asynccontextmanager
async def connect(process: Process, name: str, config: TelegramConfig) -> AsyncGenerator[TelegramChannel]:
    """The adapter for the length of the block."""
    async with connect_api(config.base_url, config.token) as api:
        channel = TelegramChannel(process, name, config, api)
        await channel.load()
        yield channel
