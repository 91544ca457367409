"""What the test's server has people say: ``GET <updates_url>?after=N&wait_s=S``, answered once there is something.

The answer is ``{"updates": [{"number", "arrival"}, ...]}``, oldest first; asking for what comes after N says that all
up to N are dealt with. Two processes that ask get the same: it is taken once, by its ``seen_as``.
"""

from typing import NoReturn

import anyio
import httpx2
import msgspec
import structlog

from channels.arrival import Arrival
from channels.base import Intake
from channels.batch import take_all
from daemon.errors import brief

WAIT_S = 5.0
"""How long the server may wait for something to say."""

ANSWER_S = 2.0
"""How much longer its answer may take."""

AWAY_PAUSE_S = 0.1
"""Pause when the server, or Redis, is away."""


class _Update(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    arrival: msgspec.Raw = msgspec.Raw()


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    updates: tuple[msgspec.Raw, ...] = ()


_log = structlog.get_logger()
_decode_answer = msgspec.json.Decoder(_Answer).decode
_decode_update = msgspec.json.Decoder(_Update).decode
_decode_arrival = msgspec.json.Decoder(Arrival).decode


class Updates:
    """The updates of one channel instance."""

    def __init__(self, channel: str, url: str, client: httpx2.AsyncClient) -> None:
        self._channel = channel
        self._url = url
        self._client = client
        self._after = 0

    async def hand_in(self, intake: Intake) -> NoReturn:
        """Hand in what is said, for ever."""
        while True:
            try:
                found = await self._ask()
            except (httpx2.HTTPError, msgspec.DecodeError) as error:
                _log.warning("updates.away", channel=self._channel, reason=type(error).__name__)
                await anyio.sleep(AWAY_PAUSE_S)
                continue
            taken = await take_all(intake, [arrival for _, arrival in found])
            if taken:
                self._after = found[taken - 1][0]
            if taken < len(found):
                await anyio.sleep(AWAY_PAUSE_S)

    async def _ask(self) -> list[tuple[int, Arrival | None]]:
        """The number of each update, and what it says; None when that is nothing we know."""
        query = {"after": self._after, "wait_s": WAIT_S}
        response = await self._client.get(self._url, params=query, timeout=WAIT_S + ANSWER_S)
        response.raise_for_status()
        found: list[tuple[int, Arrival | None]] = []
        for raw in _decode_answer(response.content).updates:
            try:
                update = _decode_update(raw)
            except msgspec.DecodeError:
                continue  # without its number it cannot be told from others, nor confirmed but with the next one
            found.append((update.number, self._arrival(update)))
        return found

    def _arrival(self, update: _Update) -> Arrival | None:
        try:
            return _decode_arrival(update.arrival)
        except msgspec.DecodeError as error:
            _log.warning("update.unknown", channel=self._channel, reason=brief(error))
            return None
