"""Summarizes a part of a conversation: the new MEMORY.md, a history entry, and the continuity.

First one request for everything. What does not fit, or brought nothing, is done in chunks, each with what those before
it came to; and if that fails too, without the messages that are too large, which then stand in the entry as they are.
Nothing is written here.
"""

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial

import structlog
from anyio import to_thread

from daemon.clock import MINUTE
from daemon.config import BotConfig, Config, ModelConfig
from daemon.errors import (
    ContextOverflow,
    InvalidAnswer,
    ModelError,
    ModelTimeout,
    NoSummary,
    SummaryFailed,
    Unsummarizable,
)
from daemon.events import LogEntry
from daemon.model import Model
from daemon.tokens import THREAD_SIZE, Tokenizer
from daemon.usage import Amount, Payer
from workers.consolidation.summary.breaker import Breaker
from workers.consolidation.summary.calls import Calls
from workers.consolidation.summary.render import UNKNOWN_TIME, Line, lines_of, texts, time_of
from workers.consolidation.summary.request import Background, Requests, Room, within
from workers.consolidation.summary.save_memory import Saved, saved
from workers.consolidation.summary.split import (
    RATIO,
    chunk_ratio,
    chunk_tokens,
    chunks,
    compacted_note,
    is_oversized,
    pieces,
    skipped_mark,
)

SHRINK_FROM_CHARS = 1_000
"""A longer MEMORY.md must not become shorter than half of it without a reason."""
LONG_FACTOR = 2
"""A memory_update of more than so many times what it may have is not taken over, unless MEMORY.md was longer yet."""
RESERVE_SHARE = 4
"""The reserve is at most one part in so many of the window."""
SPLITTABLE = (ContextOverflow, InvalidAnswer, ModelTimeout)
"""Failures that a smaller request may do without; a model that is away is away for smaller ones too."""

_STAMPED = re.compile(rf"\[({MINUTE})\]")

_log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a part of a conversation comes to."""

    history_entry: str
    """Text for HISTORY.md, beginning with its time."""
    memory_update: str | None = None
    """The whole of MEMORY.md as it is to be; None: as it is."""
    memory_reason: str = ""
    """Why much of MEMORY.md was left out, as the model says; seldom anything."""
    continuity: str = ""
    """Where the conversation stands."""
    rejected_update: str = ""
    """A memory_update that was not taken over, to be kept as a rejected version; empty: there is none."""
    rejection: str = ""
    """Why, a sentence."""
    model: str = ""
    """Name of the model that had the last word; empty when none was asked."""
    used: dict[str, Amount] = field(default_factory=dict[str, Amount])
    """What the calls used, by model."""
    complete: bool = True
    """Whether a request contained every message; else those that were too large stand in the entry as they are."""

    @property
    def rejected(self) -> bool:
        """Whether an update of MEMORY.md was not taken over."""
        return bool(self.rejected_update)


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What is to be summed up."""

    lines: Sequence[Line]
    background: Background
    room: Room
    used: dict[str, Amount] = field(default_factory=dict[str, Amount])


@dataclass(kw_only=True)
class _Taken:
    """What the chunks so far came to."""

    background: Background
    """With memory and continuity as they have become."""
    entries: list[str] = field(default_factory=list[str])
    reason: str = ""
    rejected: str = ""
    rejection: str = ""
    model: str = ""


