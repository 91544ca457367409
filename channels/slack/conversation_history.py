"""Reading what stands in a conversation or in a thread, page by page."""

from collections.abc import AsyncIterator
from typing import Any

from channels.slack.api import Api
from channels.slack.api_outcome import MissingScope
from channels.slack.api_types import objects_in
from channels.slack.message_calls import left_s
from daemon.errors import SendRejected

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
