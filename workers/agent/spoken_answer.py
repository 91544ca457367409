"""The spoken form of an answer to a voice message, stored among the scope's files and sent as its attachment.

It never fails a turn: an answer that cannot be spoken is sent as text only.
"""

import re
from functools import partial
from typing import TYPE_CHECKING

import anyio
import structlog

from daemon.config import SpeechConfig, speech_of
from daemon.errors import MillpondError, brief
from daemon.events import Attachment
from daemon.inbox import speech_path_of
from daemon.model import Answer, is_charged, speech_synthesizer
from daemon.process import Process
from daemon.usage import Estimate
from workers.agent.commands.command_outcome import is_silent
from workers.agent.file_intake import keep, kept
from workers.agent.turn_progress import Turn, inbounds
from workers.paid_calls import account
from workers.tools.tool_result import in_thread

if TYPE_CHECKING:
    from daemon.model.speech import SpeechSynthesizer

WAIT_S = 10.0
"""How long a call waits for the limit that other calls in progress might use up, and for the disk."""

SPEECH_MAX_BYTES = 20_000_000
"""Largest recording, as in ``daemon.model.speech``."""

ENDINGS = {"opus": "ogg", "mp3": "mp3"}

_FENCE = re.compile(r"^(```|~~~).*?(?:^\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_LINE_MARK = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\|?[ \t:|-]+\|?$)", re.MULTILINE)
_MARK = re.compile(r"\*{1,3}|~~|`+|\|")

_log = structlog.get_logger()


class Voice:
    """Speaks the answers of one process's turns."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._synthesizers: dict[str, SpeechSynthesizer] = {}

    async def speak(self, turn: Turn, answer: Answer) -> None:
        """Have ``turn`` end with ``answer`` as a recording too, if it answers a voice message and the bot speaks."""
        config = speech_of(self._process.bot(turn.first.bot))
        files = [file for said in inbounds(turn.covered) for file in said.attachments if not file.sender_id]
        is_voice = any(file.kind == "voice" or file.spoken for file in files)
        if config is None or not is_voice or is_silent(turn.first, answer.text):
            return
        text = spoken(answer.text)
        if not text or len(text) > config.max_chars:
            _log.info("speech.skipped", reason=f"{len(text)} characters")
            return
        with anyio.move_on_after(config.timeout_s + WAIT_S) as scope:
            try:
                turn.spoken = await self._spoken(turn, text, config)
            except MillpondError as error:
                _log.warning("speech.failed", reason=f"{type(error).__name__}: {brief(error)}")
        if scope.cancelled_caught:
            _log.warning("speech.failed", reason="timeout")

    async def aclose(self) -> None:
        """Close the connections to the servers."""
        for each in self._synthesizers.values():
            await each.aclose()

    async def _spoken(self, turn: Turn, text: str, config: SpeechConfig) -> tuple[Attachment, ...]:
        began, folders = self._process.clock.monotonic(), turn.context_of("").folders
        day, ending = turn.first.received_at[:10], ENDINGS[config.format]
        path = speech_path_of(turn.claim.session, turn.claim.begun.head, day, text, ending=ending)
        content = await in_thread(partial(kept, folders, path, SPEECH_MAX_BYTES))
        if content is None:
            content = await self._bought(turn, text, config)
            await in_thread(partial(keep, folders, path, content))
        _log.info("speech.made", took_s=round(self._process.clock.monotonic() - began, 3))
        place = folders.place(path)
        file = Attachment(
            kind="voice", name=f"answer.{ending}", size_bytes=len(content), path=folders.in_workspace(place)
        )
        return (file,)

    async def _bought(self, turn: Turn, text: str, config: SpeechConfig) -> bytes:
        """The recording; the turn pays for it."""
        if turn.first.bot not in self._synthesizers:
            self._synthesizers[turn.first.bot] = await speech_synthesizer(config, self._process.clock)
        server = self._synthesizers[turn.first.bot]
        usage = server.usage_of(text)
        used = Answer(text="", usage=usage, model=server.name)
        needs = Estimate(
            model=server.name,
            tokens_in=usage.tokens_in,
            nano_in=usage.cost_nano,
            currency=usage.currency,
            lasts_s=server.timeout_s,
        )
        calls = turn.progress.used
        last = next(reversed(calls), "")
        try:
            async with turn.payer.call(needs, calls, wait_s=WAIT_S) as charge:
                try:
                    content = await server.speech_of(text)
                except BaseException as error:
                    if is_charged(error):
                        account(charge, used)
                    raise
                account(charge, used)
        finally:
            # The messages count for the model that wrote the answer, see ``Progress.answered``.
            if last:
                calls[last] = calls.pop(last)
        return content


def spoken(text: str) -> str:
    """``text`` without Markdown's marks, addresses of links and blocks of code, which nobody wants to hear."""
    for pattern, left in ((_FENCE, ""), (_LINK, r"\1"), (_LINE_MARK, ""), (_MARK, "")):
        text = pattern.sub(left, text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()
