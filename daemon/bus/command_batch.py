"""Sends the commands of one loop tick together, and repeats them until the server answers or their time is up.

They go over a stream, ahead of the answers to earlier ones; what comes to nothing there is sent again, in pipelines.
Every command that goes through here may arrive twice or late: they are reads, or scripts that are harmless when
repeated. So a lost reply, a restarted server and a flushed script cache are all met by sending the same thing again.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.lowlevel import cancel_shielded_checkpoint
from redis import exceptions as redis_errors

from daemon.bus.pipeline_connection import AWAY, Client, Part, PipelineConnection, packed
from daemon.bus.script_batch import Script
from daemon.bus.streaming_connection import WOKEN_AT_ONCE, StreamingConnection
from daemon.errors import BusError, BusUnavailable, LoginRefused, MillpondError, WrongType

MAX_BATCH = 128
"""Commands in one pipeline of those that are sent again."""

IN_FLIGHT = 4
"""Such pipelines under way at once: one that is refused and waits must not hold up a read."""

REVIVE_PAUSE_S = 0.05
"""First pause after a failure; doubles up to a second."""

_LOGIN = (redis_errors.AuthenticationError, redis_errors.AuthorizationError)
_LATER = (
    *("LOADING", "MISCONF", "OOM", "READONLY", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY"),
    "UNBLOCKED",  # the server became a replica while it let somebody wait
)
"""Replies by which a server says that it takes nothing just now."""

_REFUSED = {
    "OOM": "Redis is out of memory (maxmemory) and rejects writes. Give it more memory.",
    "READONLY": "Redis is a read-only replica and rejects writes. Set redis.url to the master's address.",
    "NOREPLICAS": "Redis has too few replicas (min-replicas-to-write) and rejects writes. Check the replicas.",
    "MISCONF": (
        "Redis cannot write to its disk (MISCONF) and rejects writes. Free up space on the Redis server's disk, "
        "and check the Redis log."
    ),
}
"""Replies by which a server refuses writes while it answers reads, as sentences."""

_FORBIDDEN = re.compile(r"ACL failure in script|The user executing the script can't")
"""By these words a server refuses what a script does for its user; without a script it says NOPERM."""

_SHAPE = re.compile(r"[^:]*:(?:\{[^}]*\}:)?[a-z]+")
"""Of a key, all that says no name of a conversation or a person."""

_INSIDE = re.compile(r"Error running script .*: -([A-Z]+) ")


class OtherNode(BusUnavailable):
    """The command belongs to another node of the cluster. The cause, if any, is the redirection."""


@dataclass(eq=False, slots=True)
class _Call:
    command: tuple[Part, ...]
    packed: bytes
    script: Script | None
    # A future of the event loop: an event of anyio costs twice as much, and there is one for every command.
    answer: asyncio.Future[Any]
    until: float
    """When its caller is told that Redis is away, on the event loop's clock."""

    @property
    def kind(self) -> Part | Script:
        """The script, or the name of the command."""
        return self.script or self.command[0]

    def settle(self, answer: Any) -> None:
        """Give the caller an answer or an exception, unless the caller was cancelled."""
        if not self.answer.done():
            self.answer.set_result(answer)


class _Pending:
    """Commands that wait to be sent."""

    def __init__(self) -> None:
        self.calls: list[_Call] = []
        self._idle: list[asyncio.Future[None]] = []
        """Of the senders that wait for something to send."""
        self._woken = False
        """Whether a sender was woken and has not looked yet: it will take all that comes in the same tick."""

    def put(self, calls: Sequence[_Call]) -> None:
        """Queue calls for sending."""
        self.calls += calls
        if self.calls:
            self._wake_sender()

    async def take(self, at_most: int | None = None) -> list[_Call]:
        """The queued calls, oldest first. If none are queued, wait for the next calls."""
        while not self.calls:
            idle = asyncio.get_running_loop().create_future()
            self._idle.append(idle)
            await idle
            self._woken = False
        taken, self.calls = self.calls[:at_most], self.calls[at_most:] if at_most else []
        if self.calls:
            self._wake_sender()
        return taken

    def _wake_sender(self) -> None:
        if self._idle and not self._woken:
            idle = self._idle.pop()
            if not idle.done():  # else the bus is being closed
                self._woken = True
                idle.set_result(None)


