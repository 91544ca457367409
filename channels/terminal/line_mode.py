"""The conversation without a screen: a message a line of standard input, its answer on standard output."""

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing

import anyio
from anyio import to_thread

from channels.conversation import Conversation, ConversationEntry, settled_by
from channels.terminal.terminal_style import for_output
from daemon.errors import BusUnavailable, InboundError, SessionFull
from daemon.events import Notice
from daemon.printable import printable

PENDING_MAX = 100
"""Messages sent before their answers arrive; further lines stay in the pipe."""

BEYOND_TURN_S = 60.0
"""Limit for complete silence, in addition to the longest turn."""

AWAY_PAUSE_S = 0.5
"""Pause before a refused line is sent again."""

READ_BYTES = 65_536


class LineMode:
    """One run from the first line to the last answer."""

    def __init__(self, conversation: Conversation, *, silence_s: float, max_bytes: int) -> None:
        self._conversation = conversation
        self._silence_s = silence_s
        self._max_bytes = max_bytes
        self._changed = anyio.Event()
        self._refused = 0

    async def run(self) -> None:
        """Send every line and print every answer.

        Raises:
            InboundError: some lines were not accepted; each was named on standard error.
            TimeoutError: answers are outstanding, and nothing was heard for too long.
            BusUnavailable: Redis was away for as long.
        """
        async with anyio.create_task_group() as tg:
            tg.start_soon(self._show)
            async with aclosing(lines(sys.stdin.fileno(), self._max_bytes)) as numbered:
                async for number, line in numbered:
                    await self._send(number, line)
            await self._until_pending(0)
            tg.cancel_scope.cancel()
        if self._refused:
            raise InboundError(
                f"{self._refused} input lines were not accepted (see the errors above). All others were answered."
            )

    async def _send(self, number: int, line: bytes) -> None:
        try:
            # A line that was cut is refused for its length, not for the character that was cut with it.
            text = line.decode(errors="replace" if len(line) > self._max_bytes else "strict")
            # One name for all tries: an outage can hide that the line was accepted.
            name, until = secrets.token_hex(8), anyio.current_time() + self._silence_s
            while text.strip() and not await self._accepted(text, name, until):
                pass
        except UnicodeDecodeError:
            self._refuse(number, "this input line is not encoded in UTF-8. Convert it to UTF-8.")
        except InboundError as error:
            self._refuse(number, str(error))

    async def _accepted(self, text: str, name: str, until: float) -> bool:
        await self._until_pending(PENDING_MAX - 1)
        try:
            await self._conversation.send(text, message_id=name)
        except SessionFull as full:
            _say(str(full))
            await anyio.sleep(full.retry_after_s)
            return False
        except BusUnavailable:
            # What shows the answers says so as well; the lines behind this one can wait in the pipe.
            if anyio.current_time() >= until:
                raise
            await anyio.sleep(AWAY_PAUSE_S)
            return False
        return True

    def _refuse(self, number: int, reason: str) -> None:
        self._refused += 1
        _say(f"line {number}: {reason}")

    async def _until_pending(self, count: int) -> None:
        while len(self._conversation.pending) > count:
            self._changed = anyio.Event()
            with anyio.move_on_after(self._silence_s) as silence:
                await self._changed.wait()
            if silence.cancelled_caught:
                raise TimeoutError(
                    f"no answer arrived for {self._silence_s:g} s. {len(self._conversation.pending)} messages "
                    "are stored and will be answered. Run `millpond doctor` to find the cause."
                )

    async def _show(self) -> None:
        async with aclosing(self._conversation.events()) as events:
            async for shown in events:
                if isinstance(shown, ConversationEntry) and self._conversation.sent.intersection(settled_by(shown)):
                    _print(shown.text)
                elif isinstance(shown, Notice):
                    _say(shown.text)
                self._changed.set()


async def lines(descriptor: int, max_bytes: int) -> AsyncGenerator[tuple[int, bytes], None]:
    """The lines of a file, pipe or terminal, numbered from 1, without their ends; waiting for one blocks nothing.

    A line longer than ``max_bytes`` is cut a byte behind that, so that it is refused as too large and not kept whole.
    """
    regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
    kept, number = b"", 0
    while True:
        if not regular:
            await _readable(descriptor)
        chunk = await to_thread.run_sync(os.read, descriptor, READ_BYTES)
        *whole, rest = (kept + chunk).split(b"\n")
        for line in whole:
            number += 1
            yield number, line.rstrip(b"\r")
        kept = rest[: max_bytes + 1]
        if not chunk:
            break
    if kept:
        yield number + 1, kept.rstrip(b"\r")


async def _readable(descriptor: int) -> None:
    with contextlib.suppress(PermissionError):  # epoll takes no /dev/null: what it refuses never blocks
        await anyio.wait_readable(descriptor)


def _print(text: str) -> None:
    sys.stdout.write(f"{for_output(text)}\n")
    sys.stdout.flush()


def _say(text: str) -> None:
    sys.stderr.write(f"millpond: {printable(text)}\n")
    sys.stderr.flush()
