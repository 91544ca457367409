"""Splits a range that does not fit into one request, or whose request failed. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from daemon.events import LogEntry
from workers.consolidation.consolidation_plan import boundaries
from workers.consolidation.summary.log_rendering import Line, lines_of

RATIO = 0.4
"""A chunk's share of the window, before the reserve."""
RATIO_MIN = 0.15
RATIO_DROP_MAX = 0.25
LARGE_MESSAGES = 0.1
"""From this share of the window on, messages are so large on the average that chunks become smaller."""
MARGIN = 1.2
"""Counts are taken for so much more than they say: other models' vocabularies differ."""
OVERSIZED = 0.5
"""Of the window: a message above it has no room beside memory and answer."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn as lines; a range is committed up to the end of a turn."""

    lines: Sequence[Line]
    count: int = 0
    """Messages of the log, those without a line included."""

    @property
    def tokens(self) -> int:
        """Of its lines."""
        return sum(line.tokens for line in self.lines)


def turns_of(entries: Sequence[LogEntry], *, names: bool = False, time_zone: str = "UTC") -> list[Turn]:
    """The turns of a log, arguments as for ``lines_of``."""
    cuts = pairwise((0, *boundaries(entries), len(entries)))
    return [Turn(lines_of(entries[first:upto], names=names, time_zone=time_zone), upto - first) for first, upto in cuts]


def leading(turns: Sequence[Turn], most_tokens: int) -> Sequence[Turn]:
    """As many of the first turns as count at most ``most_tokens``."""
    for number, turn in enumerate(turns):
        most_tokens -= turn.tokens
        if most_tokens < 0:
            return turns[:number]
    return turns


def joined(turns: Sequence[Turn]) -> list[Line]:
    """The lines of ``turns``."""
    return [line for turn in turns for line in turn.lines]


def chunk_ratio(sizes: Sequence[int], window_tokens: int) -> float:
    """The share of the window for chunks of messages of these ``sizes`` in tokens."""
    average = fmean(sizes) * MARGIN / window_tokens if sizes else 0.0
    if average <= LARGE_MESSAGES:
        return RATIO
    return max(RATIO_MIN, RATIO - min(2 * average, RATIO_DROP_MAX))


def chunk_tokens(window_tokens: int, ratio: float, reserve_tokens: int) -> int:
    """The most tokens of a chunk; the reserve takes no more than half of its share."""
    share = window_tokens * ratio
    return int(share - min(reserve_tokens, share / 2))


def is_oversized(tokens: int, window_tokens: int) -> bool:
    """Whether a message is too large to be summed up beside others."""
    return tokens * MARGIN > window_tokens * OVERSIZED


def chunks(lines: Sequence[Line], limit_tokens: int) -> list[list[Line]]:
    """The lines in order, each once, in chunks of at most ``limit_tokens``; a line above it is one of its own."""
    found: list[list[Line]] = []
    room = -1
    for line in lines:
        if line.tokens > room:
            found.append([])
            room = limit_tokens
        found[-1].append(line)
        room -= line.tokens
    return found


def pieces(text: str, limit_tokens: int, count: Callable[[str], int]) -> list[Line]:
    """The lines of a text that is no log's; one above ``limit_tokens`` in several pieces. Nothing is left out."""
    return [Line(part, tokens) for line in text.split("\n") for part, tokens in _parts(line, limit_tokens, count)]


def _parts(text: str, limit_tokens: int, count: Callable[[str], int]) -> Iterator[tuple[str, int]]:
    tokens = count(text) + 1  # the line's end
    if tokens <= limit_tokens or len(text) < 2:
        yield text, tokens
        return
    half = len(text) // 2
    yield from _parts(text[:half], limit_tokens, count)
    yield from _parts(text[half:], limit_tokens, count)


def skipped_mark(oversized: Sequence[Line]) -> str:
    """What stands in an entry of the history before the messages that no summary holds."""
    total = sum(line.tokens for line in oversized)
    return f"[Skipped {len(oversized)} oversized messages ({total} tokens total); they follow unchanged]"


def compacted_note(lines: Sequence[Line], oversized: int) -> str:
    """What a model is shown in place of a range of which there is no summary."""
    total = sum(line.tokens for line in lines)
    return (
        f"[Session context was compacted: {len(lines)} messages, {total} tokens. "
        f"{oversized} oversized messages were excluded; memory/HISTORY.md contains them unchanged.]"
    )
