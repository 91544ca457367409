"""The adapter: the methods of ``channels.base.Channel``, by Discord's REST API and gateway."""

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import anyio
import msgspec
import structlog

from channels.base import Health, Intake, Limits, Part, Purpose, Rate
from channels.discord.api import Api, Request, left_s
from channels.discord.api import connect as connect_api
from channels.discord.api_types import File, Message, User, is_snowflake
from channels.discord.channel_directory import ChannelDirectory
from channels.discord.discord_events import Me
from channels.discord.emoji_reactions import EmojiReactions
from channels.discord.event_inlet import EventInlet
from channels.discord.gateway_connection import GatewayLogin
from channels.discord.gateway_session import INTENTS, REACTIONS
from channels.discord.gateway_shards import GatewayShards
from channels.discord.health_check import app_of, examined, me_of
from channels.discord.markdown import length
from channels.discord.message_content import name_of
from channels.discord.message_lookup import MessageLookup
from channels.discord.message_sender import PART_MAX, SEND_MAX_BYTES, MessageSender, target_of
from channels.discord.slash_commands import register
from channels.discord.thread_history import ThreadHistory
from channels.leader_election import Leader, Lease
from daemon.config import DiscordConfig
from daemon.errors import UNREADABLE, ChannelError, SendRefused, SendRejected, brief
from daemon.events import Attachment, Inbound, Overheard
from daemon.process import Process
from daemon.sessionkey import SessionKey

FETCH_MAX_BYTES = 26_214_400
"""Largest file that is downloaded; people may upload larger ones."""

CHAT_COUNT, CHAT_S = 5, 5.0
"""Messages to a channel and its threads, and as many edits there; Discord states its limits in headers."""

ALL_COUNT, ALL_S = 45, 1.0
"""Requests of a bot (Topics, "Rate Limits": 50 in a second), of which typing and reactions need some."""

LIMITS = Limits(
    part_max=PART_MAX,
    edit_every_s=1.2,
    group_edit_every_s=1.5,
    typing_lasts_s=10.0,  # Resources, "Trigger Typing Indicator"
    fetch_max_bytes=FETCH_MAX_BYTES,
    send_max_bytes=SEND_MAX_BYTES,
    files_max=10,  # Resources, "Create Message"
)

LEAD_STEP_S = 1.0
"""What of receiving needs the lease: nothing that could do harm without it."""

REST_S = 5.0
"""Pause before Discord is asked once more who the bot is, less up to a half of it."""

_message = msgspec.json.Decoder(Message).decode
_log = structlog.get_logger()