class CommandBatch:
    """Sends commands. ``run`` must be running in a task group, or ``call`` is not answered."""

    def __init__(
        self,
        client: Client,
        *,
        revive: Callable[[], Awaitable[None]],
        patience_s: float,
        belongs: Callable[[Sequence[Part]], bool] = lambda _: True,
    ) -> None:
        """Nothing happens yet.

        Args:
            client: of the one server that everything is sent to.
            revive: brings the server back, or finds out who took its place.
            patience_s: how long a call is sent again.
            belongs: whether a command that failed still belongs to this server.
        """
        self._client = client
        self._revive = revive
        self._patience_s = patience_s
        self._belongs = belongs
        self._stream: StreamingConnection[_Call] = StreamingConnection(
            client, limit_s=patience_s, answered=self._answered, lost=self._lost
        )
        self._asked = _Pending()
        self._again = _Pending()
        """Commands that are not answered over the stream, or not by what they are to be answered with."""
        self._unknown = _Pending()
        """Those whose script the server does not know: one sender takes them in their order."""
        self._closed = False
        self.failing: BaseException | None = None
        """Why the last pipeline failed; None while the server answers."""
        self.refusing: BaseException | None = None
        """Why the server refuses writes; None since it has carried out one of a kind that it had refused."""
        self._refused_kinds: set[Part | Script] = set()

    async def call(self, *command: Part, script: Script | None = None) -> Any:
        """The server's answer to ``command``.

        Raises:
            BusUnavailable: no answer within the patience; whether it was carried out is unknown.
            Elsewhere: another node of the cluster has to be asked; it was not carried out here.
            BusError: the server refused it.
            UnicodeEncodeError: a part is no valid Unicode.
        """
        if self._closed:
            raise BusUnavailable("this process has closed its connection to Redis")
        # Packed here: what cannot be sent is its caller's error, and must not end the task that sends for everybody.
        loop = asyncio.get_running_loop()
        call = _Call(command, packed(command), script, loop.create_future(), loop.time() + self._patience_s)
        self._asked.put([call])
        answer = await call.answer
        if isinstance(answer, BaseException):
            raise translated(answer, asked_by(command, script)) from answer
        return answer

    async def run(self) -> None:
        """Send the queued calls, for ever."""
        try:
            async with anyio.create_task_group() as tg:
                tg.start_soon(self._stream.run)
                tg.start_soon(self._stream.watch)
                tg.start_soon(self._send_for_ever)
                for pending in (self._unknown, *[self._again] * IN_FLIGHT):
                    tg.start_soon(self._send_again_for_ever, pending)
        finally:
            self._closed = True
            for call in (*self._asked.calls, *self._stream.under_way, *self._again.calls, *self._unknown.calls):
                call.settle(BusUnavailable("this process is closing its connection to Redis"))

    async def _send_for_ever(self) -> None:
        while True:
            calls = [call for call in await self._asked.take() if not call.answer.done()]
            if self.failing is not None:
                self._again.put(calls)
            elif calls:
                await self._stream.send(calls)

    def _answered(self, call: _Call, answer: Any) -> None:
        if call.script is not None and isinstance(answer, redis_errors.NoScriptError):
            self._unknown.put([call])
        elif isinstance(answer, redis_errors.RedisError) and is_later(answer):
            self._refused(call, answer)
            self._again.put([call])
        else:
            if self.refusing is not None:
                self._note_taken(call)
            call.settle(answer)

    def _lost(self, calls: Sequence[_Call], error: BaseException) -> None:
        now = asyncio.get_running_loop().time()
        for call in calls:
            if call.until <= now:
                call.settle(BusUnavailable("Redis did not respond in time"))
        if open_calls := [call for call in calls if not call.answer.done()]:
            # Until one of these is answered, others take the same way.
            self.failing = error
            self._again.put(open_calls)

    async def _send_again_for_ever(self, pending: _Pending) -> None:
        line = PipelineConnection(self._client)
        try:
            while True:
                await self._send(line, await pending.take(MAX_BATCH))
                # Until it is needed again, the network may have forgotten it.
                await line.aclose()
        finally:
            await line.aclose()

    async def _send(self, line: PipelineConnection, batch: list[_Call]) -> None:
        try:
            with anyio.CancelScope(deadline=max(call.until for call in batch)):
                await self._until_answered(line, batch)
        finally:
            for call in batch:
                call.settle(self.failing or BusUnavailable("Redis did not respond in time"))

    async def _until_answered(self, line: PipelineConnection, batch: list[_Call]) -> None:
        pause_s = REVIVE_PAUSE_S
        while True:
            try:
                await self._attempt(line, batch)
            except (*AWAY, BusUnavailable) as error:
                self.failing = error
                if _is_login_refused(error):
                    return  # no waiting mends that
            else:
                self.failing = None
                return
            try:
                await self._revive()
            except MillpondError as error:
                # Whatever keeps the server down (a full disk, a folder taken away) may be put right by somebody.
                self.failing = error
            self._turn_away(batch)
            await anyio.sleep(pause_s)
            pause_s = min(pause_s * 2, 1.0)

    def _refused(self, call: _Call, error: redis_errors.RedisError) -> None:
        if _code(error) in _REFUSED:
            self.refusing = translated(error)
            self._refused_kinds.add(call.kind)

    def _note_taken(self, call: _Call) -> None:
        if call.kind in self._refused_kinds:
            self.refusing = None
            self._refused_kinds.clear()

    def _turn_away(self, batch: list[_Call]) -> None:
        for call in batch:
            if not call.answer.done() and not self._belongs(call.command):
                call.settle(OtherNode("the data has moved to another node in the Redis cluster"))

    async def _attempt(self, line: PipelineConnection, batch: list[_Call]) -> None:
        open_calls = [call for call in batch if not call.answer.done()]
        if not open_calls:
            return
        results = await line.exchange([(call.command[0], call.packed) for call in open_calls])
        missing: set[Script] = set()
        later: BaseException | None = None
        for number, (call, result) in enumerate(zip(open_calls, results, strict=True), 1):
            if call.script is not None and isinstance(result, redis_errors.NoScriptError):
                missing.add(call.script)
            elif isinstance(result, redis_errors.RedisError) and is_later(result):
                later = result
                self._refused(call, result)
            else:
                if self.refusing is not None:
                    self._note_taken(call)
                call.settle(result)
            if number % WOKEN_AT_ONCE == 0:
                await cancel_shielded_checkpoint()
        if later is not None:
            raise translated(later) from later
        if missing:
            # A flushed script cache or a new server: load, and send again what was not carried out.
            # On the same connection: another one may lead to another server after a failover.
            loads = [("SCRIPT", "LOAD", script.text) for script in missing]
            await line.exchange([(load[0], packed(load)) for load in loads])
            await self._attempt(line, batch)


