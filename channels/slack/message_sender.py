"""Sends, changes and removes messages, and streams texts that are being written.

A stream begins with the first text, goes on with what was added to it, and is stopped with the last of it; from then on
it is a message like any other. Only who began it knows how much of it stands there: whoever else has to change it stops
it first. Where there are no streams, a message is sent and changed.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import structlog

from channels.base import Part
from channels.slack.api import Api
from channels.slack.api_types import MissingScope, Rejected
from channels.slack.attachments import Files
from channels.slack.buttons import forms_with_buttons
from channels.slack.slack_events import Me
from channels.slack.text_forms import UPDATE_MAX, TextForms, clean, forms_of, is_ts, left_s, metadata_of, said, ts_of
from channels.text import beginning
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.sessionkey import SessionKey

# Texts that are shown while they are written: Slack's own streams, where it takes them.

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


class TextStreams:
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
            raise SendUnknown("Slack started a stream but did not return the stream's ID")
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
            await said(self._api, "chat.stopStream", TextForms(fields=fields), deadline)

    def _note(self, channel: str, ts: str, text: str) -> None:
        self._shown[(channel, ts)] = text
        while len(self._shown) > KEPT_MAX:
            self._shown.popitem(last=False)

    def _without(self, reason: str) -> str:
        self._none = True
        _log.info("stream.none", channel=self._channel, reason=reason)
        return ""


# Sending, changing and taking back one message; nothing is sent again here that may have arrived.

GONE = frozenset({"message_not_found"})

STREAMING = frozenset({"streaming_state_conflict"})
"""The message is being written by a stream; a process before this one began it."""

MAY_STREAM = "cant_delete_message"
"""As above, or it is none of ours."""


class MessageSender:
    """Sends the messages of one bot."""

    def __init__(self, api: Api, files: Files, streams: TextStreams) -> None:
        self._api = api
        self._files = files
        self._streams = streams

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """Send a part; Slack's ``ts`` of the message, or the id of a file. Errors as for ``Channel.send``."""
        deadline = anyio.current_time() + timeout_s
        if part.attachments or part.document:
            return await self._files.send(chat, part, deadline)
        if part.preview and (ts := await self._streams.begun(chat, part, deadline)):
            return ts
        fields = {"channel": chat.chat, "unfurl_links": False, "unfurl_media": False, "metadata": metadata_of(part)}
        if chat.thread:
            fields["thread_ts"] = chat.thread
        wording = TextForms(fields=fields, forms=forms_with_buttons(part))
        found = await said(self._api, "chat.postMessage", wording, deadline, key=chat.chat)
        return ts_of(found)

    async def edit(self, chat: SessionKey, ts: str, part: Part, *, timeout_s: float) -> None:
        """Replace a message's text with that of ``part``. Errors as for ``Channel.edit``."""
        if not is_ts(ts):
            raise SendRejected(f"message {ts[:80]!r} cannot be edited because it was not found")
        deadline = anyio.current_time() + timeout_s
        if await self._streams.went_on(chat.chat, ts, part, deadline):
            return
        text = clean(part.text)
        if part.preview:
            text = beginning(text, UPDATE_MAX, len)
        elif len(text) > UPDATE_MAX:
            raise SendRejected(
                f"the new text has {len(text):,} characters, but Slack accepts edited messages of at most "
                f"{UPDATE_MAX:,}"
            )
        fields = {"channel": chat.chat, "ts": ts, "metadata": metadata_of(part)}
        try:
            await said(self._api, "chat.update", TextForms(fields=dict(fields), forms=forms_of(text)), deadline)
        except Rejected as no:
            if no.error not in STREAMING:
                raise
            # Nothing more can come by the stream of a process that is gone.
            await self._streams.end(chat.chat, ts, deadline)
            await said(self._api, "chat.update", TextForms(fields=fields, forms=forms_of(text)), deadline)

    async def remove(self, chat: SessionKey, ts: str, *, timeout_s: float) -> None:
        """Take a message back. Errors as for ``Channel.remove``."""
        if not is_ts(ts):
            return
        deadline = anyio.current_time() + timeout_s
        try:
            if self._streams.is_ours(chat.chat, ts) or not await self._deleted(chat.chat, ts, deadline):
                # What is being written cannot be taken away before its stream is stopped.
                await self._stopped(chat.chat, ts, deadline)
                await self._api.call("chat.delete", {"channel": chat.chat, "ts": ts}, timeout_s=left_s(deadline))
        except Rejected as no:
            if no.error not in GONE:
                raise

    async def _stopped(self, channel: str, ts: str, deadline: float) -> None:
        try:
            await self._streams.end(channel, ts, deadline)
        except SendUnknown as error:
            raise SendRefused(f"the message could not be deleted yet: {error}") from None

    async def _deleted(self, channel: str, ts: str, deadline: float) -> bool:
        try:
            await self._api.call("chat.delete", {"channel": channel, "ts": ts}, timeout_s=left_s(deadline))
        except Rejected as no:
            if no.error != MAY_STREAM:
                raise
            return False
        return True
