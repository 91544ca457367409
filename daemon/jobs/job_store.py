"""Jobs in Redis, one hash each with progress and owner: work that must continue after a crash.

A job belongs to whoever took it for as long as its lease is renewed; what it has done so far is saved with it, and the
next one goes on from there. Every script is checked by the nonce of the take, and a save by its number besides.
"""

import secrets
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from daemon.bus import Bus, Part, load_script, pairs
from daemon.clock import Clock, stamp
from daemon.errors import JobLost, JobRefused

CREATE = load_script(__file__, "create.lua")
TAKE = load_script(__file__, "take.lua")
SAVE = load_script(__file__, "save.lua")
PUT_OFF = load_script(__file__, "put_off.lua")
FINISH = load_script(__file__, "finish.lua")
HUSH = load_script(__file__, "hush.lua")
DUE = load_script(__file__, "due.lua")

KEPT_S = 30 * 86_400.0
"""Time for which the result of a job is kept."""

REST_MAX_S = 300.0
"""Longest that a job is put off."""

MOST = 100
"""Jobs that are looked at together."""

_encode = msgspec.json.Encoder().encode

Status = Literal["waiting", "running", "done", "failed"]


class NotifiedChat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A chat that is told about a job."""

    session: str
    out_channel: str = ""
    """Of a push channel, which sends a reply; empty: viewers of the session get a notice."""
    correlation: str = ""
    message_id: str = ""
    """Of the message that asked for it."""
    language: Literal["en", "zh"] = "en"


class HeldJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job in the hands of this process."""

    id: str
    nonce: str
    fence: int
    attempts: int
    """Takes since it last got on, this one counted."""
    step: int
    """How often it was saved."""
    kind: str
    spec: bytes
    secret: bytes
    state: bytes
    """The last saved progress, JSON; empty: none."""
    tell: bytes


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A job, as people look at it."""

    id: str
    kind: str
    status: Status
    created: str
    ended: str = ""
    worker: str = ""
    """The process that runs the job."""
    attempts: int = 0
    """Tries since it last got on."""
    partly: bool = False
    """Only the part that waits is left to do."""
    reason: str = ""
    """Why it was put off the last time."""
    spec: dict[str, Any] = {}
    report: dict[str, Any] = {}
    """The result."""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will be done."""
        return self.status in ("done", "failed")

    @property
    def shown_status(self) -> str:
        """The status for people: ``partly`` if only the part that waits is left to do."""
        return "partly" if self.partly and not self.has_ended else self.status


