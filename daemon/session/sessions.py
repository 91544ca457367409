"""Claiming a session, and all operations that only its holder may perform."""

import secrets
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Literal

import anyio
import msgspec
import structlog

from daemon.bus import Bus, ScriptRequest, Shared, load_script, longest_deadline_s, pack, pairs
from daemon.config import QueueConfig
from daemon.errors import BusError, LeaseLost, brief
from daemon.events import LogEntry, Notice, Options, Reply
from daemon.session.claim import (
    DEATH_PAUSE_MAX_S,
    DEATH_PAUSE_S,
    SUSPECT_DEATHS,
    Claim,
    Pause,
    PendingMessage,
    SessionNotice,
    after,
    begun_from,
    release,
    waiting_from,
)
from daemon.traces import KEPT_MAX, KEPT_MS, Trace

_PART = ("begin.part.lua",)
CLAIM = load_script(__file__, "claim.lua", with_parts=_PART)
COMMIT = load_script(__file__, "commit.lua", with_parts=_PART)
JOURNAL = load_script(__file__, "journal.lua")
RENEW = load_script(__file__, "renew.lua")

TAKE = 1
"""Messages that one turn answers when the channel has no debounce window."""

CLAIMED_AT_ONCE = 32
"""Sessions that one script claims: some 0.5 ms during which the server does nothing else."""

GREW_MAX = 10_000
"""Events kept in ``grew``: a hint, so the oldest may go; consolidation finds their sessions by state."""

_encode = msgspec.json.Encoder().encode
_log = structlog.get_logger()


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of a turn besides the log."""

    notices: tuple[Notice, ...] = ()
    """What is said aside, to viewers of pull channels."""
    start_over: bool = False
    """From now on a model sees nothing of what lies before: ``start`` moves to the new head."""
    options: Options | None = None
    """To be kept from now on; None leaves them as they are."""


NO_CHANGE = Change()


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a turn."""

    entries: tuple[LogEntry, ...]
    """To be appended after the journal; may be empty when all was said aside."""
    tokens: int
    """Of all the turn's entries, journalled ones counted."""
    answered: tuple[str, ...]
    """Stream ids of the messages that are no longer waiting."""
    reply: Reply | None = None
    """For push channels; pull channels read the log."""
    dead_reason: str = ""
    """Set when the messages could not be answered: they go to ``dead`` with it."""
    change: Change = NO_CHANGE
    fixed_tokens: int | None = None
    """What stands in every prompt of the session beside memory and history; None leaves what is known."""
    settle_tokens: int | None = None
    """Tokens of the messages a model sees from which on some should be consolidated; None: not known."""
    trace: Trace | None = None
    """How the turn went."""


class StillParked(msgspec.Struct, frozen=True, kw_only=True):
    """A parked session that received another message after its users were notified."""

    session: str
    count: int
    """Messages that are pending."""
    parked_s: float
    reason: str
    newest: bytes
    """The newest message, JSON."""


