"""Scripts that serve several requests at once: all requests of this and the next loop tick share one run.

A script is one atomic step: it checks everything first and writes after, reads the time from the server, and is
harmless when it arrives twice or late.

Such a script takes keys and arguments that are the same for all, then the keys of each, what each asks, packed in one
list, and last the long texts of each. It returns a list of results. One that fails among others says ``ALONE`` in its
place; it is asked for by itself, so that its error is its own.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import msgspec
from anyio.lowlevel import cancel_shielded_checkpoint

from daemon.bus.pipeline_connection import Part
from daemon.bus.streaming_connection import WOKEN_AT_ONCE
from daemon.concurrency import Slots
from daemon.errors import BusError, BusUnavailable

# Lua scripts, which are stored in the folder ``lua`` beside their Python callers.

pack: Callable[[Any], bytes] = msgspec.msgpack.Encoder().encode
"""Values as one argument of a script, which has them by ``cmsgpack.unpack``; as arguments of their own each costs
several times as much. No bytes: the server knows only text before Redis 7.

Raises:
    UnicodeEncodeError: a text is no valid Unicode.
"""


@dataclass(frozen=True)  # no struct: chaos runs change the text of a script
class Script:
    """The text of a script, and the hash that calls it."""

    name: str
    text: bytes
    sha: bytes


def load_script(caller: str, name: str, *, with_parts: tuple[str, ...] = ()) -> Script:
    """The file ``lua/name`` beside ``caller`` (its ``__file__``), preceded by the functions of ``with_parts``."""
    folder = Path(caller).parent / "lua"
    text = b"\n".join((folder / part).resolve().read_bytes() for part in (*with_parts, name))
    return Script(name=name, text=text, sha=hashlib.sha1(text, usedforsecurity=False).hexdigest().encode())


MOST = 32
"""So many share one script. The server does nothing else for half a millisecond or more, and whoever is answered waits
for all of them: with twice as many, server and process wait for each other more than they save."""

ALONE = b"alone"
"""The result of one that has to be asked for by itself."""

Call = Callable[[Script, Sequence[str], Sequence[Part]], Awaitable[list[Any]]]


@dataclass(frozen=True, eq=False)
class Shared:
    """Keys and arguments that are the same for all requests. Requests with the same object share a script."""

    keys: tuple[str, ...]
    args: tuple[Part, ...]


class ScriptRequest(NamedTuple):
    """One request."""

    keys: tuple[str, ...]
    args: tuple[Any, ...]
    """Numbers, texts, and lists and dictionaries of such: what can be packed."""
    bodies: tuple[bytes, ...] = ()
    """What is long, each an argument of its own: packed, the server would copy and hash every byte of it twice."""


def arguments(shared: Shared, asked: Sequence[ScriptRequest]) -> tuple[list[str], list[Part]]:
    """The keys and arguments of a script for several requests.

    Raises:
        UnicodeEncodeError: a text is no valid Unicode.
    """
    keys = chain(shared.keys, chain.from_iterable(one.keys for one in asked))
    # One list for all: the server fills many small ones at some cost.
    packed = pack(list(chain.from_iterable(one.args for one in asked)))
    return list(keys), [*shared.args, packed, *chain.from_iterable(one.bodies for one in asked)]


@dataclass(eq=False, slots=True)
class _Batch:
    script: Script
    shared: Shared
    asked: list[ScriptRequest] = field(default_factory=list[ScriptRequest])
    answers: list[asyncio.Future[Any]] = field(default_factory=list[asyncio.Future[Any]])

    async def settle(self, results: Sequence[Any]) -> None:
        """Give each request its result or an exception, unless its caller was cancelled."""
        for number, (answer, result) in enumerate(zip(self.answers, results, strict=True), 1):
            if not answer.done():
                answer.set_result(result)
            if number % WOKEN_AT_ONCE == 0:
                await cancel_shielded_checkpoint()


class ScriptBatch:
    """Collects requests. ``run`` must be running in a task group, or ``ask`` is not answered."""

    def __init__(self, call: Call) -> None:
        """``call`` gives the result of a script."""
        self._call = call
        self._open: dict[tuple[bytes, Shared], _Batch] = {}
        self._future: Callable[[], asyncio.Future[Any]]
        self._work: Slots[_Batch] = Slots(self._carry_out)
        self._closed = False

    async def run(self) -> None:
        """Run scripts, for ever."""
        try:
            async with anyio.create_task_group() as tasks:
                self._future = asyncio.get_running_loop().create_future
                self._work.open(tasks)
                await anyio.sleep_forever()
        finally:
            self._closed = True

    async def ask(self, script: Script, shared: Shared, own: ScriptRequest) -> Any:
        """The result of ``script`` for ``own``; errors as for ``Bus.run``."""
        if self._closed:
            raise BusUnavailable("this process has closed its connection to Redis")
        name = script.sha, shared
        batch = self._open.get(name)
        if batch is None:
            batch = self._open[name] = _Batch(script, shared)
            self._work.give(batch)  # it begins when the next tick is over
        answer = self._future()
        batch.asked.append(own)
        batch.answers.append(answer)
        if len(batch.asked) == MOST:
            del self._open[name]
        result = await answer
        if isinstance(result, BaseException):
            raise result
        return result

    async def _carry_out(self, batch: _Batch) -> None:
        if len(batch.asked) < MOST:
            # Who is woken in the next tick, of ``WOKEN_AT_ONCE`` in each, goes with it.
            await cancel_shielded_checkpoint()
        name = batch.script.sha, batch.shared
        if self._open.get(name) is batch:
            del self._open[name]
        results: Sequence[Any] = [BusUnavailable("this process is closing its connection to Redis")] * len(batch.asked)
        try:
            results = await self._results(batch.script, batch.shared, batch.asked)
        finally:
            await batch.settle(results)

    async def _results(self, script: Script, shared: Shared, asked: Sequence[ScriptRequest]) -> Sequence[Any]:
        try:
            results = await self._call(script, *arguments(shared, asked))
        except BusError as error:
            return [error] * len(asked)
        except UnicodeEncodeError as error:
            # Somebody's argument cannot be sent: that must not be the others' fault.
            results = [ALONE] * len(asked) if len(asked) > 1 else [error]
        if ALONE in results:
            await self._ask_alone(script, shared, asked, results)
        return results

    async def _ask_alone(
        self, script: Script, shared: Shared, asked: Sequence[ScriptRequest], results: list[Any]
    ) -> None:
        """Put into ``results`` what becomes of those that failed among others; none of them waits for another."""

        async def ask(number: int) -> None:
            [results[number]] = await self._results(script, shared, [asked[number]])

        async with anyio.create_task_group() as tasks:
            for number, result in enumerate(results):
                if result == ALONE:
                    tasks.start_soon(ask, number)
