"""Sending, changing and taking back one message; nothing is sent again here that may have arrived."""

import anyio

from channels.base import Part
from channels.slack.api import Api
from channels.slack.api_outcome import Rejected
from channels.slack.files import Files
from channels.slack.message_calls import is_ts, left_s, said, ts_of
from channels.slack.text_forms import UPDATE_MAX, Wording, clean, forms_of, metadata_of
from channels.slack.text_streams import Streams
from channels.text import beginning
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.sessionkey import SessionKey

GONE = frozenset({"message_not_found"})

STREAMING = frozenset({"streaming_state_conflict"})
"""The message is being written by a stream; a process before this one began it."""

MAY_STREAM = "cant_delete_message"
"""As above, or it is none of ours."""


class Sending:
    """Sends the messages of one bot."""

    def __init__(self, api: Api, files: Files, streams: Streams) -> None:
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
        wording = Wording(fields=fields, forms=forms_of(part.text))
        found = await said(self._api, "chat.postMessage", wording, deadline, key=chat.chat)
        return ts_of(found)

    async def edit(self, chat: SessionKey, ts: str, part: Part, *, timeout_s: float) -> None:
        """Replace a message's text with that of ``part``. Errors as for ``Channel.edit``."""
        if not is_ts(ts):
            raise SendRejected(f"message {ts[:80]!r} cannot be edited: it was not found")
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
            await said(self._api, "chat.update", Wording(fields=dict(fields), forms=forms_of(text)), deadline)
        except Rejected as no:
            if no.error not in STREAMING:
                raise
            # Nothing more can come by the stream of a process that is gone.
            await self._streams.end(chat.chat, ts, deadline)
            await said(self._api, "chat.update", Wording(fields=fields, forms=forms_of(text)), deadline)

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
