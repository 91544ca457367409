"""What was said in a thread before the bot was first asked there."""

import datetime as dt
from collections import deque

import anyio

from channels.feishu.api import Api, left_s
from channels.feishu.api_types import Item, MissingScope, Rejected
from channels.feishu.event_inlet import message_of
from channels.feishu.message_content import said_in
from channels.feishu.message_sender import MESSAGE
from channels.feishu.user_directory import UserDirectory
from channels.quoted_message import said_with
from channels.shapes import lenient, nested, objects_in
from daemon.clock import stamp
from daemon.errors import SendRejected
from daemon.events import Inbound, Overheard

KEPT_MAX = 50
"""Messages told, the first one of the thread and the last ones before the question; as many as are overheard."""

PAGE = 50
"""Messages asked for at a time (``im/v1/messages``)."""

PAGES_MAX = 5
"""Pages read at a time, from the last one on: the question is mostly on the first of them."""

NAMES_S = 1.0
"""How long the names of those who spoke may take."""


class ThreadHistory:
    """Reads the threads of one tenant."""

    def __init__(self, api: Api, people: UserDirectory) -> None:
        self._api = api
        self._people = people

    async def before(self, inbound: Inbound, *, timeout_s: float) -> tuple[Overheard, ...]:
        """What was said in the thread of ``inbound`` before it, oldest first. Errors as ``LooksBack.before``."""
        if not inbound.thread.startswith(MESSAGE) or inbound.thread == inbound.id:
            return ()
        deadline = anyio.current_time() + timeout_s
        try:
            kept = await self._kept(inbound, deadline)
        except MissingScope as no:
            # A person who gives it cannot be waited for: what asks does without.
            raise SendRejected(str(no)) from None
        wanted = [each.sender.id for each in kept if each.sender and each.sender.id_type == "open_id"]
        patience_s = max(0.0, min(NAMES_S, deadline - anyio.current_time()))
        names = await self._people.names(wanted, patience_s=patience_s)
        return tuple(said for each in kept if (said := _said(each, names)) is not None)

    async def _kept(self, inbound: Inbound, deadline: float) -> list[Item]:
        root = await message_of(self._api, inbound.thread, timeout_s=left_s(deadline))
        if root is None or not root.thread_id:
            return []
        try:
            last = await self._last(inbound, root, deadline)
        except (MissingScope, Rejected):
            # Without the permission for all messages of groups, an app may still read single ones.
            last = deque[Item]()
        return [root, *(each for each in last if each.message_id != root.message_id)]

    async def _last(self, inbound: Inbound, root: Item, deadline: float) -> deque[Item]:
        kept: deque[Item] = deque()
        query = {
            "container_id_type": "thread",
            "container_id": root.thread_id,
            "sort_type": "ByCreateTimeDesc",
            "page_size": str(PAGE),
        }
        is_before = False
        for _ in range(PAGES_MAX):
            answer = await self._api.call("GET", "/im/v1/messages", timeout_s=left_s(deadline), query=query)
            for each in objects_in(nested(answer, "data", "items")):
                item = lenient(Item, each)
                if is_before:
                    kept.appendleft(item)
                if len(kept) == KEPT_MAX - 1:
                    return kept
                is_before = is_before or item.message_id == inbound.id
            token = nested(answer, "data", "page_token")
            if not nested(answer, "data", "has_more") or not isinstance(token, str) or not token:
                break
            query["page_token"] = token
        return kept


def _said(item: Item, names: dict[str, str]) -> Overheard | None:
    if item.deleted or item.sender is None or item.body is None or not item.create_time.isdecimal():
        return None
    said = said_in(item.msg_type, item.body.content, item.mentions, message_id=item.message_id)
    text = said_with(said.attachments, said.text)
    if not text:
        return None
    at = dt.datetime.fromtimestamp(int(item.create_time) / 1_000, dt.UTC)
    who = item.sender.id
    return Overheard(
        id=item.message_id,
        sender_id=who,
        sender_name=names.get(who, ""),
        text=text,
        at=stamp(at),
        attachments=said.attachments,
    )
