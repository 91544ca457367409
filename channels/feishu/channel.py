"""The adapter: what ``channels.base.Channel`` asks for, in terms of Feishu's API."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from channels.base import Health, Intake, Limits, Part, Purpose, Rate
from channels.feishu.api import Api, token_of
from channels.feishu.api import connect as connect_api
from channels.feishu.buttons import Buttons
from channels.feishu.card_streams import CardStreams
from channels.feishu.emoji_reactions import EmojiReactions
from channels.feishu.event_inlet import hear
from channels.feishu.files import FETCH_MAX_BYTES, SEND_MAX_BYTES, Files
from channels.feishu.health_check import examined
from channels.feishu.message_sender import MessageSender
from channels.feishu.text_forms import PART_MAX, length
from channels.feishu.thread_history import ThreadHistory
from channels.feishu.user_directory import UserDirectory
from daemon.config import FeishuConfig
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.events import Attachment, Inbound, Overheard
from daemon.process import Process
from daemon.sessionkey import SessionKey

LIMITS = Limits(
    part_max=PART_MAX,
    # A card may be changed ten times a second in streaming mode, else five times ("Streaming updates",
    # ``im/v1/messages``). Its typewriter effect fills the time between.
    edit_every_s=0.5,
    group_edit_every_s=0.5,
    typing_lasts_s=0.0,  # bots have no such sign
    fetch_max_bytes=FETCH_MAX_BYTES,
    send_max_bytes=SEND_MAX_BYTES,
)

ALL_COUNT, ALL_S = 50, 1.0
"""Messages of an app, and the same of changes ("Rate limits", tier 4: 50 a second, 1,000 a minute)."""

MINUTE_COUNT, MINUTE_S = 1_000, 60.0

CHAT_COUNT, CHAT_S = 5, 1.0
"""Messages to one person, or to one group from all its bots (``im/v1/messages``)."""


class FeishuChannel:
    """One app in one tenant of Feishu."""

    limits = LIMITS

    def __init__(self, process: Process, name: str, config: FeishuConfig, api: Api) -> None:
        self.name = name
        self._process = process
        self._config = config
        self._api = api
        self._files = Files(api, process.workspace(config.bot))
        self._streams = CardStreams(api, process.clock, channel=name)
        self._sending = MessageSender(api, self._files, self._streams, Buttons(api, self._streams, channel=name))
        self._reactions = EmojiReactions(api, usual=config.reaction)
        self._history = ThreadHistory(api, UserDirectory(api, channel=name))

    async def receive(self, intake: Intake) -> None:
        """As ``Channel.receive``: over a long-lived connection, or by events that Feishu sends by HTTP."""
        # Its own connections: what is sent and what is heard hold each other up in nothing.
        async with connect_api(self._config.base_url, token_of(self._process, self._config)) as api:
            await hear(self._process, self.name, self._config, api, intake)

    def length(self, text: str) -> int:
        """In bytes of a request."""
        return length(text)

    def rates(self, chat: SessionKey, purpose: Purpose = "send") -> tuple[Rate, ...]:
        """As the documentation says; who keeps to them hardly ever hears a 429."""
        kind = "edits" if purpose == "edit" else "messages"
        every = (
            Rate(bucket=kind, count=ALL_COUNT, per_s=ALL_S),
            Rate(bucket=f"{kind} a minute", count=MINUTE_COUNT, per_s=MINUTE_S),
        )
        return (
            every if purpose == "edit" else (*every, Rate(bucket=f"chat {chat.chat}", count=CHAT_COUNT, per_s=CHAT_S))
        )

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """As ``Channel.send``."""
        return await self._sending.send(chat, part, timeout_s=timeout_s)

    async def edit(self, chat: SessionKey, platform_id: str, part: Part, *, timeout_s: float) -> None:
        """As ``Channel.edit``."""
        await self._sending.edit(chat, platform_id, part, timeout_s=timeout_s)

    async def remove(self, chat: SessionKey, platform_id: str, *, timeout_s: float) -> None:
        """As ``Channel.remove``."""
        await self._sending.remove(platform_id, timeout_s=timeout_s)

    async def find(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """As ``Finds.find``, for previews alone: sent again under its ``uuid``, one that is there is not doubled.

        For an hour; a preview that never arrived is there then, too, and can be edited or taken back.
        """
        if not part.preview:
            raise SendRejected(
                "Millpond cannot check whether Feishu has already received this message. Sending the message again "
                "is safe because Feishu ignores duplicates"
            )
        try:
            return await self._sending.send(chat, part, timeout_s=timeout_s)
        except SendUnknown as error:
            raise SendRefused(str(error)) from None  # it may be sent once more

    async def before(self, inbound: Inbound, *, timeout_s: float) -> tuple[Overheard, ...]:
        """As ``LooksBack.before``."""
        return await self._history.before(inbound, timeout_s=timeout_s)

    async def typing(self, chat: SessionKey, *, timeout_s: float) -> None:
        """Nothing: Feishu has no such sign for bots."""

    async def react(self, chat: SessionKey, message_id: str, sign: str, *, timeout_s: float) -> None:
        """As ``Channel.react``."""
        await self._reactions.mark(message_id, sign, anyio.current_time() + timeout_s)

    async def fetch(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """As ``Channel.fetch``."""
        return await self._files.fetch(attachment, timeout_s=timeout_s)

    async def health(self) -> Health:
        """As ``Channel.health``."""
        remarks = await examined(self._api, self._config, name=self.name)
        return Health(ok=all(each.state != "error" for each in remarks), text="; ".join(each.text for each in remarks))


@asynccontextmanager
async def connect(process: Process, name: str, config: FeishuConfig) -> AsyncGenerator[FeishuChannel]:
    """The adapter for the length of the block."""
    async with connect_api(config.base_url, token_of(process, config)) as api:
        yield FeishuChannel(process, name, config, api)
