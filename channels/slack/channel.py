"""The adapter: what ``channels.base.Channel`` asks for, in terms of Slack's Web API."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from channels.base import Health, Intake, Limits, Part, Purpose, Rate
from channels.slack.api import Api
from channels.slack.api import connect as connect_api
from channels.slack.attachments import FETCH_MAX_BYTES, SEND_MAX_BYTES, Files
from channels.slack.emoji_reactions import EmojiReactions
from channels.slack.event_inlet import hear
from channels.slack.health_check import examined
from channels.slack.message_lookup import MessageLookup
from channels.slack.message_sender import MessageSender, TextStreams
from channels.slack.slack_events import Me, me_of
from channels.slack.text_forms import MARKDOWN_MAX, left_s, length
from channels.slack.thread_history import ThreadHistory
from channels.slack.user_directory import UserDirectory
from daemon.config import SlackConfig
from daemon.errors import SendRefused
from daemon.events import Attachment, Inbound, Overheard
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.wording import Language
from daemon.wording import text as say

LIMITS = Limits(
    part_max=MARKDOWN_MAX,
    # Fifty changes a minute in a workspace (Web API, ``chat.update``, tier 3); a hundred additions to streams
    # (``chat.appendStream``, tier 4), which is how a text grows in a thread. The rates below keep to them.
    edit_every_s=1.5,
    group_edit_every_s=1.0,
    typing_lasts_s=120.0,  # Web API, ``assistant.threads.setStatus``: two minutes
    fetch_max_bytes=FETCH_MAX_BYTES,
    send_max_bytes=SEND_MAX_BYTES,
    files_max=10,  # as many as people can add to a message
)

CHAT_COUNT, CHAT_S = 3, 3.0
"""To one channel, its threads together: one message a second, of which a few may come at once (Web API, limits)."""

STREAMS_COUNT, APPENDS_COUNT, UPDATES_COUNT, TIER_S = 20, 100, 50, 60.0
"""In a workspace: streams begun, and as many stopped (tier 2), additions to them (tier 4), changes (tier 3)."""


class SlackChannel:
    """One app in one workspace of Slack."""

    limits = LIMITS

    def __init__(self, process: Process, name: str, config: SlackConfig, api: Api) -> None:
        self.name = name
        self._process = process
        self._config = config
        self._api = api
        self._language: Language = process.bot(config.bot).language
        self._me: Me | None = None
        self._files = Files(api, process.workspace(config.bot))
        self._streams = TextStreams(api, self._who, channel=name)
        self._sending = MessageSender(api, self._files, self._streams)
        self._signs = EmojiReactions(api, usual=config.reaction)
        self._finding = MessageLookup(api, process.clock)
        self._past = ThreadHistory(api, UserDirectory(api, channel=name))

    async def receive(self, intake: Intake) -> None:
        """As ``Channel.receive``: over a socket, or by events that Slack brings."""
        # Its own connections: what is sent and what is heard hold each other up in nothing.
        async with connect_api(self._config.base_url, self._config.bot_token) as api:
            await hear(self._process, self.name, self._config, api, intake)

    def length(self, text: str) -> int:
        """In characters, of which those that Slack escapes take more room."""
        return length(text)

    def rates(self, chat: SessionKey, purpose: Purpose = "send") -> tuple[Rate, ...]:
        """As the documentation of the Web API says; who keeps to them hardly ever hears a 429."""
        here = Rate(bucket=f"chat {chat.chat}", count=CHAT_COUNT, per_s=CHAT_S)
        if purpose == "send":
            return (here,)
        streams, begins = self._streams.are_in(chat), purpose == "begin"
        if not streams:
            # Who begins takes the room that the last change will need: a reply is not to wait for it.
            updates = Rate(bucket="updates", count=UPDATES_COUNT, per_s=TIER_S)
            return (updates, here) if begins else (updates,)
        if begins:
            return (Rate(bucket="streams", count=STREAMS_COUNT, per_s=TIER_S), here)
        return (Rate(bucket="appends", count=APPENDS_COUNT, per_s=TIER_S),)

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
        return await self._finding.find(chat, part, me, timeout_s=left_s(deadline))

    async def before(self, inbound: Inbound, *, timeout_s: float) -> tuple[Overheard, ...]:
        """As ``LooksBack.before``."""
        deadline = anyio.current_time() + timeout_s
        me = await self._who(deadline)
        return await self._past.before(inbound, me, timeout_s=left_s(deadline))

    async def typing(self, chat: SessionKey, *, timeout_s: float) -> None:
        """As ``Channel.typing``; it can be shown in threads alone."""
        if chat.thread:
            status = say("typing", self._language)
            params = {"channel_id": chat.chat, "thread_ts": chat.thread, "status": status}
            await self._api.call("assistant.threads.setStatus", params, timeout_s=timeout_s, key=chat.chat)

    async def react(self, chat: SessionKey, message_id: str, sign: str, *, timeout_s: float) -> None:
        """As ``Channel.react``."""
        await self._signs.mark(chat.chat, message_id, sign, timeout_s=timeout_s)

    async def fetch(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """As ``Channel.fetch``."""
        return await self._files.fetch(attachment, timeout_s=timeout_s)

    async def health(self) -> Health:
        """As ``Channel.health``."""
        remarks = await examined(self._api, self._config, name=self.name)
        return Health(ok=all(each.state != "error" for each in remarks), text="; ".join(each.text for each in remarks))

    async def _who(self, deadline: float) -> Me:
        """Who the bot is; asked once. Raises: SendRefused, Rejected."""
        if self._me is None:
            try:
                self._me = me_of(await self._api.call("auth.test", timeout_s=left_s(deadline)))
            except ValueError as error:
                raise SendRefused(str(error)) from None
        return self._me


@asynccontextmanager
async def connect(process: Process, name: str, config: SlackConfig) -> AsyncGenerator[SlackChannel]:
    """The adapter for the length of the block."""
    async with connect_api(config.base_url, config.bot_token) as api:
        yield SlackChannel(process, name, config, api)
