"""Summarizes a part of a conversation: the new MEMORY.md, a history entry, and the continuity.

A summary is of as many turns as one request holds. A request without a usable answer is sent a second time. After that,
a smaller request is tried: for fewer turns, or for a part of one turn with the results of the parts before. The last
attempt is made without the messages that are too large, which then stand in the entry as they are. Nothing is written
here.
"""

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from functools import partial

import msgspec
import structlog
from anyio import to_thread
from msgspec.structs import replace

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
from daemon.model import Model, Request
from daemon.tokens import THREAD_SIZE, Tokenizer
from daemon.usage import Amount, Payer
from workers.consolidation.summary.log_rendering import UNKNOWN_TIME, Line, texts, time_of
from workers.consolidation.summary.save_memory import SavedMemory, saved
from workers.consolidation.summary.summary_calls import ModelBreaker, PaidParts, SummaryCalls, Taken
from workers.consolidation.summary.summary_request import (
    RATIO,
    Background,
    Room,
    SummaryRequests,
    Turn,
    chunk_ratio,
    chunk_tokens,
    chunks,
    compacted_note,
    is_oversized,
    joined,
    leading,
    pieces,
    skipped_mark,
    turns_of,
    within,
)

SHRINK_FROM_CHARS = 1_000
"""A longer MEMORY.md must not become shorter than half of it without a reason."""
LONG_FACTOR = 2
"""A memory_update of more than so many times what it may have is not taken over, unless MEMORY.md was longer yet."""
RESERVE_SHARE = 4
"""The reserve is at most one part in so many of the window."""
SPLITTABLE = (ContextOverflow, InvalidAnswer, ModelTimeout)
"""Failures that a smaller request may do without; a model that is away is away for smaller ones too."""
NO_LIMIT = sys.maxsize
NOTHING_PAID = PaidParts()

_STAMPED = re.compile(rf"\[({MINUTE})\]")

_log = structlog.get_logger()


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a part of a conversation comes to."""

    count: int
    """Messages of the log that it is of, whole turns; 0 for the text of a raw entry."""
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
    used: dict[str, Amount] = msgspec.field(default_factory=dict[str, Amount])
    """What the calls used, by model."""
    complete: bool = True
    """Whether a request contained every message; else those that were too large stand in the entry as they are."""
    limit_tokens: int = 0
    """The most of a conversation that a request took, when a larger request failed; 0: none did."""

    @property
    def rejected(self) -> bool:
        """Whether an update of MEMORY.md was not taken over."""
        return bool(self.rejected_update)


class _Work(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be summed up."""

    turns: Sequence[Turn]
    background: Background
    room: Room
    parts: PaidParts
    used: dict[str, Amount] = msgspec.field(default_factory=dict[str, Amount])


class _Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """The first turns of a work, and what they came to."""

    turns: Sequence[Turn]
    taken: Taken
    skipped: Sequence[Line] = ()
    """The lines that no request contained."""
    limit_tokens: int = 0
    """As of ``Summary``."""