class DiscordChannel:
    """One bot of Discord."""

    limits = LIMITS

    def __init__(self, process: Process, name: str, config: DiscordConfig, api: Api) -> None:
        self.name = name
        self._process = process
        self._config = config
        self._api = api
        self._me: Me | None = None
        self._sending = MessageSender(api, process.workspace(config.bot))
        self._signs = EmojiReactions(api, usual=config.reaction)
        self._finding = MessageLookup(api, process.clock)
        self._past = ThreadHistory(api)

    async def receive(self, intake: Intake) -> None:
        """As ``Channel.receive``: be connected to the gateway while this process leads."""
        # Its own connections: sending and receiving do not delay each other.
        async with connect_api(self._config.base_url, self._config.token) as api:
            me = await self._identity(api)
            leader = Leader(
                self._process,
                key=self._process.bus.keys.poller(self.name),
                channel=self.name,
                longest_s=LEAD_STEP_S,
            )
            async with anyio.create_task_group() as tg:
                tg.start_soon(self._register, api)
                await leader.run(partial(self._lead, leader, api, intake, me))
                tg.cancel_scope.cancel()

    async def _lead(self, leader: Leader, api: Api, intake: Intake, me: Me, lease: Lease) -> None:
        async with leader.kept(lease):
            intents = INTENTS | (REACTIONS if self._config.hear_reactions else 0)
            login = GatewayLogin(token=self._config.token, intents=intents)
            directory = ChannelDirectory(api, me=me.id, channel=self.name)
            language = self._process.bot(self._config.bot).language
            inlet = EventInlet(intake, me, directory, api, channel=self.name, language=language)
            shards = GatewayShards(api, login, inlet, self._process.bus, channel=self.name, nonce=lease.nonce)
            await leader.until_ending(lease, shards.run)

    async def _register(self, api: Api) -> None:
        try:
            app = await app_of(api)
        except ChannelError as error:
            _log.warning("commands.failed", channel=self.name, reason=brief(error))
        except UNREADABLE as error:
            _log.warning("commands.failed", channel=self.name, reason=type(error).__name__)
        else:
            language = self._process.bot(self._config.bot).language
            await register(api, app.id, channel=self.name, language=language)

    async def _identity(self, api: Api) -> Me:
        """The bot's identity; asked for until it is known, because it decides which messages are the bot's own."""
        while True:
            try:
                return _me(await me_of(api))
            except (ChannelError, ValueError) as error:
                _log.warning("hearing.waits", channel=self.name, reason=brief(error))
                told_s = error.retry_after_s if isinstance(error, SendRefused) else None
                await anyio.sleep(told_s or REST_S * random.uniform(0.5, 1.0))

    def length(self, text: str) -> int:
        """In UTF-16 units."""
        return length(text)

    def rates(self, chat: SessionKey, purpose: Purpose = "send") -> tuple[Rate, ...]:
        """The usual limits of Discord; with them, requests are hardly ever refused."""
        everywhere = Rate(bucket="all", count=ALL_COUNT, per_s=ALL_S)
        kind = "edits" if purpose == "edit" else "chat"
        return (everywhere, Rate(bucket=f"{kind} {chat.chat}", count=CHAT_COUNT, per_s=CHAT_S))

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """As ``Channel.send``."""
        return await self._sending.send(chat, part, timeout_s=timeout_s)

    async def edit(self, chat: SessionKey, platform_id: str, part: Part, *, timeout_s: float) -> None:
        """As ``Channel.edit``."""
        await self._sending.edit(chat, platform_id, part, timeout_s=timeout_s)

    async def remove(self, chat: SessionKey, platform_id: str, *, timeout_s: float) -> None:
        """As ``Channel.remove``."""
        await self._sending.remove(chat, platform_id, timeout_s=timeout_s)

    async def find(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """As ``Finds.find``."""
        deadline = anyio.current_time() + timeout_s
        me = await self._who(deadline)
        return await self._finding.find(chat, part, me.id, timeout_s=left_s(deadline))

    async def before(self, inbound: Inbound, *, timeout_s: float) -> tuple[Overheard, ...]:
        """As ``LooksBack.before``."""
        deadline = anyio.current_time() + timeout_s
        me = await self._who(deadline)
        return await self._past.before(inbound, me, timeout_s=left_s(deadline))

    async def typing(self, chat: SessionKey, *, timeout_s: float) -> None:
        """As ``Channel.typing``."""
        request = Request("POST", f"/channels/{target_of(chat)}/typing", passing=True)
        await self._api.call(request, timeout_s=timeout_s)

    async def react(self, chat: SessionKey, message_id: str, sign: str, *, timeout_s: float) -> None:
        """As ``Channel.react``."""
        await self._signs.mark(target_of(chat), message_id, sign, timeout_s=timeout_s)

    async def fetch(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """As ``Channel.fetch``."""
        deadline = anyio.current_time() + timeout_s
        if attachment.size_bytes > FETCH_MAX_BYTES:
            raise SendRejected(
                f"the file is {attachment.size_bytes:,} bytes, but downloads are limited to {FETCH_MAX_BYTES:,} bytes"
            )
        channel, message, file = _source(attachment)
        content = await self._api.call(Request("GET", f"/channels/{channel}/messages/{message}"), timeout_s=timeout_s)
        url = next((each.url for each in _files(content) if each.id == file), "")
        if not url:
            raise SendRejected("the file was deleted")
        return await self._api.download(url, max_bytes=FETCH_MAX_BYTES, timeout_s=left_s(deadline))

    async def health(self) -> Health:
        """As ``Channel.health``."""
        remarks = await examined(self._api, self._config, name=self.name)
        return Health(ok=all(each.state != "error" for each in remarks), text="; ".join(each.text for each in remarks))

    async def _who(self, deadline: float) -> Me:
        """The bot's identity; asked for once. Raises: SendRefused, Rejected."""
        if self._me is None:
            try:
                self._me = _me(await me_of(self._api, timeout_s=left_s(deadline)))
            except ValueError as error:
                raise SendRefused("Discord did not return the bot's identity") from error
        return self._me


def _me(found: User) -> Me:
    return Me(id=found.id, name=name_of(found))


def _source(attachment: Attachment) -> tuple[str, str, str]:
    """The channel, the message and the file. Raises: SendRejected."""
    parts = attachment.source.split("/")
    if len(parts) != 3 or not all(map(is_snowflake, parts)):
        raise SendRejected("the file was not found")
    return parts[0], parts[1], parts[2]


def _files(content: bytes) -> list[File]:
    """The files of a message, and of those that it forwards. Raises: SendRefused."""
    try:
        message = _message(content)
    except UNREADABLE as error:
        raise SendRefused("the message that contains the file cannot be read") from error
    return [*message.attachments, *(file for each in message.message_snapshots for file in each.message.attachments)]


@asynccontextmanager
async def connect(process: Process, name: str, config: DiscordConfig) -> AsyncGenerator[DiscordChannel]:
    """The adapter for the length of the block."""
    async with connect_api(config.base_url, config.token) as api:
        yield DiscordChannel(process, name, config, api)
