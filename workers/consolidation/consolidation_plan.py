"""Plans a consolidation from counts and positions. Pure.

A conversation grows past three points, in this order: the flush point, where what is worth keeping is written down; the
start of consolidation, where a worker moves old turns into memory in the background; the budget, where a turn waits for
that. Each consolidation goes down to the target, half of the budget, so that the next one is far away.

Indexes of messages are relative to the cursor in functions that take entries alone, and those of the log in a plan.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from daemon.config import MemoryFlushConfig, ModelConfig
from daemon.events import LogEntry
from workers.message_format import CALLS, cut_result, links_of, message, role_of, shown_result

# The prompt sizes at which a conversation is flushed and consolidated, and at which a turn waits.

RESERVE_SHARE = 4
"""The reserve is at most one part in so many of the window."""

SOFT_SHARE = 2
"""The soft threshold is at most one part in so many of what the reserve leaves."""

FLUSH_GAP_SHARE = 16
"""The flush point lies at least one part in so many of the budget below it."""


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of a prompt at which something happens; each is below the next, but for the target."""

    target_tokens: int
    """Where a consolidation may stop."""
    flush_point_tokens: int
    consolidation_start_tokens: int
    """Where the background begins."""
    budget_tokens: int
    """Where a turn waits."""

    @classmethod
    def of(cls, model: ModelConfig, flush: MemoryFlushConfig, *, lowered: Callable[[int], int] = int) -> "Thresholds":
        """The thresholds for a model.

        Args:
            model: one that the configuration admits; its budget is at least 1,024 tokens.
            flush: how far before the window's end the flush point lies.
            lowered: what a number of the provider's tokens is in ours, as ``Calibration.lowered``: at least half of it.
        """
        window = model.context_window_tokens
        reserve = min(flush.reserve_floor_tokens, window // RESERVE_SHARE)
        soft = min(flush.soft_threshold_tokens, (window - reserve) // SOFT_SHARE)
        budget = lowered(model.budget_tokens)
        flush_point = min(lowered(window - reserve - soft), budget - budget // FLUSH_GAP_SHARE)
        return cls(
            target_tokens=budget // 2,
            flush_point_tokens=flush_point,
            consolidation_start_tokens=(flush_point + budget) // 2,
            budget_tokens=budget,
        )

    def needs_flush(self, prompt_tokens: int) -> bool:
        """Whether a prompt of this size has passed the flush point."""
        return prompt_tokens >= self.flush_point_tokens

    def needs_consolidation(self, prompt_tokens: int) -> bool:
        """Whether a prompt of this size is consolidated in the background."""
        return prompt_tokens >= self.consolidation_start_tokens

    def overflows(self, prompt_tokens: int) -> bool:
        """Whether a turn with a prompt of this size waits for a consolidation."""
        return prompt_tokens >= self.budget_tokens


HEAD_SHARE = 0.2
"""Of a budget, what the head messages may take at most: they may have been made for a model with a larger window."""

NAME_MAX_CHARS = 80
"""No more of a name is shown before a message."""

HEAD_USER = "[Conversation compressed. Transcript: {transcript}]\n\n{continuity}"
HEAD_ASSISTANT = "Understood. I have the context from the summary. Continuing."

Count = Callable[[bytes], int]
"""What a message counts, as ``Tokenizer.count_message``."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What the parts of a prompt count, before it is put together."""

    fixed_tokens: int
    """The system message without memory, and the definitions of the tools."""
    memory_tokens: int
    """MEMORY.md in the system message."""
    head_tokens: int
    """The two messages that stand for what was consolidated; 0 where there are none."""
    history_tokens: int
    """The messages from ``start`` on, as the model sees them."""
    current_tokens: int = 0
    """What is said now, with its runtime context; 0 between turns."""

    @property
    def tokens(self) -> int:
        """All of it."""
        return self.fixed_tokens + self.memory_tokens + self.head_tokens + self.history_tokens + self.current_tokens


class Unsettled(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a log that is not consolidated."""

    cursor: int
    start: int
    """First message that the model sees; beyond the cursor only after ``/new``."""
    entries: Sequence[LogEntry]
    """From the cursor to the head, whole turns."""
    seen: Sequence[int]
    """What each entry counts in a prompt (``seen_tokens``)."""

    @property
    def history_tokens(self) -> int:
        """What the model sees of it."""
        return sum(self.seen[max(0, self.start - self.cursor) :])


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A range of a log to be consolidated now: whole turns, beginning at the cursor."""

    first: int
    upto: int
    """One past the last."""
    tokens: int
    """Of its messages as they are stored: what the session's sums become smaller by."""


def plan(
    unsettled: Unsettled,
    prompt_tokens: int,
    thresholds: Thresholds,
    *,
    keep_turns: int,
    force: bool = False,
    least_tokens: int = 1,
) -> Plan | None:
    """The next round of a consolidation that has begun; None when there is nothing left for it to do.

    Whether one begins is asked of ``thresholds`` once, before the first round. What lies before ``start`` is seen by no
    model any more: it is taken whole, whatever the prompt counts.

    Args:
        unsettled: the log from its cursor on.
        prompt_tokens: the estimate of the prompt.
        thresholds: of the bot's model.
        keep_turns: how many of the newest turns stay.
        force: somebody asked for it: all but those go, even below the target.
        least_tokens: how far above the target the prompt is at least.
    """
    before_start = min(unsettled.start - unsettled.cursor, len(unsettled.entries))
    if before_start > 0:
        return _first(unsettled, before_start)
    excess = prompt_tokens - thresholds.target_tokens
    if excess < least_tokens and not force:
        return None
    entries = unsettled.entries
    boundary = len(entries) if force else pick(entries, excess, seen=unsettled.seen)
    upto = None if boundary is None else clamp(entries, boundary, keep_turns=keep_turns)
    return None if upto is None else _first(unsettled, upto)


def _first(unsettled: Unsettled, count: int) -> Plan:
    tokens = sum(entry.tokens for entry in unsettled.entries[:count])
    return Plan(first=unsettled.cursor, upto=unsettled.cursor + count, tokens=tokens)


def pick(entries: Sequence[LogEntry], remove_tokens: int, *, seen: Sequence[int] | None = None) -> int | None:
    """The first boundary before which there are at least ``remove_tokens``, else the last one; None without any.

    Args:
        entries: the log from its cursor on.
        remove_tokens: how much is too much.
        seen: what each entry counts in a prompt; unset: as it is stored.
    """
    counts = [entry.tokens for entry in entries] if seen is None else seen
    boundary, removed, counted = None, 0, 0
    for boundary in boundaries(entries):
        removed += sum(counts[counted:boundary])
        counted = boundary
        if removed >= remove_tokens:
            break
    return boundary


def boundaries(entries: Sequence[LogEntry]) -> Iterator[int]:
    """Where a log may be cut: before the first message of each turn but the first.

    A turn may begin with several messages of people, of which only the first is a boundary.
    """
    for at in range(1, len(entries)):
        if entries[at].turn != entries[at - 1].turn and role_of(bytes(entries[at].wire)) == "user":
            yield at


def clamp(entries: Sequence[LogEntry], boundary: int, *, keep_turns: int) -> int | None:
    """The last boundary up to ``boundary`` behind which the newest turns and the bot's latest reply stay; or None.

    Args:
        entries: the log from ``start`` to its head.
        boundary: where it would be cut.
        keep_turns: how many of the newest turns stay, 1 at least.
    """
    found = list(boundaries(entries))
    # The first turn has no boundary of its own: where all turns are kept, nothing is left to be cut.
    kept = found[-keep_turns] if len(found) >= keep_turns else 0
    most = min(boundary, kept, _latest_reply(entries))
    return max((at for at in found if at <= most), default=None)


def _latest_reply(entries: Sequence[LogEntry]) -> int:
    """Index of the bot's latest answer in words; that of the head when it gave none."""
    for at in range(len(entries) - 1, -1, -1):
        if _is_reply(entries[at]):
            return at
    return len(entries)


def _is_reply(entry: LogEntry) -> bool:
    wire = bytes(entry.wire)
    # A turn that failed says so in an answer, which is not what the conversation goes on from.
    return not entry.dead and role_of(wire) == "assistant" and not (CALLS in wire and links_of(wire)[0])


def seen_tokens(
    entries: Sequence[LogEntry], *, old: int, result_max_chars: int, names: bool, count: Count
) -> list[int]:
    """What each message counts as a model sees it; only what differs from what is stored is counted.

    All in all rather a little too many: messages that are shown as one count less than by themselves.

    Args:
        entries: messages of the log.
        old: how many of them are old: tool results among them are cut (``workers.message_format.old_upto``).
        result_max_chars: what is kept of an old tool result.
        names: whether it is a group's, where each message is shown with who said it.
        count: counts a message.
    """
    marks = _marks({entry.sender for entry in entries} if names else set(), count)
    cut = [_cut_tokens(entry, result_max_chars, count) for entry in entries[:old]]
    stored = [entry.tokens for entry in entries[old:]]
    return [tokens + marks.get(entry.sender, 0) for tokens, entry in zip([*cut, *stored], entries, strict=True)]


def _marks(senders: set[str], count: Count) -> dict[str, int]:
    """What each name before a message counts; each is counted once, however often it stands there."""
    nothing = count(message("user", ""))
    return {sender: count(message("user", f"[{sender[:NAME_MAX_CHARS]}] ")) - nothing for sender in senders if sender}


def _cut_tokens(entry: LogEntry, max_chars: int, count: Count) -> int:
    """What a message counts when it is old."""
    wire = bytes(entry.wire)
    if role_of(wire) != "tool":
        return entry.tokens
    cut = cut_result(wire, max_chars)
    return entry.tokens if cut is wire else count(shown_result(cut))


def head_messages(continuity: str, transcript: str) -> tuple[bytes, ...]:
    """The two messages before the history that stand for what was consolidated, JSON; none without a ``continuity``.

    Args:
        continuity: where the conversation stood.
        transcript: name of the archived part that it ends with.
    """
    if not continuity:
        return ()
    said = HEAD_USER.format(transcript=transcript, continuity=continuity)
    return message("user", said), message("assistant", HEAD_ASSISTANT)