class Jobs:
    """The jobs of one database. All methods raise BusUnavailable if Redis is unavailable."""

    def __init__(self, bus: Bus, *, lease_s: float, worker: str, clock: Clock) -> None:
        self._bus = bus
        self._worker = worker
        self._clock = clock
        self.lease_s = lease_s
        self._lease_ms = round(lease_s * 1000)
        self._longest_ms = round(2 * max(lease_s, REST_MAX_S) * 1000)

    async def create(
        self,
        kind: str,
        spec: object,
        *,
        job_id: str,
        secret: object | None = None,
        tell: NotifiedChat | None = None,
        delay_s: float = 0.0,
    ) -> bool:
        """Create a job; False if a job with that ID exists, in any state.

        Args:
            kind: names its handler.
            spec: what is to be done; JSON that anybody may read, for as long as the job is remembered.
            job_id: the same for the same wish, however often it is said.
            secret: what the job needs besides, and nobody is to find when it has ended.
            tell: the chat that asked.
            delay_s: how long it waits at least.
        """
        made: bytes = await self._bus.run(
            CREATE,
            self._keys(job_id),
            [
                job_id,
                kind,
                _encode(spec),
                b"" if secret is None else _encode(secret),
                b"" if tell is None else _encode(tell),
                stamp(self._clock.now()),
                round(delay_s * 1000),
            ],
        )
        return made == b"made"

    async def take(self, job_id: str, *, at_once: bool = False) -> HeldJob | None:
        """Claim the job for ``lease_s``; None if it is taken, backing off, finished or unknown.

        ``at_once``: also one that rests after a failure.
        """
        nonce = secrets.token_hex(8)
        status, *rest = await self._bus.run(
            TAKE,
            self._keys(job_id),
            [job_id, nonce, self._worker, self._lease_ms, self._longest_ms, "1" if at_once else ""],
        )
        if status != b"taken":
            return None
        fence, attempts, step, kind, *parts = rest
        spec, secret, state, tell = parts
        return HeldJob(
            id=job_id,
            nonce=nonce,
            fence=int(fence),
            attempts=int(attempts),
            step=int(step),
            kind=kind.decode(),
            spec=spec,
            secret=secret,
            state=state,
            tell=tell,
        )

    async def renew(self, held: HeldJob) -> None:
        """Extend the lease.

        Raises:
            JobLost: somebody else has the job.
        """
        await self._save(held, "", b"")

    async def save(self, held: HeldJob, state: object, *, step: int) -> None:
        """Keep how far it has come, as the ``step``-th save of all; errors as for ``renew``."""
        await self._save(held, step, _encode(state))

    async def _save(self, held: HeldJob, step: int | str, state: bytes) -> None:
        args: list[Part] = [held.id, held.nonce, self._lease_ms, step, state]
        if await self._bus.run(SAVE, self._keys(held.id), args) != b"held":
            raise _lost(held)

    async def hush(self, held: HeldJob) -> None:
        """Delete the secret, which is not needed any more. Errors as for ``renew``."""
        if await self._bus.run(HUSH, [self._bus.keys.job(held.id)], [held.nonce]) != b"done":
            raise _lost(held)

    async def put_off(
        self, held: HeldJob, *, delay_s: float, reason: str = "", counts: bool = True, partly: bool = False
    ) -> None:
        """Give it back, to be taken again after ``delay_s``; without ``counts`` for no fault of its own.

        ``partly``: only the part that waits is left to do.

        Raises:
            JobLost: somebody else has it.
        """
        delay_ms = round(min(delay_s, REST_MAX_S) * 1000)
        args: list[Part] = [held.id, held.nonce, delay_ms, reason, "" if counts else "1", "1" if partly else ""]
        if await self._bus.run(PUT_OFF, self._keys(held.id), args) != b"done":
            raise _lost(held)

    async def finish(self, held: HeldJob, report: Mapping[str, Any], *, failed: bool = False) -> None:
        """It has ended, and ``report`` says how. Errors as for ``put_off``."""
        status = await self._bus.run(
            FINISH,
            [*self._keys(held.id), self._bus.keys.jobs_ended],
            [
                held.id,
                held.nonce,
                "failed" if failed else "done",
                _encode(report),
                stamp(self._clock.now()),
                round(KEPT_S * 1000),
            ],
        )
        if status != b"done":
            raise _lost(held)

    # Looking

    async def due(self) -> list[str]:
        """IDs of jobs that are due."""
        found = await self._bus.run(DUE, [self._bus.keys.jobs], [self._longest_ms, MOST])
        return [job_id.decode() for job_id in found]

    async def find(self, job_id: str) -> JobRecord | None:
        """A job; None if the ID is unknown or its record has expired."""
        fields = dict(pairs(await self._bus.call("HGETALL", self._bus.keys.job(job_id))))
        return _record(job_id, fields) if b"kind" in fields else None

    async def all(self, *, limit: int = MOST) -> list[JobRecord]:
        """Jobs that have not ended, the next one due first; then up to ``limit`` that have, the newest first."""
        keys = self._bus.keys
        open_ids: list[bytes] = await self._bus.call("ZRANGE", keys.jobs, 0, limit - 1)
        ended_ids: list[bytes] = await self._bus.call("ZREVRANGE", keys.jobs_ended, 0, limit - 1)
        names = dict.fromkeys([*open_ids, *ended_ids])
        found = [await self.find(name.decode()) for name in names]
        return [record for record in found if record is not None]

    def _keys(self, job_id: str) -> list[str]:
        return [self._bus.keys.job(job_id), self._bus.keys.jobs]


def _record(job_id: str, fields: Mapping[bytes, bytes]) -> JobRecord:
    texts = {name.decode(): value.decode() for name, value in fields.items()}
    try:
        return msgspec.convert(
            {
                "id": job_id,
                **{name: texts.get(name, "") for name in ("kind", "status", "created", "ended", "worker", "reason")},
                "partly": "partly" in texts,
                "attempts": int(texts.get("attempts", "0")),
                "spec": msgspec.json.decode(texts.get("spec") or "{}"),
                "report": msgspec.json.decode(texts.get("report") or "{}"),
            },
            JobRecord,
        )
    except (msgspec.MsgspecError, ValueError) as error:
        raise JobRefused(f"job {job_id} cannot be read: {error}") from error


def _lost(held: HeldJob) -> JobLost:
    return JobLost(f"job {held.id} is now run by another process. Nothing more was written.")