class Sessions:
    """The scripts for the claims of a process."""

    def __init__(
        self,
        bus: Bus,
        config: QueueConfig,
        *,
        worker: str,
        still_parked: Callable[[StillParked], None] = lambda _session: None,
    ) -> None:
        """``still_parked`` is called with each such session that was to be claimed."""
        self._bus = bus
        self._config = config
        self._worker = worker
        self._still_parked = still_parked
        self._lease_ms = round(config.lease_s * 1000)
        self._wakeup_ms = round(config.wakeup_s * 1000)
        self._notice_ttl_ms = round(config.notice_ttl_s * 1000)
        self._of_partition: dict[int, Shared] = {}
        self._abandoned: dict[str, tuple[str, float]] = {}
        """Claims without an answer, by nonce: the session and the end of its lease, on the event loop's clock."""
        self.on_pause: Callable[[float], None] = lambda _seconds: None
        """Called with the seconds until a session can be claimed again."""

    async def claim(self, session: str) -> Claim | None:
        """The session, held for ``lease_s``; None if it is held, backs off, or has no pending messages.

        Raises:
            BusUnavailable: Redis is away; the session may be held, see ``release_abandoned``.
        """
        return next(iter(await self.claim_all([session])), None)

    async def claim_all(self, sessions: Sequence[str]) -> list[Claim]:
        """As ``claim``, for many sessions. Returns the claimed ones. A script claims up to ``CLAIMED_AT_ONCE``.

        Raises:
            BusUnavailable: as for ``claim``, of the first script; without an answer to a later one, the claims of
                those before.
        """
        of_partition: dict[int, list[str]] = {}
        for session in sessions:
            of_partition.setdefault(self._bus.keys.partition(session), []).append(session)
        claims: list[Claim] = []
        for partition, several in of_partition.items():
            for at in range(0, len(several), CLAIMED_AT_ONCE):
                try:
                    claims += await self._claim(partition, several[at : at + CLAIMED_AT_ONCE])
                except BusError as error:
                    if not claims:
                        raise
                    _log.warning("claim.abandoned", reason=brief(error), count=len(several) - at)
                    return claims
        return claims

    async def _claim(self, partition: int, sessions: Sequence[str]) -> list[Claim]:
        drawn = secrets.token_hex(8)
        nonces = [f"{drawn}-{number}" for number in range(len(sessions))]
        try:
            results = await self._ask_for(partition, sessions, nonces)
        except BaseException:
            # The claims may have been executed, and no other object knows their nonces.
            until = anyio.current_time() + self._config.lease_s
            self._abandoned.update((nonce, (session, until)) for session, nonce in zip(sessions, nonces, strict=True))
            raise
        claims: list[Claim] = []
        for session, nonce, (status, *rest) in zip(sessions, nonces, results, strict=True):
            if status == b"refused":
                _log.error("session.refused", session=session, reason=rest[0].decode(errors="replace"))
            elif status == b"parked":
                self.on_pause(rest[0] / 1000)
                if len(rest) > 1:
                    self._still_parked(_still_parked(session, rest))
            elif status == b"claimed":
                try:
                    claims.append(Claim(session=session, nonce=nonce, fence=int(rest[0]), begun=begun_from(rest)))
                except ValueError as error:
                    # A hand has spoilt its fields: that must not keep the others from being answered.
                    _log.error("session.refused", session=session, reason=brief(error))
        return claims

    async def _ask_for(self, partition: int, sessions: Sequence[str], nonces: Sequence[str]) -> list[Any]:
        """The answer of the script: a list for each session."""
        keys = self._bus.keys
        results: list[Any] = await self._bus.run(
            CLAIM,
            [
                keys.inbox(partition),
                keys.ready(partition),
                keys.due(partition),
                *chain.from_iterable(map(keys.claiming, sessions)),
            ],
            [
                self._worker,
                self._lease_ms,
                round(longest_deadline_s(self._config) * 1000),
                TAKE,
                SUSPECT_DEATHS,
                round(DEATH_PAUSE_S * 1000),
                round(DEATH_PAUSE_MAX_S * 1000),
                self._config.attempts_max,
                pack([part for pair in zip(sessions, nonces, strict=True) for part in pair]),
            ],
        )
        return results

    async def renew(self, claim: Claim) -> str:
        """Extend the lease. Returns the stream ID of a pending stop command, or an empty string.

        Raises:
            LeaseLost: somebody else holds the session.
        """
        keys = self._bus.keys.of(claim.session)
        status, stop_upto = await self._bus.run(
            RENEW, [keys.session, keys.due], [claim.session, claim.nonce, self._lease_ms]
        )
        if status != b"held":
            raise _lost(claim)
        return str(stop_upto.decode())

    async def journal(self, claim: Claim, *, step: int, entries: Sequence[LogEntry]) -> None:
        """Record finished steps of the turn, after ``step`` earlier steps.

        Raises:
            LeaseLost: somebody else holds the session, or went on from here; nothing was written.
        """
        keys = self._bus.keys.of(claim.session)
        status = await self._bus.run(
            JOURNAL,
            [keys.session, keys.log],
            [claim.nonce, claim.begun.head, step, *(_encode(entry) for entry in entries)],
        )
        if status != b"done":
            raise _lost(claim)

    async def commit(
        self, claim: Claim, commit: Commit, *, step: int, out_channel: str = "", go_on: bool = True
    ) -> Claim | None:
        """Write the end of the turn. Returns the claim of the next turn, or None if the session was released.

        Raises:
            LeaseLost: another worker holds it; nothing was written. TooFewReplicas: it is written; repeating is safe.
        """
        keys, begun, master = self._bus.keys, claim.begun, self._bus.master
        status, *rest = await self._bus.share(
            COMMIT,
            self._shared(keys.partition(claim.session)),
            ScriptRequest(
                keys.committing(claim.session, out_channel),
                (
                    claim.session,
                    claim.nonce,
                    begun.claims,
                    begun.head,
                    step,
                    commit.tokens,
                    1 if commit.reply else 0,
                    TAKE if go_on else 0,
                    _beside(commit),
                    _or_empty(commit.fixed_tokens),
                    _or_empty(commit.settle_tokens),
                    _text(commit.trace) if commit.trace else "",
                    len(commit.answered),
                    len(commit.entries),
                    *commit.answered,
                ),
                tuple(map(_encode, (*commit.entries, commit.reply) if commit.reply else commit.entries)),
            ),
        )
        if status == b"stale":
            raise _lost(claim)
        await self._bus.replicated(master)
        if status == b"done":
            return None
        return msgspec.structs.replace(claim, fence=int(rest[0]), begun=begun_from(rest))

    def _shared(self, partition: int) -> Shared:
        """What is the same for all commits of a partition."""
        if partition not in self._of_partition:
            keys = self._bus.keys
            self._of_partition[partition] = Shared(
                (
                    keys.inbox(partition),
                    keys.ready(partition),
                    keys.due(partition),
                    keys.grew(partition),
                    keys.dead(partition),
                    keys.unsettled(partition),
                ),
                (self._lease_ms, self._wakeup_ms, GREW_MAX, self._notice_ttl_ms, keys.events(""), KEPT_MAX, KEPT_MS),
            )
        return self._of_partition[partition]

    async def hand_over(self, claim: Claim) -> None:
        """Give the session to the next worker at once; this attempt does not count."""
        await self._release(claim, Pause("undone"))

    async def put_off(self, claim: Claim, *, delay_s: float, word: SessionNotice | None = None) -> None:
        """Release the session until ``delay_s`` have passed, without a failure. This attempt does not count.

        ``word`` is told to its people.
        """
        await self._release(claim, Pause("undone", delay_s=delay_s, word=word))

    async def back_off(self, claim: Claim, *, delay_s: float) -> None:
        """Have the session tried again after ``delay_s``; this attempt counts."""
        await self._release(claim, Pause("counts", delay_s=delay_s))

    async def park(
        self,
        claim: Claim,
        *,
        delay_s: float,
        word: SessionNotice | None = None,
        reason: str = "",
        tell_after_s: float = 0.0,
    ) -> bool:
        """As ``back_off``, for a failure that the message did not cause. This attempt does not count.

        From the first time on since the session's last commit it is counted how long the session has been parked. As
        soon as that, with ``delay_s``, is ``tell_after_s``, its people are told ``word``, once; again under another
        name (``word.once``).

        Returns whether they were told for the first time.
        """
        pause = Pause("parked", delay_s=delay_s, word=word, reason=reason, tell_after_s=tell_after_s)
        return await self._release(claim, pause) == b"parked"

    async def _release(self, claim: Claim, pause: Pause) -> bytes:
        stop = claim.begun.stop_upto
        status = await release(self._bus, self._config, claim.session, claim.nonce, pause, stop_upto=stop)
        self.on_pause(pause.delay_s)
        return status

    async def release_abandoned(self) -> None:
        """Release sessions whose claims received no answer, because these claims may have been executed.

        Redis may execute a claim late, so each release is repeated until the lease of the claim would have expired.

        Raises:
            BusUnavailable: Redis is unavailable. The next call tries the remaining sessions again.
        """
        for nonce, (session, until) in tuple(self._abandoned.items()):
            status = await release(self._bus, self._config, session, nonce, Pause("undone"))
            if status != b"stale" or anyio.current_time() > until:
                del self._abandoned[nonce]

    async def waiting_upto(self, session: str, upto: str) -> tuple[PendingMessage, ...]:
        """The pending messages of a session up to stream ID ``upto``. The caller holds the session."""
        keys = self._bus.keys
        ids: list[bytes] = await self._bus.call("LRANGE", keys.waiting(session), 0, -1)
        inbox = keys.inbox(keys.partition(session))
        found: list[Any] = []
        for stream_id in ids:
            if not after(stream_id.decode(), upto):
                found += await self._bus.call("XRANGE", inbox, stream_id, stream_id)
            if stream_id.decode() == upto:
                break  # An edited message has a newer ID than the messages behind it.
        return waiting_from(
            [part for stream_id, fields in found for part in (stream_id, dict(pairs(fields))[b"message"])]
        )


def _still_parked(session: str, rest: Sequence[Any]) -> StillParked:
    _, count, parked_ms, reason, newest = rest
    reason = reason.decode(errors="replace")
    return StillParked(session=session, count=count, parked_s=parked_ms / 1000, reason=reason, newest=newest)


def _beside(commit: Commit) -> dict[str, Any] | Literal[""]:
    """What a commit does that few do, as ``commit.lua`` reads it; empty for nothing."""
    change = commit.change
    if change is NO_CHANGE and not commit.dead_reason:
        return ""
    beside: dict[str, Any] = {"notices": [_text(notice) for notice in change.notices]}
    if commit.dead_reason:
        beside["dead_reason"] = commit.dead_reason
    if change.start_over:
        beside["start_over"] = True
    if change.options:
        beside["options"] = _text(change.options)
    return beside


def _text(value: msgspec.Struct) -> str:
    return _encode(value).decode()


def _or_empty(number: int | None) -> int | str:
    return "" if number is None else number


def _lost(claim: Claim) -> LeaseLost:
    return LeaseLost(f"session {claim.session} is now held by another worker. The turn was not saved.")
