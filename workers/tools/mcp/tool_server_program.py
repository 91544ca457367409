"""A tool server that is a program: JSON lines over standard input and output, with limits.

Not the library's own transport: that keeps a line of any length and logs whatever is no message, so that a program that
floods its output holds up everybody else's turns.
"""

import json
import os
import re
import signal
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from subprocess import DEVNULL, PIPE

import anyio
import mcp_types
from anyio import to_thread
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from daemon.model.event_stream import whole_json

LINE_MAX_BYTES = 8 * 1024 * 1024
"""Longest message of a server."""

FLOOD_MAX_BYTES = 32 * 1024 * 1024
FLOOD_MAX_LINES = 10_000
"""What a server may say between two messages of ours; one that says more is ended."""

KEYS_MAX = 10_000
"""Most keys in a message: reading so many takes 30 ms, in which nothing else happens, thread or no thread."""

READ_BYTES = 65_536
THREAD_BYTES = 65_536
"""Longer messages are read in a thread."""

WATCH_S = 0.25
"""How often is looked whether the program still runs."""

EXIT_S = 2.0
"""How long a program may take to end when its input is closed, and again when it is asked to."""

GONE_S = 2.0
"""How long a killed program may take to be gone, and its pipes to be closed: what is not closed by then is a leak."""

_ANSWER = re.compile(rb'"id"\s*:\s*([0-9]{1,15})\b')

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@dataclass(kw_only=True)
class ToolServerProgram:
    """What is started, and what is done when it is over."""

    command: Sequence[str]
    environment: Mapping[str, str]
    """Beside the few variables of ours that every program needs: no secret of ours is among those."""
    ended: Callable[[str], None]
    """Called when the program has ended, or has to be: why."""
    _bytes: int = field(default=0, init=False)
    _lines: int = field(default=0, init=False)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Streams]:
        """The program for the length of the block: what it says, and what it is told.

        Raises:
            OSError: it cannot be started.
        """
        process = await anyio.open_process(
            self.command,
            stdin=PIPE,
            stdout=PIPE,
            # Whatever is said there, nobody waits for a reader of it.
            stderr=DEVNULL,
            env={**get_default_environment(), **self.environment},
            start_new_session=True,
        )
        # No await from here to the block below, or a cancellation would leave the program alone.
        heard_in, heard_out = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        told_in, told_out = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with heard_out, told_in, anyio.create_task_group() as tg:
                tg.start_soon(self._hear, process, heard_in)
                tg.start_soon(self._tell, process, told_out)
                tg.start_soon(self._watch, process)
                try:
                    yield heard_out, told_in
                finally:
                    tg.cancel_scope.cancel()
        finally:
            heard_in.close()
            told_out.close()
            with anyio.CancelScope(shield=True):  # every wait in it has its limit
                await _end(process)

    async def _hear(self, process: Process, heard: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        why = "it stopped"
        async with heard:
            try:
                await self._lines_of(process, heard)
            except _Flood as error:
                why = str(error)
            except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
                why = f"the server's output can no longer be read: {type(error).__name__}"
            # Before the stream is closed: whoever waits for an answer learns of that, and asks why.
            self.ended(why)

    async def _lines_of(self, process: Process, heard: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
        begun = bytearray()
        with suppress(anyio.EndOfStream):
            while True:
                chunk = await process.stdout.receive(READ_BYTES)
                self._count(chunk)
                begun += chunk
                if len(begun) > LINE_MAX_BYTES:
                    raise _Flood(f"the server sent a line of more than {LINE_MAX_BYTES:,} bytes")
                if b"\n" in chunk:
                    *lines, begun = begun.split(b"\n")
                    for line in lines:
                        if (message := await _read(bytes(line))) is not None:
                            await heard.send(message)

    def _count(self, chunk: bytes) -> None:
        # Before anything is done with them: 65,000 empty lines are a chunk as well.
        self._bytes += len(chunk)
        self._lines += chunk.count(b"\n")
        if self._bytes > FLOOD_MAX_BYTES or self._lines > FLOOD_MAX_LINES:
            raise _Flood("the tool server writes too much output")

    async def _watch(self, process: Process) -> None:
        """Notice its end even when something that it started holds its output open."""
        while process.returncode is None:  # noqa: ASYNC110 - waiting for the process would wait for its output as well
            await anyio.sleep(WATCH_S)
        await anyio.sleep(WATCH_S)  # what it said last is still being read
        self.ended("it stopped")

    async def _tell(self, process: Process, told: MemoryObjectReceiveStream[SessionMessage]) -> None:
        assert process.stdin is not None  # noqa: S101 - it was opened as a pipe
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):  # it ended, which is heard
            async with told:
                async for message in told:
                    self._bytes = self._lines = 0
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await process.stdin.send(f"{text}\n".encode())


class _Flood(Exception):
    """It says more than anybody would read."""


async def _read(line: bytes) -> SessionMessage | None:
    """The message in a line; None for what is none, as programs print that know no better."""
    if not line.lstrip().startswith(b"{"):
        return None
    # Quotes inside a text are escaped, so these are the message's own keys.
    if len(line) > THREAD_BYTES and line.count(b'":') - line.count(b'\\":') > KEYS_MAX:
        raise _Flood(f"the server sent a message with more than {KEYS_MAX:,} keys")
    with suppress(ValueError, RecursionError):
        if len(line) > THREAD_BYTES:
            return await to_thread.run_sync(_message, line)
        return _message(line)
    return None


def _message(line: bytes) -> SessionMessage:
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return _mended(line)


def _mended(line: bytes) -> SessionMessage:
    """A message with halves of characters, or signs in its texts that JSON has as escapes only.

    Raises:
        ValueError: it is no message, and answers nothing.
    """
    try:
        found: object = json.loads(whole_json(line), strict=False)
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_python(found, by_name=False))
    except ValueError as error:
        answered = _ANSWER.search(line)
        if answered is None or b'"jsonrpc"' not in line:
            raise
        # Who waits for this answer would wait in vain.
        why = mcp_types.ErrorData(
            code=mcp_types.PARSE_ERROR, message=f"the server's response cannot be read: {error}"[:300]
        )
        return SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=int(answered[1]), error=why))


async def _end(process: Process) -> None:
    """End the program and all that it started: its input is closed, then it is asked, then it is killed."""
    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        with anyio.move_on_after(GONE_S if number == signal.SIGKILL else EXIT_S):
            if number is not None:
                # Its group, even when it has ended itself: what it left behind may hold its output open.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, number)
            await process.wait()
            if number is not None:
                break
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with anyio.move_on_after(GONE_S), suppress(ProcessLookupError):
        await process.aclose()
