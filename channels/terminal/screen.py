"""The interactive conversation: messages scroll by, and the answer being written is shown above the input line.

prompt_toolkit owns the terminal while a line is typed. What is printed goes above its line; the unfinished answer is
part of its prompt, so that it can grow, start afresh and give way to the log's entry without a trace.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Literal

import anyio
from anyio import to_thread
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText, FormattedText, merge_formatted_text
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.renderer import print_formatted_text
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from channels.conversation import AnswerProgress, Conversation, ConversationEntry, Shown
from channels.terminal.markdown import blocks, rendered, wrapped
from channels.terminal.terminal_style import Look, look_of
from daemon.bus import COMMANDS
from daemon.errors import MillpondError
from daemon.events import ToolEvent
from daemon.printable import printable

# Tab completes commands: a word with ``/`` that a line begins with.

NAMES = tuple(name for name, command in COMMANDS.items() if name == f"/{command}")
"""What a person at a terminal writes; other spellings are those of platforms."""


class CommandCompleter(Completer):
    """Completes Millpond's commands, and those of the terminal's own."""

    def __init__(self, own: Sequence[str]) -> None:
        self._names = (*NAMES, *own)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The commands that begin like what stands before the cursor."""
        typed = document.text_before_cursor
        if typed.startswith("/"):
            for name in self._names:
                if name.startswith(typed.lower()):
                    yield Completion(name, start_position=-len(typed))


# What was typed before, for the arrow keys: all but commands that ask to forget something.


class TypedHistory(FileHistory):
    """A history in a file that does not keep what somebody wants gone."""

    def store_string(self, string: str) -> None:
        """Keep a line, unless it begins with ``/forget``."""
        if not string.lstrip().lower().startswith("/forget"):
            super().store_string(string)


# What Ctrl-C means: end the turn, else ask once more, else leave. Pure.

Meaning = Literal["stop", "ask", "quit"]


class Interrupt:
    """Remembers how often Ctrl-C was pressed since something was last written."""

    def __init__(self) -> None:
        self._stopped = False
        self._asked = False

    def press(self, *, running: bool) -> Meaning:
        """What this one means; ``running`` while a turn of the session is answered.

        A turn is stopped once: when that has no effect (no worker lives), two more still lead out.
        """
        if running and not self._stopped:
            self._stopped = True
            return "stop"
        if not self._asked:
            self._asked = True
            return "ask"
        return "quit"

    def forget(self) -> None:
        """Something was written, or an answer came: begin anew."""
        self._stopped = self._asked = False


# The answer being written, as the screen shows it: its finished blocks are rendered, the last one is plain. Pure.

BLOCK_MAX_CHARS = 10_000
"""Characters of the unfinished end that are read and wrapped with every piece, some 20 ms. Behind a longer block the
rest of a draft stays plain."""


class ScreenDraft:
    """The end of one answer at a time. Each block is rendered once, so that a piece of a long answer costs little."""

    def __init__(self, look: Look) -> None:
        self._look: Look = look
        self._columns = 0
        self._done = ""
        """The beginning of the text that is rendered: whole blocks."""
        self._lines: list[str] = []

    def end(self, text: str, *, columns: int, rows: int) -> str:
        """The last ``rows`` lines of ``text``, of ``columns`` cells at most; a beginning seen before is kept."""
        if columns != self._columns or not text.startswith(self._done):
            self._columns, self._done, self._lines = columns, "", []
        rest = text[len(self._done) :]
        # Whatever is written next may still belong to the last block.
        if len(rest) <= BLOCK_MAX_CHARS and len(starts := blocks(rest)) > 1:
            finished, rest = rest[: starts[-1]], rest[starts[-1] :]
            self._done += finished
            self._lines += [*rendered(finished, columns=columns, look=self._look).split("\n"), ""]
        shown = tail(printable(rest[-BLOCK_MAX_CHARS:]), columns=columns, rows=rows).split("\n")
        return "\n".join([*self._lines, *shown][-rows:])


def tail(text: str, *, columns: int, rows: int) -> str:
    """The last ``rows`` lines of ``text``, wrapped at ``columns`` cells: a prompt does not wrap by itself."""
    shown: list[str] = []
    for line in reversed(text.split("\n")):
        shown[:0] = _wrapped(line[-BLOCK_MAX_CHARS:], columns)
        if len(shown) >= rows:
            break
    return "\n".join(shown[-rows:])


def _wrapped(line: str, columns: int) -> list[str]:
    parts, start, cells = [""], 0, 0
    for at, char in enumerate(line):
        width = get_cwidth(char)
        if cells + width > columns:
            parts[-1] = line[start:at]
            parts.append("")
            start, cells = at, 0
        cells += width
    parts[-1] = line[start:]
    return parts


EARLIER = 10
"""Messages of the session that are shown when the conversation is entered."""

UNSENT_MAX = 100
"""Messages typed while Redis is unavailable; more are refused."""

PROMPT = "> "
DIM = "ansibrightblack"
QUIT = "/quit"


