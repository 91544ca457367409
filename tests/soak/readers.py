"""Who looks on while others talk: readers of server-sent events, who come back behind what they have seen."""

import random
from collections.abc import Sequence

import anyio
import httpx2

from tests.soak.chats import GONE, Chat, Site

AGAIN_S = 0.3
READ_S = 20.0  # nothing at all for so long, and the stream is another one's: comments come every 15 s
STAY_S = (10.0, 40.0)  # after which time a reader goes, and comes back


class Reader:
    def __init__(self, site: Site, chat: Chat, dice: random.Random) -> None:
        self.chat = chat
        self.last = -1
        """Index of the last message that it was shown."""
        self.events = 0
        self.wrong: list[str] = []
        self._site = site
        self._dice = dice

    async def read(self) -> None:
        """Read, until cancelled."""
        while True:
            try:
                with anyio.move_on_after(self._dice.uniform(*STAY_S)):
                    await self._stay()
            except GONE:
                pass
            await anyio.sleep(AGAIN_S)

    async def _stay(self) -> None:
        # A name that came with the last event is what browsers come back with.
        headers = {"Last-Event-ID": str(self.last)} if self.last >= 0 else {}
        address = f"{self._site.url()}/api/events?session={self.chat.session}"
        async with self._site.client.stream("GET", address, headers=headers, timeout=READ_S) as answer:
            if answer.status_code != 200:
                return
            await self._events(answer)

    async def _events(self, answer: httpx2.Response) -> None:
        number = -1
        async for line in answer.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "id":
                number = int(value)
            elif name == "event":
                self.events += 1
                if value == "message":
                    self.see(number)

    def see(self, index: int) -> None:
        if index != self.last + 1:
            self.wrong.append(f"{self.chat.session}: message {index} was shown after {self.last}")
        self.last = max(self.last, index)


def unseen(readers: Sequence[Reader], heads: Sequence[int]) -> list[str]:
    """Readers who were not shown all that there is, in the end. Pure."""
    return [
        f"{reader.chat.session}: shown up to {reader.last}, there are {head} messages"
        for reader, head in zip(readers, heads, strict=True)
        if reader.last != head - 1
    ]
