"""Files of a turn's messages: fetched, stored among the scope's files, and described or shown to the model.

This is part of the turn, so that a stop or a lost lease ends it. It never fails a turn: a file that cannot be fetched
becomes a line that says so. A turn without files is not changed.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import anyio
import structlog

from daemon.config import transcription_of
from daemon.durable import write_whole
from daemon.errors import ChannelError, ModelError, SendRefused, ToolError, brief
from daemon.events import Attachment, Inbound, LogEntry
from daemon.inbox import overheard_path_of, path_of
from daemon.model import Answer, is_charged, transcriber
from daemon.process import Process
from daemon.services import FETCH, load
from daemon.usage import Estimate, LimitReached
from workers.agent.prompt.user_messages import (
    PICTURE_MAX_BYTES,
    PICTURES_MAX,
    line_of,
    one_line,
    own,
    picture,
    unbracketed,
)
from workers.agent.turn_progress import Turn, inbounds
from workers.paid_calls import account
from workers.tools import FileAccess
from workers.tools.file_access import changing, whole
from workers.tools.registry import READ_FILE_NAME
from workers.tools.tool_result import in_thread

if TYPE_CHECKING:
    from daemon.model.speech import Transcriber


# One file of a message, and its description for the model. Pure.

INLINE_MAX_CHARS = 20_000
"""Longest text that is included in the message itself, for a bot without a tool to read files."""

REASON_MAX_CHARS = 200


Place = tuple[str, int, int]
"""ID of the message, index of the overheard message (``ITSELF``: the message's own file), index of the file."""

ITSELF = -1


@dataclass(kw_only=True)
class IncomingFile:
    """A file, and its outcome."""

    file: Attachment
    """As the channel describes it."""
    path: str
    """Its path among the files of its scope."""
    place: Place
    told: str = ""
    """The line about it in the message; empty while it is not processed."""
    picture: bytes = b""
    """The part of a message that shows it, JSON; empty if it is not a picture."""

    def fail(self, reason: object) -> None:
        """Describe why it is missing."""
        self.told = self._line(self.file.size_bytes, f": {unbracketed(one_line(str(reason), REASON_MAX_CHARS))}")

    def heard(self, text: str, content: bytes, *, saved: bool, can_read: bool) -> None:
        """Include the transcription of a recording; of a file that is no voice message, also where it is."""
        if not text:
            self.told = line_of(self.file, ": contains no speech")
        elif self.file.kind == "voice":
            self.told = f"[voice message] {own(text)}"
        else:
            self.tell(content, saved=saved, can_read=can_read, more=", transcribed")
            self.told += f" {own(text)}"

    def tell(self, content: bytes, *, saved: bool, can_read: bool, more: str = "") -> None:
        """Tell of a file that is there.

        Args:
            content: of the file.
            saved: whether it is kept among the scope's files.
            can_read: whether the bot has a tool that reads them; if not, a short text stands in the message.
            more: what else there is to tell.
        """
        if self.file.kind == "image":
            self.picture = picture(content)
        where = f", saved as {self.path}" if saved and can_read else ""
        self.told = self._line(len(content), f"{where}{more}")
        text = "" if can_read or self.file.kind != "document" else _text_in(content)
        if text:
            self.told += f"\n{own(text)}"

    def _line(self, size_bytes: int, more: str) -> str:
        size = f", {_shown_size(size_bytes)}" if size_bytes else ""
        return line_of(self.file, f"{size}{more}")


def _text_in(content: bytes) -> str:
    """A short text; empty for other content."""
    if len(content) > 4 * INLINE_MAX_CHARS or b"\0" in content:
        return ""
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return ""
    return text if len(text) <= INLINE_MAX_CHARS else ""


def _shown_size(size_bytes: int) -> str:
    if size_bytes < 1_000:
        return f"{size_bytes} bytes"
    if size_bytes < 1_000_000:
        return f"{size_bytes / 1_000:.0f} kB"
    return f"{size_bytes / 1_000_000:.1f} MB"


# Stores the files of messages among the files of their scope. All functions block.


def kept(folders: FileAccess, path: str, max_bytes: int) -> bytes | None:
    """The content of a file that was put there before; None: it was not, or it is no file of ours."""
    place = folders.place(path)
    try:
        with folders.opened(place) as descriptor:
            return whole(descriptor, place, max_bytes)
    except ToolError:
        return None


def keep(folders: FileAccess, path: str, content: bytes) -> None:
    """Put a file there.

    Raises:
        ToolError: nothing can be written there.
    """
    place = folders.place(path)
    with changing(folders, place, make=True) as folder:
        write_whole(folder, place.names[-1], content)


WITHIN_S = 60.0
"""Time limit for fetching all files of a turn's messages; transcription has its own limit."""

FETCH_S = 30.0
"""One try at fetching one file: 20 MB at 6 Mbit/s."""

OVERHEARD_MAX = 3
"""Most pictures, recordings and documents each that are fetched of messages that were not addressed to the bot, for
each message that was."""

OVERHEARD_MAX_BYTES = 10_000_000
"""Largest such recording or document: nobody asked for it, and the turn waits for it."""

FILES_MAX = 20
"""Most files of one turn: two albums."""

AT_ONCE = 8
"""Files that a process handles at the same time: each is held in memory."""

TRIES = 3
PAUSE_S, PAUSE_MAX_S = 0.5, 10.0
"""Delay after a temporary refusal, doubled each time; a longer delay that the platform asks for counts."""

TEXT_MAX_BYTES = 1_000_000
"""Largest stored transcription of a voice message."""

Fetch = Callable[..., Awaitable[bytes]]
"""See ``daemon.services.FETCH``."""

_log = structlog.get_logger()


class FileIntake:
    """Fetches and stores the files for the turns of one process."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._places = anyio.Semaphore(AT_ONCE)
        self._transcribers: dict[str, Transcriber] = {}
        self._opening = anyio.Lock()

    async def take_in(self, turn: Turn) -> None:
        """Fetch the files of the messages of ``turn``. Its entries describe them, its requests show the pictures."""
        said, vision = inbounds(turn.covered), turn.kit.prompts.bot.model.vision
        files = [each for inbound in said for each in _own_files(inbound)]
        own = {each.file.source for each in files}
        files += [
            each for inbound in said for wanted in self._of_interest(turn) for each in _overheard(inbound, wanted, own)
        ]
        if not files:
            return
        # The record of a predecessor already has the outcomes, so only the pictures are needed.
        again = bool(turn.progress.step)
        reason = await self._all_within(turn, files, again=again)
        if not again:
            turn.progress.entries = await _entries(turn, files, reason)
        if vision:
            turn.requests.show([each.picture for each in files if each.picture][:PICTURES_MAX])
        _log.info("attachments.taken", count=len(files), took_s=round(self._process.clock.monotonic() - turn.began, 3))

    def _of_interest(self, turn: Turn) -> Iterator[Callable[[Attachment], bool]]:
        """The kinds of overheard files that are of use to the bot."""
        if turn.kit.prompts.bot.model.vision:
            yield lambda file: file.kind == "image" and file.size_bytes <= PICTURE_MAX_BYTES
        if transcription_of(self._process.bot(turn.first.bot)) is not None:
            yield lambda file: file.is_speech and file.size_bytes <= OVERHEARD_MAX_BYTES
        if READ_FILE_NAME in turn.kit.tools.names:
            yield lambda file: file.kind == "document" and file.size_bytes <= OVERHEARD_MAX_BYTES

    async def aclose(self) -> None:
        """Close the connections to transcription servers."""
        for each in self._transcribers.values():
            await each.aclose()

    async def _all_within(self, turn: Turn, files: list[IncomingFile], *, again: bool) -> str:
        """Process all files; returns the reason for those that were not processed in time."""
        within_s = WITHIN_S
        if any(each.file.is_speech for each in files):
            within_s += self._process.bot(turn.first.bot).transcription.timeout_s
        try:
            with anyio.move_on_after(within_s):
                await self._all(turn, files, again=again)
        except ChannelError as error:
            return f"the file could not be fetched: {error}"
        except Exception as error:  # noqa: BLE001 - an adapter that cannot be opened must not fail the turn
            _log.exception("attachment.failed", reason=type(error).__name__)
            return f"the file could not be fetched: {type(error).__name__}"
        return f"the file could not be fetched within {within_s:g} s"

    async def _all(self, turn: Turn, files: list[IncomingFile], *, again: bool) -> None:
        folders = turn.context_of("").folders
        for each in files[FILES_MAX:]:
            each.fail(f"the file was not fetched, because more than {FILES_MAX} files arrived together")
        async with self._fetching(turn, again=again) as fetch, anyio.create_task_group() as tg:
            for each in files[:FILES_MAX]:
                tg.start_soon(self._take, turn, each, folders, fetch)

    @asynccontextmanager
    async def _fetching(self, turn: Turn, *, again: bool) -> AsyncGenerator[Fetch | None]:
        """Fetches from the turn's channel; None: missing files are not fetched again."""
        if again:
            yield None
            return
        fetching: Any = load(FETCH)
        opened: AbstractAsyncContextManager[Fetch] = fetching(self._process, turn.first.channel)
        async with opened as fetch:
            yield fetch

    async def _take(self, turn: Turn, each: IncomingFile, folders: FileAccess, fetch: Fetch | None) -> None:
        async with self._places:
            try:
                await self._taken(turn, each, folders, fetch)
            except ChannelError as error:
                each.fail(f"the file could not be fetched: {error}")
            except Exception as error:  # noqa: BLE001 - an adapter's or a server's bug must not fail the turn
                _log.exception("attachment.failed", reason=type(error).__name__)
                each.fail(f"the file could not be fetched: {type(error).__name__}")

    async def _taken(self, turn: Turn, each: IncomingFile, folders: FileAccess, fetch: Fetch | None) -> None:
        most = self._process.config.agent.attachment_max_bytes
        saved = True
        content = await in_thread(partial(kept, folders, each.path, most))
        if content is None:
            if fetch is None:
                return
            if each.file.size_bytes > most:
                each.fail("the file is too large to be fetched")
                return
            content = await _fetched(fetch, each)
            if len(content) > most:
                each.fail("the file is too large to be stored")
                return
            saved = await _saved(folders, each.path, content)
        if each.file.is_speech and fetch is not None:
            await self._hear(turn, each, folders, content, saved=saved)
        else:
            can_read = READ_FILE_NAME in turn.kit.tools.names
            await in_thread(partial(each.tell, content, saved=saved, can_read=can_read))

    async def _hear(self, turn: Turn, each: IncomingFile, folders: FileAccess, content: bytes, *, saved: bool) -> None:
        """Transcribe a recording, or use the transcription that a predecessor stored next to it."""
        can_read = READ_FILE_NAME in turn.kit.tools.names
        heard = await in_thread(partial(kept, folders, f"{each.path}.txt", TEXT_MAX_BYTES))
        if heard is not None:
            each.heard(heard.decode(errors="replace"), content, saved=saved, can_read=can_read)
            return
        more = ": this bot cannot transcribe it, because no transcription is configured"
        try:
            server = await self._transcriber(turn.first.bot)
            if server is not None:
                asked = self._process.clock.monotonic()
                text = await self._text(turn, server, content)
                _log.info("voice.heard", took_s=round(self._process.clock.monotonic() - asked, 3))
                await _saved(folders, f"{each.path}.txt", text.encode("utf-8", "replace"))
                each.heard(text, content, saved=saved, can_read=can_read)
                return
        except (ModelError, LimitReached) as error:
            _log.warning("transcription.failed", reason=f"{type(error).__name__}: {brief(error)}")
            more = ": it could not be transcribed"
        each.tell(content, saved=saved, can_read=can_read, more=more)

    async def _text(self, turn: Turn, server: "Transcriber", recording: bytes) -> str:
        """What is said in ``recording``; the turn pays for it."""
        expected = server.expected(recording)
        needs = Estimate(
            model=server.name,
            tokens_in=expected.tokens_in + expected.tokens_out,
            nano_in=expected.cost_nano,
            currency=expected.currency,
            lasts_s=server.timeout_s,
        )
        async with turn.payer.call(needs, turn.progress.used, wait_s=WITHIN_S) as charge:
            try:
                answer = await server.text_of(recording)
            except BaseException as error:
                if is_charged(error):
                    account(charge, Answer(text="", usage=expected, model=server.name))
                raise
            account(charge, answer)
        return answer.text

    async def _transcriber(self, bot: str) -> "Transcriber | None":
        config = transcription_of(self._process.bot(bot))
        if config is None:
            return None
        async with self._opening:  # of two that recordings open at once, one would never be closed
            if bot not in self._transcribers:
                self._transcribers[bot] = await transcriber(config, self._process.clock)
        return self._transcribers[bot]


async def _fetched(fetch: Fetch, each: IncomingFile) -> bytes:
    for number in range(TRIES):
        try:
            return await fetch(each.file, timeout_s=FETCH_S)
        except SendRefused as error:
            if number == TRIES - 1:
                raise
            await anyio.sleep(min(PAUSE_MAX_S, max(PAUSE_S * 2**number, error.retry_after_s or 0.0)))
    raise AssertionError("the file was neither fetched nor rejected (a bug in Millpond)")


async def _saved(folders: FileAccess, path: str, content: bytes) -> bool:
    try:
        await in_thread(partial(keep, folders, path, content))
    except ToolError as error:
        _log.warning("attachment.unsaved", reason=brief(error))
        return False
    return True


async def _entries(turn: Turn, files: list[IncomingFile], reason: str) -> list[LogEntry]:
    """The first entries of the turn with the outcomes of the files; ``reason`` is for files that were not processed."""
    told: dict[Place, str] = {}
    for each in files:
        if not each.told:
            each.fail(reason)
        told[each.place] = each.told
    entries: list[LogEntry] = []
    for inbound in inbounds(turn.covered):
        lines = [told.get((inbound.id, ITSELF, number), "") for number in range(len(inbound.attachments))]
        overheard = [
            [told[place] for number in range(len(words.attachments)) if (place := (inbound.id, at, number)) in told]
            for at, words in enumerate(inbound.overheard)
        ]
        entries += await turn.entries.said(inbound, lines, overheard)
    return entries


def _own_files(inbound: Inbound) -> Iterator[IncomingFile]:
    for number, file in enumerate(inbound.attachments):
        if file.source or file.path:
            path = file.path or path_of(inbound, number)
            yield IncomingFile(file=file, path=path, place=(inbound.id, ITSELF, number))


def _overheard(inbound: Inbound, wanted: Callable[[Attachment], bool], own: Collection[str]) -> Iterator[IncomingFile]:
    """The newest of the ``wanted`` files that were overheard before a message and are not among the turn's ``own``."""
    found = (
        IncomingFile(file=file, path=overheard_path_of(inbound, words, number), place=(inbound.id, at, number))
        for at, words in reversed(list(enumerate(inbound.overheard)))
        for number, file in enumerate(words.attachments)
        if file.source and file.source not in own and wanted(file)
    )
    return islice(found, OVERHEARD_MAX)
