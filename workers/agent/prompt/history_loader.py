"""The content of a prompt before the current turn: older messages, the continuity, and the memory.

The system message stays as it is until the session is consolidated, so that a provider's prefix cache knows the prompt.

A history is used only if the log is still as this process left it. The script that claims a session tells: nobody has
committed since, and nothing of the log was replaced because something in it was forgotten.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence

import anyio
import msgspec
import structlog

from daemon.config import MicroCompactConfig
from daemon.errors import Trimmed
from daemon.events import Continuity, LogEntry
from daemon.memory import Memories
from daemon.model import enclosed
from daemon.session import Claim, SessionReader, SessionState, TurnStart, commit_name
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.prompt.history_messages import History, spans_of
from workers.agent.prompt.prompt_builder import Prompt, Scene
from workers.message_format import TOOL, cut_result, least_tokens

# Reads a log from its end, up to the size of a prompt, however long the log is.

CHUNK = 500
"""Log entries read at once, from the newest backwards, until the budget is full."""


async def newest(
    reader: SessionReader,
    session: str,
    at: TurnStart | SessionState,
    *,
    upto: int,
    budget_tokens: int,
    micro: MicroCompactConfig,
) -> list[LogEntry]:
    """The newest messages before index ``upto``, oldest first: more than the budget, or all from the start on.

    ``at`` are the session's positions.
    """
    tokens = 0
    found: list[LogEntry] = []
    while upto > at.start and tokens <= budget_tokens:
        first = max(at.start, upto - CHUNK)
        chunk = await reader.log(session, first=first, upto=upto, base=at.base)
        found[:0] = chunk
        tokens += sum(least_tokens(entry, micro) for entry in chunk)
        upto = first
    return found


# Changes of MEMORY.md since the version that a session's prompts show; they stand beside the runtime context. Pure.

TITLE = "## Memory Changes"

MAX_CHARS = 4_000
"""Longer changes are taken into the system message: some thousand tokens, sent anew with every turn, are enough."""
CHARS_SHARE = 5
"""In a small window they have one character for so many tokens of the budget."""


def most_chars(budget_tokens: int) -> int:
    """How long changes may be that stand beside the runtime context."""
    return min(MAX_CHARS, budget_tokens // CHARS_SHARE)


def changes_of(old: str, new: str) -> str:
    """The lines that ``new`` lacks, with ``-``, and those that it adds, with ``+``, below their headings; or ``""``."""
    if old == new:
        return ""
    before, after = ([line.rstrip() for line in text.splitlines() if line.strip()] for text in (old, new))
    return "\n".join((*_beyond(before, after, "-"), *_beyond(after, before, "+")))


def _beyond(lines: Sequence[str], others: Sequence[str], sign: str) -> Iterator[str]:
    """The ``lines`` that are not among ``others``."""
    left, heading, shown = Counter(others), "", ""
    for line in lines:
        is_heading = line.startswith("#")
        if left[line]:
            left[line] -= 1
            heading = line if is_heading else heading
            continue
        if heading != shown and not is_heading:
            yield f"  {heading}"
        yield f"{sign} {line}"
        shown = heading = line if is_heading else heading


def changes_block(changes: str, language: Language) -> str:
    """The section of the runtime context; empty without changes."""
    return f"{TITLE}\n{say('memory_changes', language)}\n{enclosed(changes)}" if changes else ""


_log = structlog.get_logger()


class PromptHistory(msgspec.Struct, frozen=True, kw_only=True):
    """What a prompt is made of beside what is said now."""

    history: History = msgspec.field(default_factory=History)
    """Whole turns, oldest first."""
    whole: bool = True
    """The history goes back to the session's start."""
    first: int = 0
    """Index of the first message of the history, or of the one that would be; 0: it is all that was ever said here."""
    continuity: Continuity | None = None
    """What was left of still older messages when they were consolidated."""
    memory: str = ""
    """MEMORY.md, as the session's prompts show it."""
    memory_changes: str = ""
    """What has changed in it since (``workers.agent.prompt.history_loader``)."""


