"""Texts that are shown while they are written: cards in streaming mode, whose text is replaced (``cardkit/v1``).

A card that was sent as a message gets an id of its own when it is first changed in this way. Whoever changes it counts
up: the milliseconds of the clock rise from process to process too.
"""

from collections import OrderedDict
from dataclasses import dataclass

import structlog

from channels.base import Part
from channels.feishu.api import Api, left_s
from channels.feishu.api_types import MissingScope, Rejected
from channels.feishu.text_forms import ELEMENT, card_of, clean, markdown_of
from channels.shapes import nested
from daemon.clock import Clock
from daemon.errors import SendRefused, SendUnknown, brief

KEPT_MAX = 2_000
"""Cards of which the id is known; more texts are never shown at a time (``DRAFTS_MAX``)."""

SEQUENCES = 2_147_483_647
"""``sequence`` is less than this (int32). The milliseconds begin again after 24 days; a card lives for 14."""

_log = structlog.get_logger()


@dataclass(eq=False)
class _Card:
    id: str
    sequence: int = 0


class CardStreams:
    """The cards of one app that are being written."""

    def __init__(self, api: Api, clock: Clock, *, channel: str) -> None:
        self._api = api
        self._clock = clock
        self._channel = channel
        self._cards: OrderedDict[str, _Card] = OrderedDict()
        """By the message."""
        self.are_there = True
        """Until Feishu has shown that this app may not change cards."""

    def knows(self, message_id: str) -> bool:
        """Whether this process has changed the card of a message in this way."""
        return message_id in self._cards

    async def went_on(self, message_id: str, part: Part, deadline: float) -> bool:
        """Whether the card says what ``part`` says now; False: the message is to be replaced as a whole.

        Raises:
            SendRefused, SendUnknown: as ``Api.call``.
        """
        if not self.are_there:
            return False
        try:
            await self._write(message_id, part, deadline)
        except MissingScope as no:
            self.are_there = False
            _log.info("stream.none", channel=self._channel, reason=brief(no))
            return False
        except Rejected as no:
            # Streaming mode ended by itself (300309, 200850), the count was not accepted (300317), or it is no card.
            _log.info("stream.ended", channel=self._channel, reason=brief(no))
            self.forget(message_id)
            return False
        except SendUnknown:
            self.forget(message_id)
            raise
        if not part.preview:
            self.forget(message_id)
        return True

    def forget(self, message_id: str) -> None:
        """It is no text of ours any more that is being written."""
        self._cards.pop(message_id, None)

    async def delete(self, message_id: str, element: str, deadline: float) -> None:
        """Remove an element from the card of a message. Errors as for ``Api.call``."""
        card = self._cards.get(message_id) or await self._card(message_id, deadline)
        try:
            path = f"/cardkit/v1/cards/{card.id}/elements/{element}"
            await self._api.call("DELETE", path, {"sequence": self._next(card)}, timeout_s=left_s(deadline))
        finally:
            self.forget(message_id)

    def _next(self, card: _Card) -> int:
        now_ms = int(self._clock.now().timestamp() * 1_000)
        card.sequence = max(card.sequence + 1, now_ms % SEQUENCES)
        return card.sequence

    async def _write(self, message_id: str, part: Part, deadline: float) -> None:
        card = self._cards.get(message_id) or await self._card(message_id, deadline)
        sequence = self._next(card)
        shown = clean(part.text)
        path = f"/cardkit/v1/cards/{card.id}"
        if part.preview:
            body = {"content": markdown_of(shown), "sequence": sequence}
            await self._api.call("PUT", f"{path}/elements/{ELEMENT}/content", body, timeout_s=left_s(deadline))
        else:
            whole = {"card": {"type": "card_json", "data": card_of(shown)}, "sequence": sequence}
            await self._api.call("PUT", path, whole, timeout_s=left_s(deadline))

    async def _card(self, message_id: str, deadline: float) -> _Card:
        answer = await self._api.call(
            "POST",
            "/cardkit/v1/cards/id_convert",
            {"message_id": message_id},
            timeout_s=left_s(deadline),
            shows=False,
        )
        card_id = nested(answer, "data", "card_id")
        if not isinstance(card_id, str) or not card_id.isalnum():
            raise SendRefused("Feishu did not return an ID for the card")
        card = self._cards[message_id] = _Card(card_id)
        while len(self._cards) > KEPT_MAX:
            self._cards.popitem(last=False)
        return card