class Summarizer:
    """Sums up for one bot."""

    def __init__(
        self,
        *,
        model: Model,
        window: ModelConfig,
        tokenizer: Tokenizer,
        config: Config,
        breaker: Breaker,
        bot: BotConfig,
    ) -> None:
        """Nothing is asked yet.

        Args:
            model: the one that sums up.
            window: its configuration (``daemon.config.summary_model_of``).
            tokenizer: its.
            config: the whole; its sections ``consolidation`` and ``memory_flush`` are read.
            breaker: the model's (``breaker_of``).
            bot: whose conversations they are.
        """
        self._window = window
        self._tokenizer = tokenizer
        self._bot = bot
        self._reserve_tokens = min(
            config.memory_flush.reserve_floor_tokens, window.context_window_tokens // RESERVE_SHARE
        )
        self.calls = Calls(
            model, window, breaker=breaker, deadline_s=config.consolidation.call_deadline_s, purpose="summary"
        )
        self._requests = Requests(window=window, bot=bot, config=config.consolidation, tokenizer=tokenizer)

    def paid_by(self, payer: Payer) -> "Summarizer":
        """The same, within the limits of ``payer``."""
        summarizer = copy(self)
        summarizer.calls = self.calls.paid_by(payer)
        return summarizer

    async def summarize(
        self,
        entries: Sequence[LogEntry],
        *,
        memory: str,
        continuity: str = "",
        focus: str = "",
        rejected: str = "",
        names: bool = False,
    ) -> Summary:
        """What ``entries`` come to.

        Args:
            entries: messages of the log, one at least.
            memory: MEMORY.md.
            continuity: where the conversation stood before them.
            focus: what a person wants to be kept above all.
            rejected: text of the last update of MEMORY.md, if that was rejected.
            names: whether it is a group's conversation.

        Raises:
            SummaryFailed: the model gave nothing that can be used; one failure, however many calls it took.
            CallSkipped: the model failed too often lately, or a limit is used up; it was not asked.
            Unsummarizable: no message is small enough to be summed up.
        """
        render = partial(lines_of, entries, names=names, time_zone=self._bot.time_zone)
        is_long = sum(len(bytes(entry.wire)) for entry in entries) > THREAD_SIZE
        lines = await to_thread.run_sync(render) if is_long else render()
        if not lines:
            return _nothing(entries[0], continuity, self._bot.time_zone)
        return await self._summary(
            lines, Background(memory=memory, continuity=continuity, focus=focus, rejected=rejected)
        )

    async def digest(self, raw_text: str, *, memory: str, rejected: str = "") -> Summary:
        """What the text of a raw entry comes to; of it only what becomes of MEMORY.md counts. Raises as above."""
        room = await self._requests.room()
        limit = min(self._limit((), None), room.open_tokens // 3)
        cut_up = partial(pieces, raw_text, limit, self._tokenizer.count)
        lines = await to_thread.run_sync(cut_up) if len(raw_text) > THREAD_SIZE else cut_up()
        return await self._summary(lines, Background(memory=memory, rejected=rejected))

    async def _summary(self, lines: Sequence[Line], background: Background) -> Summary:
        room = await self._requests.room()
        work = _Work(lines=lines, background=await self._requests.trimmed(background, room), room=room)
        try:
            taken, skipped = await self._taken(work)
        except NoSummary as error:
            error.used = work.used
            raise
        except ModelError as error:
            text = "the conversation could not be summarized"
            failure = SummaryFailed(f"{text}: {error}", brief=f"{text}: {error.brief}")
            failure.used = work.used
            raise failure from error
        return self._result(work, taken, skipped)

    def _result(self, work: _Work, taken: _Taken, skipped: Sequence[Line]) -> Summary:
        before, after = work.background.memory, taken.background.memory
        raw = [skipped_mark(skipped), *texts(skipped)] if skipped else []
        return Summary(
            history_entry="\n".join((*taken.entries, *raw)),
            memory_update=None if after.strip() == before.strip() else after,
            memory_reason=taken.reason,
            continuity=taken.background.continuity,
            rejected_update=taken.rejected,
            rejection=taken.rejection,
            model=taken.model,
            used=work.used,
            complete=not skipped,
        )

    async def _taken(self, work: _Work) -> tuple[_Taken, Sequence[Line]]:
        """What ``work`` comes to, and the lines that no request contained."""
        refused: ModelError | None = None
        if await self._fits(work):
            try:
                return await self._progressive(work, [work.lines]), ()
            except SPLITTABLE as error:
                refused = error
        room_tokens = await self._chunk_room(work)
        limit = min(room_tokens, self._limit(work.lines, refused))
        parts = chunks(work.lines, limit)
        if all(line.tokens <= room_tokens for line in work.lines) and (len(parts) > 1 or refused is None):
            if refused is not None:
                _log.info("summary.split", chunks=len(parts), reason=type(refused).__name__)
            try:
                return await self._progressive(work, parts), ()
            except SPLITTABLE as error:
                refused = error
        rest, skipped = self._sorted_out(work.lines, room_tokens)
        if refused is not None and not skipped:
            raise refused
        return await self._progressive(work, chunks(rest, limit)), skipped

    def _sorted_out(self, lines: Sequence[Line], room_tokens: int) -> tuple[list[Line], list[Line]]:
        """The lines that may be summed up, and those that are too large."""
        window = self._window.context_window_tokens
        too_large = [line.tokens > room_tokens or is_oversized(line.tokens, window) for line in lines]
        rest = [line for line, large in zip(lines, too_large, strict=True) if not large]
        skipped = [line for line, large in zip(lines, too_large, strict=True) if large]
        if not rest:
            text = f"each of the {len(lines)} messages is too large to be summarized with a window of {window} tokens"
            raise Unsummarizable(text, note=compacted_note(lines, len(skipped)))
        if skipped:
            _log.info("oversized.skipped", count=len(skipped), tokens=sum(line.tokens for line in skipped))
        return rest, skipped

    async def _progressive(self, work: _Work, parts: Sequence[Sequence[Line]]) -> _Taken:
        """One request a part, each with what those before it came to."""
        taken = _Taken(background=work.background)
        for number, lines in enumerate(parts, 1):
            mark = f" (part {number} of {len(parts)})" if len(parts) > 1 else ""
            shown = await self._requests.fitted(taken.background, work.room.open_tokens - _tokens(lines))
            request = await self._requests.request(shown, lines, work.room, mark=mark)
            found = await self.calls.ask(
                request, partial(saved, memory="" if shown.is_cut else shown.memory), work.used
            )
            taken.model = found.model
            taken.entries.append(with_time(found.history_entry, (*lines, *work.lines)))
            await self._keep_continuity(work, taken, found.continuity)
            if shown.is_cut:
                _log.warning("memory.shortened", tokens=request.tokens)
            else:
                await self._keep_memory(work, taken, found)
            if mark:
                _log.info("chunk.summarized", chunk=number, chunks=len(parts), tokens=request.tokens)
        return taken

    async def _keep_continuity(self, work: _Work, taken: _Taken, said: str) -> None:
        """Note where the conversation stands: as the model says, else what was known with the entry behind it."""
        most = work.room.continuity_max_tokens
        before = taken.background.continuity
        known = said or "\n".join(filter(None, (before, taken.entries[-1])))
        if not said and await self._tokenizer.acount(known) > most:
            known = taken.entries[-1]
        taken.background = replace(taken.background, continuity=await within(self._tokenizer, known, most))

    async def _keep_memory(self, work: _Work, taken: _Taken, found: Saved) -> None:
        update, memory = found.memory_update, taken.background.memory
        if update is None or update.strip() == memory.strip():
            return
        taken.rejection = await self._rejection(work, found, update)
        if taken.rejection:
            taken.rejected = update
            shown = await within(self._tokenizer, update, work.room.rejected_max_tokens)
            taken.background = replace(taken.background, rejected=shown)
            return
        taken.rejected, taken.reason = "", found.memory_reason or taken.reason
        taken.background = replace(taken.background, memory=update, rejected="")

    async def _rejection(self, work: _Work, found: Saved, update: str) -> str:
        """Why an update is not taken over; empty when it is. Compared with MEMORY.md as it was before all parts."""
        memory, most = work.background.memory, work.room.memory_max_tokens * LONG_FACTOR
        if len(memory) > SHRINK_FROM_CHARS and len(update) * 2 < len(memory) and not found.memory_reason:
            return (
                f"the update has {len(update)} characters and would replace {len(memory)} characters, but "
                "memory_reason does not explain the loss"
            )
        tokens = await self._tokenizer.acount(update) if len(update) > len(memory) else 0
        if tokens > most:
            return f"the update has {tokens} tokens, but MEMORY.md may have at most {work.room.memory_max_tokens}"
        return ""

    async def _fits(self, work: _Work) -> bool:
        return await self._requests.tokens(work.background) + _tokens(work.lines) <= work.room.open_tokens

    async def _chunk_room(self, work: _Work) -> int:
        """The largest chunk that surely fits beside what a request shows besides, as large as that may become."""
        room = work.room
        memory = max(room.memory_max_tokens, await self._tokenizer.acount(work.background.memory))
        besides = room.continuity_max_tokens + room.focus_max_tokens + room.rejected_max_tokens
        return room.open_tokens - min(memory, room.memory_shown_tokens) - besides

    def _limit(self, lines: Sequence[Line], refused: ModelError | None) -> int:
        """The size of a chunk."""
        window = self._window.context_window_tokens
        ratio = chunk_ratio([line.tokens for line in lines], window)
        if ratio < RATIO:
            _log.info("chunk.adapted", ratio=round(ratio, 3))
        limit = chunk_tokens(window, ratio, self._reserve_tokens)
        # A server that counts otherwise than we do, or whose window is smaller than we were told.
        return min(limit, _tokens(lines) // 2) if isinstance(refused, ContextOverflow) else limit


def _nothing(first: LogEntry, continuity: str, time_zone: str) -> Summary:
    """The summary of messages that have no content, which no model has to make."""
    return Summary(history_entry=f"[{time_of(first, time_zone)}] Nothing was said.", continuity=continuity)


def _tokens(lines: Sequence[Line]) -> int:
    return sum(line.tokens for line in lines)


def with_time(entry: str, lines: Sequence[Line]) -> str:
    """``entry`` with a time in front: its own, or that of the first of ``lines`` that has one.

    A model may leave out the offset of its own time; the line at that time has it.
    """
    if found := _STAMPED.match(entry):
        time = next((line.time for line in lines if line.time.startswith(found[1])), found[1])
        return f"[{time}]{entry[found.end() :]}"
    time = next((line.time for line in lines if line.time != UNKNOWN_TIME), UNKNOWN_TIME)
    return f"[{time}] {entry}"
