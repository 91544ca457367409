"""Asking the Bot API for what is new: one process a bot, under a lease.

An update is confirmed by asking for those behind it, so nothing is asked for before everything older was dealt with.
A process that loses the lease, or is killed, confirms nothing: the next one is told the same updates again, and those
that were accepted already count as repetitions.
"""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress

import anyio
import msgspec
import structlog

from channels.leader_election import Leader, Lease
from channels.telegram.api import Api
from channels.telegram.api_types import Conflict, Rejected
from channels.telegram.event_inlet import EventInlet, chat_of, number_of
from channels.telegram.updates import KINDS
from daemon import metrics
from daemon.errors import BusError, ChannelError, SendRefused, brief

POLL_S = 25
"""How long the server may wait for something new: shorter than the half minute after which gateways cut."""

PATIENCE_S = 15.0
"""A server that says nothing for so long after that is not asked by this connection any more: it is dead, and the
system may not notice for hours."""

GATHER_S = 0.05
"""Shortest time from one question to the next: what many say within it comes together, and a busy bot does not ask for
each message by itself. Who speaks after a pause is heard at once."""

BATCH = 100
"""Most updates that the server gives at a time."""

AT_A_TIME = 32
"""Chats whose updates are taken side by side."""

PAUSE_MIN_S, PAUSE_MAX_S = 0.5, 10.0
"""Rest after a failure, doubled with each one more; who waits for an answer should not wait for this in vain."""

DOUBLINGS_MAX = 30
"""No pause is doubled more often: the number would leave the range of floats."""

CONFIRM_S = 1.0
"""How long a stopping process may take to confirm what it has dealt with."""

SILENCE_S = 86_400.0
"""After so long without updates the next one is asked for by no number: the platform begins anew with a number of its
choice when there was none for a week, and may choose a smaller one."""

CONFLICT_MIN_S, CONFLICT_MAX_S = 2.0, 30.0
"""Pause after status 409 because another program polls, doubled with each further one, less up to a half at random. The
first one is short: most conflicts are the end of a replica, and the bot receives nothing during the pause."""

_updates = msgspec.json.Decoder(list[msgspec.Raw]).decode
_log = structlog.get_logger()