def _is_login_refused(error: BaseException) -> bool:
    # While it connects, the library hides the refusal behind a failed connection.
    return isinstance(error, _LOGIN) or isinstance(error.__cause__, _LOGIN)


def is_later(error: BaseException) -> bool:
    """Whether the same command may succeed later on the same server."""
    return isinstance(error, AWAY) or _code(error) in _LATER


def _code(error: BaseException) -> str:
    # Before Redis 7 what a command in a script was refused with stands in the middle of another text.
    if inside := _INSIDE.match(str(error)):
        return inside[1]
    # The library cuts the first word off the replies it knows, and keeps it in status_code.
    return getattr(error, "status_code", None) or str(error).partition(" ")[0]


def asked_by(command: Sequence[Part], script: Script | None = None) -> str:
    """A command, or a script, with the kind of its key, for people."""
    if script is not None:
        return f"the script {script.name}"
    key = _SHAPE.match(str(command[1])) if len(command) > 1 else None
    return f"{command[0]!s} {key[0]}:*" if key else str(command[0])


def translated(error: BaseException, asked: str = "a command") -> BaseException:
    """The client library's exception as one of Millpond's; nothing else decides it. ``asked``: see ``asked_by``."""
    if isinstance(error, BusError):
        return error
    if isinstance(error, MillpondError):
        return BusUnavailable(str(error))
    return _of_library(error, asked)


def _of_library(error: BaseException, asked: str) -> BaseException:
    if _is_login_refused(error):
        return LoginRefused(f"Redis rejected the login: {str(error).rstrip('.')}. Check the password in redis.url.")
    if isinstance(error, redis_errors.AskError):  # a slot that moved is one, too
        return OtherNode(f"the data has moved to another node in the Redis cluster: {error}")
    if is_later(error):
        return BusUnavailable(_REFUSED.get(_code(error)) or f"Redis is unavailable: {error}")
    if isinstance(error, redis_errors.NoPermissionError) or _FORBIDDEN.search(str(error)):
        return BusError(
            f"Redis rejected {asked} because the Redis user lacks permission (NOPERM). Run `millpond doctor` to list "
            "the missing permissions, and `millpond redis-acl` to print the permissions of each role."
        )
    return _refused(error) if isinstance(error, redis_errors.RedisError) else error


def _refused(error: redis_errors.RedisError) -> BusError:
    # Redis may quote the arguments of a command; the first word is its code.
    code = str(error).partition(" ")[0]
    if code == "WRONGTYPE":
        return WrongType("a key in Redis has the wrong type. Run `millpond data check` to find the key.")
    return BusError(f"Redis rejected a command: {error}", brief=f"Redis rejected a command ({code[:40]})")