class Summarizer:
    """Sums up for one bot."""

    def __init__(
        self,
        *,
        model: Model,
        window: ModelConfig,
        tokenizer: Tokenizer,
        config: Config,
        breaker: ModelBreaker,
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
        self.calls = SummaryCalls(
            model, window, breaker=breaker, deadline_s=config.consolidation.call_deadline_s, purpose="summary"
        )
        self._requests = SummaryRequests(window=window, bot=bot, config=config.consolidation, tokenizer=tokenizer)

    def paid_by(self, payer: Payer) -> "Summarizer":
        """The same, within the limits of ``payer``."""
        summarizer = copy(self)
        summarizer.calls = self.calls.paid_by(payer)
        return summarizer

    async def summarize(
        self,
        entries: Sequence[LogEntry],
        background: Background,
        *,
        names: bool = False,
        most_tokens: int = NO_LIMIT,
        parts: PaidParts = NOTHING_PAID,
    ) -> Summary:
        """What the first turns of ``entries`` come to: as many as one request holds, one at least.

        Args:
            entries: messages of the log, one at least.
            background: MEMORY.md, and what a request shows beside it.
            names: whether it is a group's conversation.
            most_tokens: of the conversation in a request, as ``Summary.limit_tokens`` of the turns before.
            parts: the finished parts of a first turn that takes several requests.

        Raises:
            SummaryFailed: the model gave nothing that can be used; one failure, however many calls it took.
            CallSkipped: the model failed too often lately, or a limit is used up; it was not asked.
            Unsummarizable: no message of the first turn is small enough to be summed up.
        """
        turns = await self._turns(entries, names=names)
        if not any(turn.lines for turn in turns):
            return _nothing(entries, background.continuity, self._bot.time_zone)
        return await self._summary(turns, background, parts, most_tokens)

    async def held(self, entries: Sequence[LogEntry], *, memory: str, names: bool = False) -> int:
        """How many of ``entries`` one request holds, whole turns: one turn at least."""
        turns, room = await self._turns(entries, names=names), await self._requests.room()
        shown = await self._requests.fitted(Background(memory=memory), room.memory_shown_tokens)
        most_tokens = room.open_tokens - await self._requests.tokens(shown)
        return sum(turn.count for turn in leading(turns, most_tokens) or turns[:1])

    async def digest(
        self, raw_text: str, *, memory: str, rejected: str = "", parts: PaidParts = NOTHING_PAID
    ) -> Summary:
        """What the text of a raw entry comes to; of it only what becomes of MEMORY.md counts. Raises as above."""
        room = await self._requests.room()
        limit = min(self._limit((), None), room.open_tokens // 3)
        cut_up = partial(pieces, raw_text, limit, self._tokenizer.count)
        lines = await to_thread.run_sync(cut_up) if len(raw_text) > THREAD_SIZE else cut_up()
        return await self._summary([Turn(lines)], Background(memory=memory, rejected=rejected), parts, NO_LIMIT)

    async def _turns(self, entries: Sequence[LogEntry], *, names: bool) -> list[Turn]:
        render = partial(turns_of, entries, names=names, time_zone=self._bot.time_zone)
        is_long = sum(len(bytes(entry.wire)) for entry in entries) > THREAD_SIZE
        return await to_thread.run_sync(render) if is_long else render()

    async def _summary(
        self, turns: Sequence[Turn], background: Background, parts: PaidParts, most_tokens: int
    ) -> Summary:
        room = await self._requests.room()
        work = _Work(turns=turns, background=await self._requests.trimmed(background, room), room=room, parts=parts)
        try:
            chunk = await self._chunk(work, most_tokens)
        except NoSummary as error:
            error.used = work.used
            raise
        except ModelError as error:
            text = "the conversation could not be summarized"
            failure = SummaryFailed(f"{text}: {error}", brief=f"{text}: {error.brief}")
            failure.used = work.used
            raise failure from error
        return self._result(work, chunk)

    def _result(self, work: _Work, chunk: _Chunk) -> Summary:
        taken, skipped = chunk.taken, chunk.skipped
        before, after = work.background.memory, taken.background.memory
        raw = [skipped_mark(skipped), *texts(skipped)] if skipped else []
        return Summary(
            count=sum(turn.count for turn in chunk.turns),
            history_entry="\n".join((*taken.entries, *raw)),
            memory_update=None if after.strip() == before.strip() else after,
            memory_reason=taken.reason,
            continuity=taken.background.continuity,
            rejected_update=taken.rejected,
            rejection=taken.rejection,
            model=taken.model,
            used=work.used,
            complete=not skipped,
            limit_tokens=chunk.limit_tokens,
        )

    async def _chunk(self, work: _Work, most_tokens: int) -> _Chunk:
        """As many of the first turns as one request holds; after a failure fewer."""
        first, refused = work.turns[:1], None
        if begun := work.parts.begun(first, work.background):
            return _Chunk(turns=first, taken=await self._progressive(work, begun.parts, begun.limit_tokens))
        most = min(work.room.open_tokens - await self._requests.tokens(work.background), most_tokens)
        asked = leading(work.turns, most)
        if asked:
            try:
                return _Chunk(turns=asked, taken=await self._progressive(work, [joined(asked)]))
            except SPLITTABLE as error:
                refused = error
        room_tokens = await self._chunk_room(work)
        limit = min(room_tokens, self._limit(joined(asked or first), refused), most_tokens)
        turns = leading(asked, limit) or first
        parts = chunks(joined(turns), limit)
        is_smaller = refused is None or len(turns) < len(asked) or len(parts) > 1
        if is_smaller and all(line.tokens <= room_tokens for line in joined(turns)):
            if refused is not None:
                _log.info("summary.split", tokens=limit, chunks=len(parts), reason=type(refused).__name__)
            try:
                taken = await self._progressive(work, parts, limit)
                return _Chunk(turns=turns, taken=taken, limit_tokens=limit if refused else 0)
            except SPLITTABLE as error:
                refused = error
        rest, skipped = self._sorted_out(joined(turns), room_tokens)
        if refused is not None and not skipped:
            raise refused
        taken = await self._progressive(work, chunks(rest, limit), limit)
        return _Chunk(turns=turns, taken=taken, skipped=skipped)

    def _sorted_out(self, lines: Sequence[Line], room_tokens: int) -> tuple[list[Line], list[Line]]:
        """The lines that may be summed up, and those that are too large."""
        window = self._window.context_window_tokens
        too_large = [line.tokens > room_tokens or is_oversized(line.tokens, window) for line in lines]
        rest = [line for line, large in zip(lines, too_large, strict=True) if not large]
        skipped = [line for line, large in zip(lines, too_large, strict=True) if large]
        if not rest:
            text = (
                f"each of the {len(lines)} messages is too large to summarize with a context window of {window} tokens"
            )
            raise Unsummarizable(text, note=compacted_note(lines, len(skipped)))
        if skipped:
            _log.info("oversized.skipped", count=len(skipped), tokens=sum(line.tokens for line in skipped))
        return rest, skipped

    async def _progressive(self, work: _Work, parts: Sequence[Sequence[Line]], limit: int = 0) -> Taken:
        """One request a part, each with what those before it came to."""
        taken, done = work.parts.taken(parts, work.background)
        for number, lines in enumerate(parts[done:], done + 1):
            mark = f" (part {number} of {len(parts)})" if len(parts) > 1 else ""
            shown = await self._requests.fitted(taken.background, work.room.open_tokens - _tokens(lines))
            request = await self._requests.request(shown, lines, work.room, mark=mark)
            found = await self._asked(request, shown, work.used)
            taken.model = found.model
            taken.entries.append(with_time(found.history_entry, (*lines, *joined(work.turns))))
            await self._keep_continuity(work, taken, found.continuity)
            if shown.is_cut:
                _log.warning("memory.shortened", tokens=request.tokens)
            else:
                await self._keep_memory(work, taken, found)
            if mark:
                _log.info("chunk.summarized", chunk=number, chunks=len(parts), tokens=request.tokens)
                await work.parts.keep(parts, work.background, taken, done=number, limit_tokens=limit)
        return taken

    async def _asked(self, request: Request, shown: Background, used: dict[str, Amount]) -> SavedMemory:
        """The answer to ``request``, which is sent again if no usable one comes in time: two requests for half as many
        messages cost more, and can help only a model to which ``request`` is too large."""
        read = partial(saved, memory="" if shown.is_cut else shown.memory)
        for _ in range(2 if self.calls.has_answered(request.tokens) else 1):
            with suppress(InvalidAnswer, ModelTimeout):
                return await self.calls.ask(request, read, used)
        return await self.calls.ask(request, read, used)

    async def _keep_continuity(self, work: _Work, taken: Taken, said: str) -> None:
        """Note where the conversation stands: as the model says, else what was known with the entry behind it."""
        most = work.room.continuity_max_tokens
        before = taken.background.continuity
        known = said or "\n".join(filter(None, (before, taken.entries[-1])))
        if not said and await self._tokenizer.acount(known) > most:
            known = taken.entries[-1]
        taken.background = replace(taken.background, continuity=await within(self._tokenizer, known, most))

    async def _keep_memory(self, work: _Work, taken: Taken, found: SavedMemory) -> None:
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

    async def _rejection(self, work: _Work, found: SavedMemory, update: str) -> str:
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


def _nothing(entries: Sequence[LogEntry], continuity: str, time_zone: str) -> Summary:
    """The summary of messages that have no content, which no model has to make."""
    entry = f"[{time_of(entries[0], time_zone)}] Nothing was said."
    return Summary(count=len(entries), history_entry=entry, continuity=continuity)


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