class HistoryLoader:
    """Reads it, in the order in which nothing can be missed.

    Log and cursor come first, memory after them: a range that is consolidated meanwhile may be seen in both, and never
    in neither.
    """

    def __init__(self, reader: SessionReader, memories: Memories, micro: MicroCompactConfig) -> None:
        self._reader = reader
        self._memories = memories
        self._micro = micro

    async def read(
        self,
        session: str,
        at: TurnStart | SessionState,
        *,
        upto: int,
        budget_tokens: int,
        known: History | None = None,
    ) -> tuple[PromptHistory, list[LogEntry]]:
        """The past of the turn that begins at ``at.head``, and its journal: what stands from there up to ``upto``.

        Of the history as much as fills ``budget_tokens``, or all there is: that is ``known`` if it need not be read.

        Raises:
            BusUnavailable: Redis is away.
        """
        positions: TurnStart | SessionState = at
        history, journal = known, list[LogEntry]()
        if history is None or upto != at.head:
            positions, found = await self._newest(session, at, upto=upto, budget_tokens=budget_tokens)
            cut = len(found) - (upto - at.head)
            before, journal = found[:cut], found[cut:]
            first = at.head - len(before)
            history = History(whole_turns(before, first) if first > positions.start else before)
        memory, changes = await self._memory(session, at, budget_tokens) if at.scope else ("", "")
        first = at.head - len(history)
        past = PromptHistory(
            history=history,
            whole=first <= positions.start,
            first=first,
            continuity=positions.continuity,
            memory=memory,
            memory_changes=changes,
        )
        return past, journal

    async def _newest(
        self, session: str, at: TurnStart | SessionState, *, upto: int, budget_tokens: int
    ) -> tuple[TurnStart | SessionState, list[LogEntry]]:
        """The newest messages before ``upto``, and the session's positions as they were then."""
        positions = at
        while True:
            try:
                found = await newest(
                    self._reader, session, positions, upto=upto, budget_tokens=budget_tokens, micro=self._micro
                )
            except Trimmed:
                # The oldest were consolidated since, and have left: what stands for them now is read too.
                positions = await self._reader.state(session)
            else:
                return positions, found

    async def _memory(self, session: str, at: TurnStart | SessionState, budget_tokens: int) -> tuple[str, str]:
        """MEMORY.md as the prompts show it, and what has changed since.

        The first turn of a session, and the first after ``/new``, shows the newest one: no prompt is like it.
        """
        found = await self._memories.pinned(at.scope, session)
        changes = changes_of(found.text or "", found.current.text)
        if at.head > at.start and found.text is not None and len(changes) <= most_chars(budget_tokens):
            return found.text, changes
        if found.version < found.current.version and isinstance(at, TurnStart):
            await self._memories.pin(found.scope, session, found.current.version)
        return found.current.text, ""


def whole_turns(history: Sequence[LogEntry], first: int) -> Sequence[LogEntry]:
    """``history`` without the rest of a turn whose beginning was not read; ``first`` is the index of its first message.

    A turn is named by the index of its own first message.
    """
    if not history or history[0].turn >= first:
        return history
    begins = next((at for at, entry in enumerate(history) if entry.turn != history[0].turn), len(history))
    return history[begins:]


# The messages of a past that a prompt really shows. Pure.


class PromptMessages(msgspec.Struct, frozen=True, kw_only=True):
    """What recall need not find, since a prompt contains it."""

    past: PromptHistory
    """The content before the current turn, of which the prompt shows as much as fits."""
    first: int
    """Index in the log of the first message that the prompt contains, with all messages after it."""
    hidden: frozenset[int] = frozenset()
    """Indexes of later messages of which the prompt contains only a part."""
    wires: Sequence[bytes] = ()
    """The messages of the prompt between the system message and the current turn, JSON each."""
    memory: str = ""
    """MEMORY.md as the system message contains it, perhaps shortened."""

    def covers(self, other: "PromptMessages") -> bool:
        """Whether all messages that this one leaves to recall include those that ``other`` leaves."""
        return other.first <= self.first and all(at in self.hidden or at < self.first for at in other.hidden)


