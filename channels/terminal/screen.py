"""The interactive conversation: messages scroll by, and the answer being written is shown above the input line.

prompt_toolkit owns the terminal while a line is typed. What is printed goes above its line; the unfinished answer is
part of its prompt, so that it can grow, start afresh and give way to the log's entry without a trace.
"""

import os
from contextlib import aclosing
from pathlib import Path

import anyio
from anyio import to_thread
from prompt_toolkit import PromptSession
from prompt_toolkit.data_structures import Size
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText, FormattedText, merge_formatted_text
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.renderer import print_formatted_text
from prompt_toolkit.styles import Style

from channels.conversation import Conversation, Said, Shown, Writing
from channels.terminal.completion import CommandCompleter
from channels.terminal.input_history import TypedHistory
from channels.terminal.interrupt import Interrupt
from channels.terminal.markdown import rendered, wrapped
from channels.terminal.screen_draft import Draft
from channels.terminal.terminal_style import Look, look_of
from daemon.errors import MillpondError
from daemon.events import ToolEvent

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
        self._draft = Draft(self._look)
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
            self._print(
                DIM, f"the message was not sent, because {UNSENT_MAX} earlier messages are still waiting to be sent"
            )

    async def _send(self) -> None:
        async for line in self._to_send:
            try:
                await self._conversation.send(line)
            except MillpondError as error:
                self._print(DIM, f"not sent: {error}")

    async def _follow(self) -> None:
        async with aclosing(self._conversation.events()) as events:
            async for shown in events:
                if isinstance(shown, Writing):
                    self._writing = shown.text
                else:
                    await self._show(shown, mine=isinstance(shown, Said) and shown.entry.id in self._conversation.sent)
                self._session.app.invalidate()

    async def _show(self, shown: Shown, *, mine: bool) -> None:
        if isinstance(shown, Writing):
            return
        if isinstance(shown, ToolEvent):
            # That it began is told by the entry that calls it.
            if shown.state == "failed":
                self._print(DIM, f"· {shown.name} failed")
        elif not isinstance(shown, Said):
            self._print(DIM, shown.text)
        elif shown.role == "assistant":
            await self._answered(shown)
        elif shown.role == "user" and not mine:
            self._print("bold", f"{shown.entry.sender}{PROMPT}{shown.text}")

    async def _answered(self, one: Said) -> None:
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
