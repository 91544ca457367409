"""A testing channel whose server remembers: what was sent, and what was said in a thread.

``{kind: "find", session, reply, part, preview}`` is answered with ``{"id": ...}`` of what was sent, empty: nothing was;
``{kind: "before", session, id}`` with ``{"said": [...]}``, what was said in the thread before the message of this id.
"""

from typing import Any

import msgspec

from channels.base import Part
from channels.http_post import check
from channels.testing.channel import TestingChannel
from daemon.errors import SendRefused, SendUnknown
from daemon.events import Inbound, Overheard
from daemon.sessionkey import SessionKey


class _Find(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="find"):
    session: str
    reply: str
    part: int
    preview: bool


class _Before(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="before"):
    session: str
    id: str


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    id: str = ""
    said: tuple[Overheard, ...] = ()


_decode = msgspec.json.Decoder(_Found).decode


class LookingChannel(TestingChannel):
    """One channel instance of type ``testing`` with ``looks``."""

    async def find(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """See ``channels.base.Finds``."""
        asked = _Find(session=str(chat), reply=part.reply, part=part.number, preview=part.preview)
        return (await self._ask(asked, timeout_s)).id

    async def before(self, inbound: Inbound, *, timeout_s: float) -> tuple[Overheard, ...]:
        """See ``channels.base.LooksBack``."""
        if not inbound.thread:
            return ()
        return (await self._ask(_Before(session=str(inbound.session), id=inbound.id), timeout_s)).said

    async def _ask(self, asked: Any, timeout_s: float) -> _Found:
        try:
            response = await self.post(asked, timeout_s)
            check(response)
            return _decode(response.content)
        except (SendUnknown, msgspec.DecodeError) as error:
            raise SendRefused(f"the test platform did not answer a query: {error}") from error
