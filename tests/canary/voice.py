"""Saying something as somebody, until it is accepted, and hearing what commands are answered."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import anyio
import httpx2
import msgspec

from channels.inbound import accept, make_inbound
from daemon.bus import pairs
from daemon.errors import ArchiveError, BusUnavailable, SessionFull
from daemon.events import Notice
from daemon.memory.scope_lists import ScopeLists
from daemon.process import Process
from tests.canary.findings import Findings
from tests.canary.looks import GONE
from tests.canary.people import CLUB, MEMBERS, WEB, Identity
from tests.fakes.sink import Sink

LOOK_S = 0.05
AGAIN_S = 0.2
WAIT_S = 240.0  # how long an answer may take, whoever is killed meanwhile
UNKNOWN = 1_000  # messages that may wait while the server is away
_decode_notice = msgspec.json.Decoder(Notice).decode


class Voice:
    def __init__(
        self, process: Process, client: httpx2.AsyncClient, urls: Mapping[str, str], platform: Sink, findings: Findings
    ) -> None:
        self.client = client
        self._process = process
        self._urls = urls
        self._platform = platform
        self._findings = findings
        self._number = 0

    def url(self, session: str) -> str:
        return self._urls.get(session.partition(":")[0], self._urls[WEB])

    async def say(self, who: Identity, session: str, text: str, *, member: str = MEMBERS[0]) -> str:
        """Say ``text``; the message's id. ``member``: who speaks in a group."""
        self._number += 1
        name = f"m{self._number:06}"
        while not await self._accepted(who, session, text, name, member):  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(AGAIN_S)
        return name

    async def _accepted(self, who: Identity, session: str, text: str, name: str, member: str) -> bool:
        chat = session.partition(":")[2]
        try:
            if who.channel == CLUB:
                inbound = make_inbound(
                    self._process, channel=CLUB, chat=chat, text=text, sender_id=member, message_id=name
                )
                group = msgspec.structs.replace(inbound, chat_kind="group", sender_name=member.title())
                await accept(self._process, group)
                return True
            body = {"session": session, "text": text, "id": name, "user": who.sender}
            answer = await self.client.post(f"{self._urls[who.channel]}/api/messages", json=body, timeout=WAIT_S)
        except (BusUnavailable, SessionFull, *GONE):
            return False
        if answer.status_code not in (202, 429, 500, 503):
            self._findings.add("unanswered", f"{session}: {answer.status_code} {answer.text[:200]} to {text[:60]!r}")
        return answer.status_code not in (429, 500, 503)

    # Hearing.

    async def quiet(self, sessions: Sequence[str]) -> None:
        for session in sessions:
            await self.room(session, 1)

    async def room(self, session: str, most: int) -> None:
        """Wait until fewer than so many messages of it have no answer."""
        with anyio.move_on_after(WAIT_S):
            while await self._waiting(session) >= most:  # noqa: ASYNC110 - nobody tells
                await anyio.sleep(LOOK_S)
            return
        self._findings.add("unanswered", f"{session}: messages wait for {WAIT_S:g} s")

    async def _waiting(self, session: str) -> int:
        try:
            return int(await self._process.bus.call("LLEN", self._process.bus.keys.waiting(session)))
        except BusUnavailable:
            return UNKNOWN

    async def heard(self, session: str, name: str, *, since: int, wanted: Callable[[str], Any]) -> str:
        """The first answer to the command of that name of which ``wanted`` is true; empty when none comes."""
        with anyio.move_on_after(WAIT_S):
            while True:
                texts = await self._told(session, name, since)
                for text in texts:
                    if wanted(text):
                        return text
                await anyio.sleep(LOOK_S)
        self._findings.add("unanswered", f"{session} {name}: told {texts}")
        return ""

    @property
    def delivered(self) -> int:
        return len(self._platform.delivered)

    async def _told(self, session: str, name: str, since: int) -> list[str]:
        if session.startswith(f"{CLUB}:"):
            return [post["text"] for post in self._platform.delivered[since:] if post["session"] == session]
        return [notice.text for notice in await self.notices(session) if notice.message_id == name]

    async def notices(self, session: str) -> list[Notice]:
        bus = self._process.bus
        try:
            found: Any = await bus.call("XRANGE", bus.keys.notices(session), "-", "+")
        except BusUnavailable:
            return []
        return [_decode_notice(dict(pairs(fields))[b"notice"]) for _, fields in found]

    async def remembered(self, scope: str, sessions: Sequence[str]) -> list[str]:
        """What a memory holds that was made of these sessions: entries of its history, and notes."""
        found = list[str]()
        for kind in ("history", "notes"):
            records = await self._all_of(kind, scope)
            found += [raw.decode() for raw in records if msgspec.json.decode(raw)["session"] in sessions]
        return found

    async def _all_of(self, kind: Literal["history", "notes"], scope: str) -> list[bytes]:
        lists = ScopeLists(self._process.bus, self._process.archive)
        while True:
            try:
                return await lists.all(kind, scope, 0)
            except (BusUnavailable, ArchiveError):
                await anyio.sleep(AGAIN_S)
