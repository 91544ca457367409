"""Texts that are shown while they are written: Slack's own streams, where it takes them.

A stream begins with the first text, goes on with what was added to it, and is stopped with the last of it; from then on
it is a message like any other. Only who began it knows how much of it stands there: whoever else has to change it stops
it first. Where there are no streams, a message is sent and changed.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from channels.base import Part
from channels.slack.api import Api
from channels.slack.api_outcome import MissingScope, Rejected
from channels.slack.message_calls import left_s, said, ts_of
from channels.slack.slack_events import Me
from channels.slack.text_forms import Wording, clean, metadata_of
from daemon.errors import SendUnknown
from daemon.sessionkey import SessionKey

KEPT_MAX = 2_000
"""Streams of which it is known what they say; more texts are never shown at a time (``DRAFTS_MAX``)."""

NOWHERE = frozenset(
    {"unknown_method", "method_deprecated", "deprecated_endpoint", "method_not_supported_for_channel_type"}
)
"""Slack streams nothing to this app, in no chat."""

NOT_STREAMING = frozenset({"message_not_in_streaming_state", "stopped_by_user"})
"""The stream has ended: it was stopped, by a person too, or left alone for some minutes."""

TOO_LONG = frozenset({"msg_too_long", "msg_blocks_too_long"})

_log = structlog.get_logger()


class Streams:
    """The streams of one workspace that this process has begun."""

    def __init__(self, api: Api, who: Callable[[float], Awaitable[Me]], *, channel: str) -> None:
        """``who``: tells who the bot is, by a deadline of the event loop's clock."""
        self._api = api
        self._who = who
        self._channel = channel
        self._none = False
        """It has shown that there are none."""
        self._shown: OrderedDict[tuple[str, str], str] = OrderedDict()
        """By channel and ``ts``: what it says, as it was sent."""

    def are_in(self, chat: SessionKey) -> bool:
        """Whether texts are streamed to ``chat``, as far as is known: to threads alone."""
        return bool(chat.thread) and not self._none

    async def begun(self, chat: SessionKey, part: Part, deadline: float) -> str:
        """Begin to show a text; ``ts`` of the message, empty: it is to be sent as any other.

        Raises:
            SendRefused, SendUnknown: as ``Api.call``.
        """
        if not self.are_in(chat) or not part.asked_by:
            return ""
        text = clean(part.text)
        params = {
            "channel": chat.chat,
            "thread_ts": chat.thread,
            "markdown_text": text,
            "recipient_user_id": part.asked_by,
            "recipient_team_id": (await self._who(deadline)).team,
        }
        try:
            found = await self._api.call("chat.startStream", params, timeout_s=left_s(deadline))
        except MissingScope as no:
            return self._without(str(no))
        except Rejected as no:
            # What is wrong with the chat itself is said again when the text is sent as a message.
            return self._without(str(no)) if no.error in NOWHERE else ""
        ts = ts_of(found)
        if not ts:
            raise SendUnknown("Slack started a stream but returned no ID for it")
        self._note(chat.chat, ts, text)
        return ts

    async def went_on(self, channel: str, ts: str, part: Part, deadline: float) -> bool:
        """Whether the message says what ``part`` says now; False: it is to be changed like any other message.

        Raises:
            SendRefused, Rejected, SendUnknown: as ``Api.call``.
        """
        shown = self._shown.get((channel, ts))
        if shown is None:
            return False
        text = clean(part.text)
        if not text.startswith(shown):
            await self.end(channel, ts, deadline)
            return False
        rest = text[len(shown) :]
        if part.preview and not rest:
            return True
        try:
            await self._add(channel, ts, part, rest, deadline)
        except Rejected as no:
            self.forget(channel, ts)
            if no.error in TOO_LONG:
                await self.end(channel, ts, deadline)
            elif no.error not in NOT_STREAMING:
                raise
            return False
        except SendUnknown:
            self.forget(channel, ts)  # nobody knows how much of it stands there
            raise
        if part.preview:
            self._note(channel, ts, text)
        else:
            self.forget(channel, ts)
        return True

    async def end(self, channel: str, ts: str, deadline: float) -> None:
        """Stop a stream with what it says; one that has stopped already is no error. Raises: as ``went_on``."""
        self.forget(channel, ts)
        try:
            await self._api.call("chat.stopStream", {"channel": channel, "ts": ts}, timeout_s=left_s(deadline))
        except Rejected as no:
            if no.error not in NOT_STREAMING:
                raise

    def is_ours(self, channel: str, ts: str) -> bool:
        """Whether this process is writing the message."""
        return (channel, ts) in self._shown

    def forget(self, channel: str, ts: str) -> None:
        """It is no stream of ours any more."""
        self._shown.pop((channel, ts), None)

    async def _add(self, channel: str, ts: str, part: Part, rest: str, deadline: float) -> None:
        fields: dict[str, Any] = {"channel": channel, "ts": ts}
        if rest:
            fields["markdown_text"] = rest
        if part.preview:
            await self._api.call("chat.appendStream", fields, timeout_s=left_s(deadline))
        else:
            fields["metadata"] = metadata_of(part)
            await said(self._api, "chat.stopStream", Wording(fields=fields), deadline)

    def _note(self, channel: str, ts: str, text: str) -> None:
        self._shown[(channel, ts)] = text
        while len(self._shown) > KEPT_MAX:
            self._shown.popitem(last=False)

    def _without(self, reason: str) -> str:
        self._none = True
        _log.info("stream.none", channel=self._channel, reason=reason)
        return ""
