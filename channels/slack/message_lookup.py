"""Looking whether what nobody knows of was sent: by the metadata of our messages, else by what they say."""

import datetime as dt
from collections.abc import AsyncIterator, Iterator

import anyio
import msgspec

from channels.base import Part
from channels.slack.api import Api
from channels.slack.api_types import File, Rejected, Shape, lenient
from channels.slack.attachments import DOCUMENT_NAME
from channels.slack.mrkdwn import plain
from channels.slack.slack_events import Me
from channels.slack.text_forms import NO_THREAD, PART, PREVIEW, is_ts
from channels.slack.thread_history import messages_in
from daemon.clock import Clock
from daemon.sessionkey import SessionKey

LOOK_BACK_S = 86_400.0
"""How old what is looked for may be; a reply that waited for longer is sent again."""

SAME_S = 3_600.0
"""How old it may be when nothing but its words tell what it is: a bot may say the same again another day."""


class Payload(Shape, frozen=True):
    """What our messages say of themselves."""

    reply: str = ""
    part: int = -1


class Metadata(Shape, frozen=True):
    """What Slack keeps of it."""

    event_type: str = ""
    event_payload: Payload = Payload()


class FoundMessage(Shape, frozen=True):
    """A message, as far as it tells whose it is and what it says."""

    ts: str = ""
    subtype: str = ""
    user: str = ""
    bot_id: str = ""
    text: str = ""
    files: tuple[File, ...] = ()
    metadata: Metadata | None = None


class LookupRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for, and by whom."""

    part: Part
    me: Me
    now: float
    """Seconds of the epoch."""

    @property
    def oldest(self) -> str:
        """``ts`` of a message that stands before it: the one that it answers, if that is known."""
        asked = self.part.reply_to
        return asked if is_ts(asked) else f"{self.now - LOOK_BACK_S:.6f}"


class MessageLookup:
    """Looks in the conversations of one workspace."""

    def __init__(self, api: Api, clock: Clock) -> None:
        self._api = api
        self._clock = clock

    async def find(self, chat: SessionKey, part: Part, me: Me, *, timeout_s: float) -> str:
        """``ts`` of what some attempt at ``part`` has sent; empty: nothing of the kind. Errors as ``Finds.find``."""
        deadline = anyio.current_time() + timeout_s
        looking = LookupRequest(part=part, me=me, now=self._clock.now().astimezone(dt.UTC).timestamp())
        try:
            ours = [each async for each in self._ours(chat, chat.thread, looking, deadline)]
        except Rejected as no:
            if no.error not in NO_THREAD or not chat.thread:
                raise
            # Its first message was deleted: what is said there since then goes to the channel itself.
            ours = [each async for each in self._ours(chat, "", looking, deadline)]
        return found_in(ours, looking)

    async def _ours(
        self, chat: SessionKey, thread: str, looking: LookupRequest, deadline: float
    ) -> AsyncIterator[FoundMessage]:
        me = looking.me
        messages = messages_in(self._api, chat.chat, thread=thread, deadline=deadline, oldest=looking.oldest)
        async for message in messages:
            said = lenient(FoundMessage, message)
            if is_ts(said.ts) and (said.user == me.user or (me.bot and said.bot_id == me.bot)):
                yield said


def found_in(ours: list[FoundMessage], looking: LookupRequest) -> str:
    """Which of our messages it is; the newest one that may be. Pure."""
    newest_first = sorted(ours, key=lambda said: float(said.ts), reverse=True)
    return next((said.ts for said in _matching(newest_first, looking)), "")


def _matching(ours: list[FoundMessage], looking: LookupRequest) -> Iterator[FoundMessage]:
    part = looking.part
    if part.attachments or part.document:
        yield from (said for said in ours if _is_recent(said, looking) and _has_files(said, part))
        return
    yield from (said for said in ours if _is_named(said, part))
    # A stream has no metadata before it is stopped, and a workspace may keep none at all.
    unnamed = [said for said in ours if said.metadata is None and not said.files and _is_recent(said, looking)]
    words = _words(part.text)
    if part.preview:
        yield from (said for said in unnamed if (begun := _words(plain(said.text))) and words.startswith(begun))
    elif all(said.metadata is None for said in ours):
        yield from (said for said in unnamed if words and _words(plain(said.text)) == words)


def _is_named(said: FoundMessage, part: Part) -> bool:
    if said.metadata is None:
        return False
    is_kind = said.metadata.event_type == (PREVIEW if part.preview else PART)
    payload = said.metadata.event_payload
    return is_kind and (payload.reply, payload.part) == (part.reply, part.number)


def _has_files(said: FoundMessage, part: Part) -> bool:
    """Whether a message shows the files of a part: by their names, and sizes where both are known."""
    wanted = [(each.name or "file", each.size_bytes) for each in part.attachments]
    if part.document:
        if _words(plain(said.text)) != _words(part.text):  # all documents have one name
            return False
        wanted.insert(0, (DOCUMENT_NAME, len(part.document.encode("utf-8", "replace"))))
    shown = [(each.name, each.size) for each in said.files]
    return len(shown) == len(wanted) and all(
        name == title and (not size or not length or size == length)
        for (name, size), (title, length) in zip(wanted, shown, strict=True)
    )


def _is_recent(said: FoundMessage, looking: LookupRequest) -> bool:
    return float(said.ts) >= looking.now - SAME_S


def _words(text: str) -> str:
    """Letters and digits alone: what Slack makes of the signs between them is its own."""
    return "".join(sign for sign in text.casefold() if sign.isalnum())