def shown(past: PromptHistory, scene: Scene, built: Prompt, *, memory: str, max_chars: int) -> PromptMessages:
    """The messages of ``past`` that a prompt shows.

    Args:
        past: the content before the current turn.
        scene: the parts of the prompt, made of the past.
        built: the prompt, made of the scene.
        memory: MEMORY.md in the system message of the scene.
        max_chars: what is kept of an old tool result.
    """
    history = past.history
    spans = spans_of(history)[-built.history_turns :] if built.history_turns else ()
    first = spans[0].first if spans else len(history)
    cut = (at for span in spans if span.plain is None for at in range(span.first, min(span.end, built.cut_before)))
    hidden = {at for at in cut if _is_cut(history[at], max_chars)}
    stored_tokens = sum(entry.tokens for entry in history[first:]) if built.history_turns == 1 else 0
    if built.history_tokens - scene.head_tokens < stored_tokens:
        # One turn alone is shortened rather than left out.
        hidden |= set(range(first, len(history)))
    return PromptMessages(
        past=past,
        first=past.first + first,
        hidden=frozenset(past.first + at for at in hidden),
        wires=built.messages[1 : len(built.messages) - built.current],
        memory=memory,
    )


def _is_cut(entry: LogEntry, max_chars: int) -> bool:
    wire = bytes(entry.wire)
    return wire.startswith(TOOL) and cut_result(wire, max_chars) is not wire


# The histories of the sessions that this process answered last, so that their next turns need not read them anew.

KEPT_BYTES = 16 * 1024 * 1024
"""What all histories of a process may take."""
KEPT_S = 600.0
"""For how long a history is kept: a conversation that rests for longer is read anew."""


class _Kept(msgspec.Struct, frozen=True):
    """A history as of one commit."""

    done: str
    replaced: int
    first: int
    """Index of its first message."""
    history: History
    since: float


class HistoryCache:
    """The histories of a process; the one that was used least goes first."""

    def __init__(self, most_bytes: int = KEPT_BYTES, *, now: Callable[[], float] = time.monotonic) -> None:
        self._left_bytes = most_bytes
        self._now = now
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def take(self, session: str, at: TurnStart) -> History | None:
        """The history of a turn that begins, and not kept any longer; None: it has to be read."""
        kept = self._drop(session)
        if kept is None:
            return None
        is_same = (kept.done, kept.replaced) == (at.done, at.replaced) and not self._is_old(kept)
        # What a model sees no longer is left out.
        first = at.start - kept.first
        if not is_same or first < 0 or at.base > at.start or kept.first + len(kept.history) != at.head:
            return None
        return kept.history if first == 0 else History(kept.history[first:])

    def keep(self, claim: Claim, past: PromptHistory, entries: Sequence[LogEntry]) -> None:
        """Keep ``past`` with the messages of the turn that was committed behind it."""
        if not past.whole or past.first + len(past.history) != claim.begun.head:
            return
        self._drop(claim.session)
        history = History(entries, begun=past.history)
        self._kept[claim.session] = _Kept(commit_name(claim), claim.begun.replaced, past.first, history, self._now())
        self._left_bytes -= history.size_bytes
        self._drop_old()

    async def run(self) -> None:
        """Let go of histories that are too old, until cancelled."""
        while True:
            await anyio.sleep(KEPT_S / 10)
            self._drop_old()

    def __len__(self) -> int:
        """How many histories are kept."""
        return len(self._kept)

    def _drop_old(self) -> None:
        while self._kept and (self._left_bytes < 0 or self._is_old(next(iter(self._kept.values())))):
            self._left_bytes += self._kept.popitem(last=False)[1].history.size_bytes

    def _drop(self, session: str) -> _Kept | None:
        kept = self._kept.pop(session, None)
        self._left_bytes += kept.history.size_bytes if kept else 0
        return kept

    def _is_old(self, kept: _Kept) -> bool:
        return kept.since < self._now() - KEPT_S