class Screen:
    """One conversation in one terminal."""

    def __init__(self, conversation: Conversation, *, history: Path, stopping: anyio.Event) -> None:
        self._conversation = conversation
        self._stopping = stopping
        self._interrupt = Interrupt()
        self._writing = ""
        self._look: Look = look_of(os.environ)
        self._draft = ScreenDraft(self._look)
        self._typed, self._to_send = anyio.create_memory_object_stream[str](UNSENT_MAX)
        self._session: PromptSession[str] = PromptSession(
            message=self._prompt,
            history=TypedHistory(str(history)),
            key_bindings=self._keys(),
            completer=CommandCompleter([QUIT]),
            complete_while_typing=False,
            # Rows for a menu would stand empty below the line at all times.
            reserve_space_for_menu=0,
            # What was typed is printed by us: the prompt holds the unfinished answer, which must not stay behind.
            erase_when_done=True,
        )

    async def run(self) -> None:
        """Converse until the person leaves or the process stops."""
        with patch_stdout():
            for one in await self._conversation.earlier(EARLIER):
                await self._show(one, mine=False)
            async with anyio.create_task_group() as tg:
                tg.start_soon(self._follow)
                tg.start_soon(self._send)
                tg.start_soon(self._leave_when_stopping)
                await self._ask()
                tg.cancel_scope.cancel()
        self._typed.close()
        self._to_send.close()

    async def _ask(self) -> None:
        while not self._stopping.is_set():
            try:
                # SIGINT stays with the process: here Ctrl-C is a key.
                line = await self._session.prompt_async(handle_sigint=False, set_exception_handler=False)
            except EOFError:
                return
            if line.strip() == QUIT:
                return
            if line.strip():
                self._interrupt.forget()
                self._echo(line)
                self._hand_in(line)

    async def _leave_when_stopping(self) -> None:
        await self._stopping.wait()
        while True:
            app = self._session.app
            if app.is_running and app.future is not None and not app.future.done():
                app.exit(exception=EOFError())
            await anyio.sleep(0.05)  # it may be between two lines just now

    def _hand_in(self, line: str) -> None:
        try:
            self._typed.send_nowait(line)
        except anyio.WouldBlock:
            self._print(DIM, f"the message was not sent, because {UNSENT_MAX} earlier messages have not been sent yet")

    async def _send(self) -> None:
        async for line in self._to_send:
            try:
                await self._conversation.send(line)
            except MillpondError as error:
                self._print(DIM, f"not sent: {error}")

    async def _follow(self) -> None:
        async with aclosing(self._conversation.events()) as events:
            async for shown in events:
                if isinstance(shown, AnswerProgress):
                    self._writing = shown.text
                else:
                    await self._show(
                        shown, mine=isinstance(shown, ConversationEntry) and shown.entry.id in self._conversation.sent
                    )
                self._session.app.invalidate()

    async def _show(self, shown: Shown, *, mine: bool) -> None:
        if isinstance(shown, AnswerProgress):
            return
        if isinstance(shown, ToolEvent):
            # That it began is told by the entry that calls it.
            if shown.state == "failed":
                self._print(DIM, f"· {shown.name} failed")
        elif not isinstance(shown, ConversationEntry):
            self._print(DIM, shown.text)
        elif shown.role == "assistant":
            await self._answered(shown)
        elif shown.role == "user" and not mine:
            self._print("bold", f"{shown.entry.sender}{PROMPT}{shown.text}")

    async def _answered(self, one: ConversationEntry) -> None:
        if one.text.strip():
            columns = self._size().columns
            # In a thread: a long answer takes a second, and this process may hold leases.
            text = await to_thread.run_sync(lambda: ANSI(rendered(one.text, columns=columns, look=self._look)))
            self._writing = ""
            self._print_formatted(text)
        self._writing = ""
        if one.tools:
            self._print(DIM, f"· {', '.join(one.tools)}")
        if one.entry.answers:
            self._interrupt.forget()

    def _echo(self, line: str) -> None:
        self._print("bold", f"{PROMPT}{line}")

    def _size(self) -> Size:
        return self._session.app.output.get_size()

    def _prompt(self) -> AnyFormattedText:
        size = self._size()
        shown = self._draft.end(self._writing, columns=size.columns, rows=max(size.rows // 2, 1))
        return merge_formatted_text([ANSI(f"{shown}\n" if shown else ""), [("bold", PROMPT)]])

    def _print(self, style: str, text: str) -> None:
        """Print above the line being typed."""
        self._print_formatted(FormattedText([(style, wrapped(text, columns=self._size().columns))]))

    def _print_formatted(self, text: AnyFormattedText) -> None:
        """Print above the line being typed.

        Not by ``run_in_terminal``: that leaves raw mode for a moment, in which Ctrl-C would be a signal to the process.
        """
        app = self._session.app
        if app.is_running:
            app.renderer.erase()
        print_formatted_text(app.output, merge_formatted_text([text, "\n"]), Style([]))
        if app.is_running:
            app.renderer.reset()
            app.renderer.request_absolute_cursor_position()
            app.invalidate()

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        def pressed(event: KeyPressEvent) -> None:
            self._interrupted(event)

        keys.add("c-c")(pressed)
        return keys

    def _interrupted(self, event: KeyPressEvent) -> None:
        meaning = self._interrupt.press(running=bool(self._conversation.pending or self._writing))
        if meaning == "stop":
            self._hand_in("/stop")
        elif meaning == "ask":
            event.current_buffer.reset()
            self._print(DIM, "(Ctrl-C again to quit)")
        else:
            event.app.exit(exception=EOFError())
