"""What was said in a group and is kept as context of what the bot is asked next."""

from collections.abc import Collection

import msgspec

from daemon.bus import scan
from daemon.errors import UNREADABLE
from daemon.events import Overheard
from daemon.forget.forget_context import Work
from daemon.sessionkey import SessionKey

_decode = msgspec.json.Decoder(Overheard).decode


async def forget_overheard(work: Work, session: str, *, people: Collection[str] = ()) -> None:
    """What of it is wanted; with ``people`` all that these said, ``<channel>:<sender>``, and nothing else.

    Raises:
        BusUnavailable: Redis is away.
    """
    bus, channel = work.stores.bus, SessionKey.parse(session).channel
    key = bus.keys.overheard(session)
    found: list[bytes] = await bus.call("ZRANGE", key, 0, -1)
    for raw in filter(None, found):
        try:
            said = _decode(raw)
        except UNREADABLE:
            said = Overheard(id="", sender_id="", text=raw.decode(errors="replace"), at="")
        if people and str(SessionKey(channel=channel, chat=said.sender_id)) not in people:
            continue
        hits = (
            [said.text] if people else [hit for text in (said.text, said.sender_name) for hit in work.wanted.hits(text)]
        )
        if hits:
            work.found("overheard", hits, time=said.at)
            if not work.looks:
                # By its whole text: late or repeated it takes away nothing else.
                await bus.call("ZREM", key, raw)


async def forget_overheard_elsewhere(work: Work, people: Collection[str], *, known: Collection[str]) -> None:
    """As ``forget_overheard``, in groups that are no session yet, since the bot was never asked there."""
    async for names in scan(work.stores.bus, "overheard"):
        for session in set(names).difference(known):
            await forget_overheard(work, session, people=people)
