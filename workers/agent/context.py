"""What a model is sent: a system message, the newest whole turns that fit, the turn in progress. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from daemon.config import MicroCompactConfig
from daemon.errors import ContextOverflow
from daemon.events import LogEntry
from workers.agent.history import ShownTurn, View
from workers.agent.micro import old_upto
from workers.agent.shorten import Piece, Shares, fitted
from workers.agent.spoken import spoken
from workers.agent.trim import history_room, iteration
from workers.agent.wires import merged, message, role_of, taken_apart

LEAST_ROOM_TOKENS = 100
"""With less, the turn before the current one is left out rather than shortened."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What holds for all prompts of a bot."""

    budget_tokens: int
    """The most that a prompt may count."""
    context_budget_tokens: int
    """The most of history from a turn's second model call on; 0: all that fits."""
    micro: MicroCompactConfig
    shares: Shares
    view: View


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What stays the same through all model calls of a turn."""

    system: bytes
    """The system message, JSON."""
    system_tokens: int
    tools_tokens: int
    """What the tools' definitions count."""
    context: str
    """The runtime context; ends at a blank line."""
    names: bool
    """Whether it is a group, whose messages are shown with who said them."""
    history: Sequence[LogEntry]
    """Whole turns from before this one, oldest first."""

    @property
    def fixed_tokens(self) -> int:
        """What is there whatever was said."""
        return self.system_tokens + self.tools_tokens


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """The messages of a request, JSON each, and what they count."""

    messages: tuple[bytes, ...]
    system_tokens: int
    tools_tokens: int
    history_tokens: int
    current_tokens: int
    history_turns: int = 0
    """How many earlier turns are in it."""

    @property
    def tokens(self) -> int:
        """All of it."""
        return self.system_tokens + self.tools_tokens + self.history_tokens + self.current_tokens


def prompt(rules: Rules, scene: Scene, current: Sequence[LogEntry]) -> Prompt:
    """The prompt for the next model call of the turn ``current``.

    Raises:
        ContextOverflow: not even the turn in progress can be made to fit.
    """
    stored_tokens = sum(entry.tokens for entry in chain(scene.history, current)) + scene.fixed_tokens
    old = old_upto(len(scene.history), current, rules.micro, prompt_tokens=stored_tokens)
    room = rules.budget_tokens - scene.fixed_tokens
    now = _current(rules, scene, current, old=max(0, old - len(scene.history)), room=room)
    current_tokens = sum(piece.tokens for piece in now)
    turns = _newest(rules, scene, old=old, room=room - current_tokens, call=iteration(current))
    earlier = chain.from_iterable(turn.messages for turn in turns)
    return Prompt(
        messages=(scene.system, *_apart(chain(earlier, (piece.wire for piece in now)))),
        system_tokens=scene.system_tokens,
        tools_tokens=scene.tools_tokens,
        history_tokens=sum(turn.tokens for turn in turns),
        current_tokens=current_tokens,
        history_turns=len(turns),
    )


def _current(rules: Rules, scene: Scene, current: Sequence[LogEntry], *, old: int, room: int) -> list[Piece]:
    """The turn in progress, shortened until it fits."""
    view = rules.view
    roles = [role_of(bytes(entry.wire)) for entry in current]
    said = next((at for at, role in enumerate(roles) if role != "user"), len(roles))
    # The same at every call of the turn, and as long as a person likes.
    opening = view.counted(spoken(current[:said], names=scene.names, before=scene.context))
    pieces = [opening, *view.pieces(current[said:], old=old - said, names=scene.names)]
    shown = fitted(pieces, room, view.count, rules.shares)
    while sum(piece.tokens for piece in shown) > room:
        pieces = _without_oldest_round(pieces)
        shown = fitted(pieces, room, view.count, rules.shares)
    return shown


def _without_oldest_round(pieces: Sequence[Piece]) -> list[Piece]:
    """A turn without its first answer and the results of it: what is left when nothing more can be shortened."""
    answers = [at for at, piece in enumerate(pieces) if role_of(piece.wire) == "assistant"]
    if len(answers) < 2:
        raise ContextOverflow("the message and what belongs to it do not fit into the model's window")
    return [pieces[0], *pieces[answers[1] :]]


def _newest(rules: Rules, scene: Scene, *, old: int, room: int, call: int) -> list[ShownTurn]:
    """The newest whole turns that fit, oldest first: never one with a gap after it."""
    allowed = history_room(room, rules.context_budget_tokens, iteration=call)
    kept: list[ShownTurn] = []
    for turn in rules.view.turns(scene.history, old=old, names=scene.names):
        if turn.tokens > allowed:
            break
        allowed -= turn.tokens
        kept.append(turn)
    if not kept and scene.history and room == allowed:
        kept = _last_shortened(rules, scene, old=old, room=room)
    while kept and (not kept[-1].messages or role_of(kept[-1].messages[0]) != "user"):
        kept.pop()
    return kept[::-1]


def _last_shortened(rules: Rules, scene: Scene, *, old: int, room: int) -> list[ShownTurn]:
    """The turn before this one when it alone does not fit: without it a person would be asked what he means."""
    if room < LEAST_ROOM_TOKENS:
        return []
    entries = list(next(groupby(reversed(scene.history), key=lambda entry: entry.turn))[1])[::-1]
    first = len(scene.history) - len(entries)
    pieces = rules.view.pieces(entries, old=max(0, old - first), names=scene.names)
    shown = fitted(pieces, room, rules.view.count, rules.shares, own=False)
    tokens = sum(piece.tokens for piece in shown)
    return [ShownTurn(tuple(piece.wire for piece in shown), tokens)] if tokens <= room else []


def _apart(wires: Iterable[bytes]) -> list[bytes]:
    """The messages, with two user messages that stand side by side as one, which counts no more than both."""
    found: list[bytes] = []
    for wire in wires:
        if found and wire.startswith(b'{"role":"user"') and found[-1].startswith(b'{"role":"user"'):
            found[-1] = message("user", merged([taken_apart(each)["content"] for each in (found[-1], wire)]))
        else:
            found.append(wire)
    return found