class Polling:
    """One term of asking: begins at the oldest update that was not confirmed."""

    def __init__(self, api: Api, inlet: EventInlet, *, channel: str, kinds: Sequence[str] = KINDS) -> None:
        """``kinds``: the types of updates that are asked for."""
        self._api = api
        self._kinds = kinds
        self._inlet = inlet
        self._channel = channel
        self._offset: int | None = None
        self._dealt_with: set[int] = set()
        """Updates at or behind the offset that were taken, while one before them was not."""
        self._failures = 0
        self._conflicts = 0
        self._heard_at = anyio.current_time()

    async def run(self) -> None:
        """Ask and hand in, until cancelled."""
        while True:
            next_at = anyio.current_time() + GATHER_S
            rest_s = await self._once() or next_at - anyio.current_time()
            if rest_s > 0:
                await anyio.sleep(rest_s)

    async def confirm(self) -> None:
        """Tell the server what was dealt with, so that a successor does not hear of it again; gives up soon."""
        with anyio.move_on_after(CONFIRM_S, shield=True):
            if self._offset is not None:
                params = {"offset": self._offset, "limit": 1, "timeout": 0, "allowed_updates": self._kinds}
                with suppress(ChannelError):
                    await self._api.call("getUpdates", params, timeout_s=CONFIRM_S)

    async def _once(self) -> float:
        """Ask once; how long to rest then."""
        try:
            found = await self._asked()
            kept = await self._dealt(found)
        except Conflict as error:
            return await self._conflict(error)
        except (SendRefused, Rejected) as error:
            return self._failed(error, error.retry_after_s if isinstance(error, SendRefused) else PAUSE_MAX_S)
        except (ChannelError, BusError, msgspec.DecodeError) as error:
            return self._failed(error, None)
        if not kept:
            return self._failed(None, None)
        self._failures = self._conflicts = 0
        return 0.0

    async def _asked(self) -> list[msgspec.Raw]:
        params = {"limit": BATCH, "timeout": POLL_S, "allowed_updates": self._kinds}
        if self._offset is not None and anyio.current_time() - self._heard_at < SILENCE_S:
            params["offset"] = self._offset
        began = anyio.current_time()
        try:
            return _updates(await self._api.call("getUpdates", params, timeout_s=POLL_S + PATIENCE_S))
        except ChannelError:
            if anyio.current_time() - began >= POLL_S + PATIENCE_S:
                _log.warning("poll.silent", channel=self._channel, waited_s=POLL_S + PATIENCE_S)
                metrics.UPDATES.labels(self._channel, "silent").inc()
                await self._api.renew()
            raise

    async def _dealt(self, found: list[msgspec.Raw]) -> bool:
        """Hand a batch in and move the offset over all that was dealt with; False when something has to come again."""
        chats: dict[int, list[tuple[int, msgspec.Raw]]] = {}
        numbers: list[int] = []
        for each in found:
            number = number_of(each)
            if number is None:  # nothing can be confirmed by it, and nothing be done about it
                metrics.UPDATES.labels(self._channel, "unreadable").inc()
                continue
            numbers.append(number)
            if number not in self._dealt_with:
                chats.setdefault(chat_of(each), []).append((number, each))
        limiter = anyio.CapacityLimiter(AT_A_TIME)
        async with anyio.create_task_group() as tg:
            for updates in chats.values():
                tg.start_soon(self._take, updates, limiter)
        return self._confirm(numbers)

    async def _take(self, updates: list[tuple[int, msgspec.Raw]], limiter: anyio.CapacityLimiter) -> None:
        async with limiter:
            taken = await self._inlet.take_run([each for _, each in updates])
        self._dealt_with.update(number for number, _ in updates[:taken])
        if taken < len(updates):
            # What comes behind it in this chat must not come before it.
            _log.warning("update.waits", channel=self._channel, count=len(updates) - taken)

    def _confirm(self, numbers: list[int]) -> bool:
        # The server may repeat and mix them up: what counts is the smallest that is not dealt with.
        left = [number for number in numbers if number not in self._dealt_with]
        if not numbers:
            return True
        self._heard_at = anyio.current_time()
        self._offset = min(left) if left else max(numbers) + 1
        self._dealt_with = {number for number in self._dealt_with if number >= self._offset}
        return not left

    async def _conflict(self, error: Conflict) -> float:
        if error.webhook:
            # Configured to ask: a webhook that was set before would have the bot deaf for good.
            _log.warning("webhook.removed", channel=self._channel)
            try:
                await self._api.call("deleteWebhook", {"drop_pending_updates": False}, timeout_s=PATIENCE_S)
            except ChannelError as failure:
                return self._failed(failure, CONFLICT_MIN_S)
            return 0.0
        longest_s = min(CONFLICT_MAX_S, CONFLICT_MIN_S * 2 ** min(self._conflicts, DOUBLINGS_MAX))
        self._conflicts += 1
        return self._failed(error, random.uniform(0.5, 1.0) * longest_s)

    def _failed(self, error: Exception | None, told_s: float | None) -> float:
        doubled_s = PAUSE_MIN_S * 2 ** min(self._failures, DOUBLINGS_MAX)
        backoff_s = random.uniform(0.5, 1.0) * min(PAUSE_MAX_S, doubled_s)
        rest_s = backoff_s if told_s is None else max(told_s, PAUSE_MIN_S)
        self._failures += 1
        if error is not None:
            _log.warning("poll.failed", channel=self._channel, waited_s=round(rest_s, 3), reason=brief(error))
        return rest_s


async def under_lease(leader: Leader, begin: Callable[[], Polling]) -> None:
    """Ask whenever the lease can be had, until the process stops."""

    async def lead(lease: Lease) -> None:
        async with leader.kept(lease):
            asking = begin()
            try:
                await leader.until_ending(lease, asking.run)
            finally:
                # While the lease is still held: whoever has it next shall not be interrupted.
                if lease.ending.is_set() and lease.left_s > CONFIRM_S:
                    await asking.confirm()

    await leader.run(lead)
