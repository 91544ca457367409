"""What was said in a thread before the bot was first asked there."""

import datetime as dt
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio

from channels.quoted_message import said_with
from channels.slack.api import Api
from channels.slack.api_types import Message, MissingScope, lenient, objects_in
from channels.slack.attachments import attachments_of
from channels.slack.slack_events import SAID, Me, people_of, sender_of, words_of
from channels.slack.text_forms import is_ts, left_s
from channels.slack.user_directory import UserDirectory
from daemon.clock import stamp
from daemon.errors import SendRejected
from daemon.events import Inbound, Overheard

# Reading what stands in a conversation or in a thread, page by page.

PAGE = 200
"""Messages asked for at a time, as the documentation advises; some apps that are sold get fifteen."""

PAGES_MAX = 5
"""Pages read at a time: fifty may be read in a minute (Web API, tier 3)."""


async def messages_in(
    api: Api, channel: str, *, thread: str, deadline: float, oldest: str = "", latest: str = ""
) -> AsyncIterator[dict[str, Any]]:
    """The messages of a thread, oldest first, or those of a channel outside of threads, newest first.

    ``oldest``, ``latest``: ``ts`` of messages that stand outside. The first message of a thread comes all the same.

    Raises:
        SendRefused: they cannot be read just now.
        SendRejected: they may not be read; Rejected: there is no such thread or channel.
    """
    method = "conversations.replies" if thread else "conversations.history"
    params = {"channel": channel, "limit": PAGE, "include_all_metadata": True}
    more = {"ts": thread, "oldest": oldest, "latest": latest}
    params |= {name: value for name, value in more.items() if value}
    for page in range(PAGES_MAX):
        try:
            found = await api.call(method, params, timeout_s=left_s(deadline), key=channel)
        except MissingScope as no:
            # A person who gives it cannot be waited for: what asks does without.
            raise SendRejected(str(no)) from None
        for message in objects_in(found.get("messages")):
            if page == 0 or message.get("ts") != thread:  # it stands on every page
                yield message
        cursor = _cursor(found)
        if not cursor:
            return
        params["cursor"] = cursor


def _cursor(found: dict[str, Any]) -> str:
    [more] = objects_in([found.get("response_metadata")]) or [{}]
    cursor = more.get("next_cursor")
    return cursor if isinstance(cursor, str) else ""


KEPT_MAX = 50
"""Messages told, the first one of the thread and the last ones before the question; as many as are overheard."""

NAMES_S = 1.0
"""How long the names of those who spoke may take."""


class ThreadHistory:
    """Reads the threads of one workspace."""

    def __init__(self, api: Api, people: UserDirectory) -> None:
        self._api = api
        self._people = people

    async def before(self, inbound: Inbound, me: Me, *, timeout_s: float) -> tuple[Overheard, ...]:
        """What was said in the thread of ``inbound`` before it, oldest first. Errors as ``LooksBack.before``."""
        if not is_ts(inbound.thread) or inbound.thread == inbound.id:
            return ()
        deadline = anyio.current_time() + timeout_s
        latest = inbound.id if is_ts(inbound.id) else ""
        root, last = list[Message](), deque[Message](maxlen=KEPT_MAX - 1)
        messages = messages_in(self._api, inbound.chat, thread=inbound.thread, deadline=deadline, latest=latest)
        async for each in messages:
            if _counts(message := lenient(Message, each), latest):
                (root if message.ts == inbound.thread else last).append(message)
        kept = [*root, *last]
        wanted = [who for message in kept for who in people_of(message)]
        patience_s = max(0.0, min(NAMES_S, deadline - anyio.current_time()))
        names = {me.user: me.name, **await self._people.names(wanted, patience_s=patience_s)}
        return tuple(said for message in kept if (said := _said(message, names)) is not None)


def _counts(message: Message, latest: str) -> bool:
    """Whether somebody said it before the message ``latest``; the first message of a thread is told in any case."""
    said = message.subtype in SAID and not message.hidden and is_ts(message.ts)
    return said and (not latest or float(message.ts) < float(latest))


def _said(message: Message, names: Mapping[str, str]) -> Overheard | None:
    sender = sender_of(message, names)
    files = attachments_of(message)
    text = said_with(files, words_of(message, names))
    if sender is None or not text:
        return None
    at = dt.datetime.fromtimestamp(float(message.ts), dt.UTC)
    return Overheard(
        id=message.ts, sender_id=sender.id, sender_name=sender.name, text=text, at=stamp(at), attachments=files
    )
