"""The terminal of ``millpond run`` and ``millpond chat``: a screen if there is one, otherwise line by line."""

import os
import sys

import anyio
import structlog

from channels.conversation import Conversation
from channels.terminal.line_mode import BEYOND_TURN_S, LineMode
from channels.terminal.send_message import own_session, sender_of
from channels.terminal.terminal_style import look_of
from daemon.process import Process

_log = structlog.get_logger()


async def serve(process: Process, *, session: str = "", task_status: anyio.abc.TaskStatus[None]) -> None:
    """Converse in ``session`` (default: the one called as the user); when that ends, the process stops.

    Raises:
        ForeignSession, BadSessionKey, ConfigError: it cannot be this terminal's session.
        InboundError: lines of a pipe were not accepted; the others are answered.
        TimeoutError: answers to lines of a pipe did not come.
        BusUnavailable: Redis was away at the start.
    """
    key = own_session(process.config, session)
    conversation = await Conversation.open(process, key, sender=sender_of(process.config, key))
    on_screen = sys.stdin.isatty() and sys.stdout.isatty() and look_of(os.environ) != "bare"
    task_status.started()
    _log.info("terminal.started", session=conversation.session, state="screen" if on_screen else "pipe")
    try:
        async with anyio.create_task_group() as tg:
            if on_screen:
                await _on_screen(process, conversation)
            else:
                tg.start_soon(_end_when_stopping, process, tg.cancel_scope)
                await _piped(process, conversation)
            tg.cancel_scope.cancel()
    finally:
        # Also after an error: what else runs in this process ends in its own orderly way.
        process.stopping.set()


async def _on_screen(process: Process, conversation: Conversation) -> None:
    from channels.terminal.screen import Screen  # noqa: PLC0415 - prompt_toolkit takes 0.1 s, for nothing in a pipe

    sys.stdout.write(f"Session {conversation.session}. Ctrl-C interrupts an answer. Ctrl-D or /quit exits.\n")
    history = process.data_dir / "terminal_history"
    history.touch(mode=0o600)  # what a person typed is nobody else's
    history.chmod(0o600)
    screen = Screen(conversation, history=history, stopping=process.stopping)
    await screen.run()
    if conversation.pending and not process.stopping.is_set():
        sys.stderr.write(
            "Finishing the answer. Press Ctrl-C to exit immediately. The next worker that starts will finish the "
            "answer.\n"
        )


async def _piped(process: Process, conversation: Conversation) -> None:
    piped = LineMode(
        conversation,
        silence_s=process.config.agent.turn_timeout_s + BEYOND_TURN_S,
        max_bytes=process.config.queue.message_max_bytes,
    )
    await piped.run()


async def _end_when_stopping(process: Process, scope: anyio.CancelScope) -> None:
    await process.stopping.wait()
    scope.cancel()
