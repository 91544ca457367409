"""The messages of a past that a prompt really shows. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from daemon.events import LogEntry
from workers.agent.history import spans_of
from workers.agent.prompt_builder import Prompt, Scene
from workers.agent.prompt_history import Past
from workers.message_format import TOOL
from workers.result_trimming import cut_result


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What recall need not find, since a prompt contains it."""

    past: Past
    """The content before the current turn, of which the prompt shows as much as fits."""
    first: int
    """Index in the log of the first message that the prompt contains, with all messages after it."""
    hidden: frozenset[int] = frozenset()
    """Indexes of later messages of which the prompt contains only a part."""
    wires: Sequence[bytes] = ()
    """The messages of the prompt between the system message and the current turn, JSON each."""
    memory: str = ""
    """MEMORY.md as the system message contains it, perhaps shortened."""

    def covers(self, other: "Shown") -> bool:
        """Whether all messages that this one leaves to recall include those that ``other`` leaves."""
        return other.first <= self.first and all(at in self.hidden or at < self.first for at in other.hidden)


def shown(past: Past, scene: Scene, built: Prompt, *, memory: str, max_chars: int) -> Shown:
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
    return Shown(
        past=past,
        first=past.first + first,
        hidden=frozenset(past.first + at for at in hidden),
        wires=built.messages[1 : len(built.messages) - built.current],
        memory=memory,
    )


def _is_cut(entry: LogEntry, max_chars: int) -> bool:
    wire = bytes(entry.wire)
    return wire.startswith(TOOL) and cut_result(wire, max_chars) is not wire
