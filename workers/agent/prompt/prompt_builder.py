"""The content of a model call: a system message, the newest whole turns that fit, and the current turn. Pure."""

from collections.abc import Iterable, Sequence
from itertools import chain, groupby

import msgspec

from daemon.config import MicroCompactConfig
from daemon.errors import ContextOverflow
from daemon.events import LogEntry
from daemon.tokens import IMAGE_TOKENS
from workers.agent.prompt.history_messages import ShownTurn, View, history_room, iteration, marked
from workers.agent.prompt.message_shortening import Piece, Shares, fitted
from workers.agent.prompt.user_messages import fitting, with_pictures
from workers.message_format import USER, in_steps, merged, message, old_upto, role_of, taken_apart

MERGE_TOKENS = 8
"""What two messages may count more as one than by themselves."""
LEAST_ROOM_TOKENS = 100
"""With less, the turn before the current one is left out rather than shortened."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules for all prompts of a bot."""

    budget_tokens: int
    """The most that a prompt may count."""
    context_budget_tokens: int
    """The most of history from a turn's second model call on; 0: all that fits."""
    micro: MicroCompactConfig
    shares: Shares
    view: View
    own_of_all: bool = False
    """Whether the model's server wants what it alone understands back with each answer, not only with the newest."""


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a prompt that stay the same during a turn."""

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
    whole: bool = True
    """The history goes back to the first message that the model is to see."""
    pictures: Sequence[bytes] = ()
    """Shown behind what is said now, each a part of a message, JSON; in no log."""
    head: Sequence[Piece] = ()
    """Messages that stand before the history at every call, a user's first: what a consolidation left of older ones."""

    @property
    def fixed_tokens(self) -> int:
        """What is there whatever was said."""
        return self.system_tokens + self.tools_tokens + self.head_tokens

    @property
    def head_tokens(self) -> int:
        """What the head counts."""
        return sum(piece.tokens for piece in self.head)


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of a request, JSON each, and their tokens."""

    messages: tuple[bytes, ...]
    system_tokens: int
    tools_tokens: int
    history_tokens: int
    """Of the head as well."""
    current_tokens: int
    current: int = 1
    """How many of the last messages are the turn in progress."""
    head: int = 0
    """How many of the first messages are the system message and the head; 0: there is no head."""
    history_turns: int = 0
    """How many earlier turns are in it."""
    cut_before: int = 0
    """Index in history and current turn before which long tool results are cut."""
    overflows: bool = False
    """Not all earlier turns fit, though they may have been left out for another reason too."""
    fits: bool = False
    """Nothing was left out or shortened for want of room: with a larger budget the prompt is the same."""

    @property
    def tokens(self) -> int:
        """All of it."""
        return self.system_tokens + self.tools_tokens + self.history_tokens + self.current_tokens


def prompt(rules: Rules, scene: Scene, current: Sequence[LogEntry]) -> Prompt:
    """The prompt for the next model call of the turn ``current``.

    Raises:
        ContextOverflow: not even the turn in progress can be made to fit.
    """
    old = old_upto(len(scene.history), current, rules.micro, uncut_tokens=lambda: _uncut_tokens(scene, current))
    rests_at = in_steps(old, rules.micro)
    whole = _built(rules, scene, current, old=rests_at, squeezes=False)
    # With as much cut as may be, whatever has to be left out or shortened still.
    built = whole or _built(rules, scene, current, old=old, squeezes=True)
    if built is None:
        raise ContextOverflow("the message and its attachments do not fit into the model's context window")
    return built


def _built(rules: Rules, scene: Scene, current: Sequence[LogEntry], *, old: int, squeezes: bool) -> Prompt | None:
    """The prompt with results before ``old`` cut; None: it does not fit, though what can be squeezed was if allowed."""
    room = rules.budget_tokens - scene.fixed_tokens
    now = _current(rules, scene, current, old=max(0, old - len(scene.history)), room=room, squeezes=squeezes)
    if now is None:
        return None
    current_tokens = sum(piece.tokens for piece in now)
    turns, overflows = _newest(rules, scene, old=old, room=room - current_tokens, call=iteration(current))
    if overflows and not squeezes:
        return None
    head, newest = [piece.wire for piece in scene.head], [piece.wire for piece in now]
    return Prompt(
        messages=(scene.system, *_apart([head, *[turn.messages for turn in turns], newest])),
        system_tokens=scene.system_tokens,
        tools_tokens=scene.tools_tokens,
        history_tokens=scene.head_tokens + sum(turn.tokens for turn in turns),
        current_tokens=current_tokens,
        current=len(newest),
        head=1 + len(head) if head else 0,
        history_turns=sum(turn.turns for turn in turns),
        cut_before=old,
        overflows=overflows or not scene.whole,
        fits=not squeezes,
    )


def _current(
    rules: Rules, scene: Scene, current: Sequence[LogEntry], *, old: int, room: int, squeezes: bool
) -> list[Piece] | None:
    """The turn in progress, shortened until it fits if it may be, with the runtime context in front; None: too long."""
    view = rules.view
    context = view.counted(message("user", scene.context))
    room -= context.tokens + MERGE_TOKENS
    pictures = fitting(scene.pictures, room) if scene.pictures else ()
    if len(pictures) < len(scene.pictures) and not squeezes:
        return None
    room -= IMAGE_TOKENS * len(pictures)
    pieces = view.pieces(current, old=old, names=scene.names, own=True)
    if not pieces or role_of(pieces[0].wire) != "user":
        pieces.insert(0, view.counted(message("user", "")))
    if not squeezes and sum(piece.tokens for piece in pieces) > room:
        return None
    shown = fitted(pieces, room, view.count_shown, rules.shares)
    while sum(piece.tokens for piece in shown) > room:
        answers = [at for at, piece in enumerate(pieces) if role_of(piece.wire) == "assistant"]
        if len(answers) < 2:
            return None
        # Without the first answer and the results of it: nothing more can be shortened.
        pieces = [pieces[0], *pieces[answers[1] :]]
        shown = fitted(pieces, room, view.count_shown, rules.shares)
    said = taken_apart(shown[0].wire).get("content")
    # The same at every call of the turn, and as long as a person likes.
    first = view.counted(message("user", merged([scene.context, said])))
    if pictures:
        first = Piece(with_pictures(first.wire, pictures), first.tokens + IMAGE_TOKENS * len(pictures))
    return [first, *marked(shown[1:])]


def _newest(rules: Rules, scene: Scene, *, old: int, room: int, call: int) -> tuple[list[ShownTurn], bool]:
    """The newest whole turns that fit, oldest first, never one with a gap after it; whether there is no room for all.

    From a turn's second call on fewer may be allowed than there is room for; the last exchange always is.
    """
    allowed = history_room(room, rules.context_budget_tokens, iteration=call)
    kept: list[ShownTurn] = []
    tokens = 0
    for turn in rules.view.turns(scene.history, old=old, names=scene.names, own=rules.own_of_all, room=allowed):
        tokens += turn.tokens
        if tokens > room:
            break
        if tokens <= allowed:
            kept.append(turn)
    if not kept and scene.history:
        kept = _last_shortened(rules, scene, old=old, room=room)
    while kept and (not kept[-1].messages or role_of(kept[-1].messages[0]) != "user"):
        kept.pop()
    return kept[::-1], tokens > room


def _last_shortened(rules: Rules, scene: Scene, *, old: int, room: int) -> list[ShownTurn]:
    """The turn before this one when it alone does not fit: without it a person would be asked what he means."""
    if room < LEAST_ROOM_TOKENS:
        return []
    entries = list(next(groupby(reversed(scene.history), key=lambda entry: entry.turn))[1])[::-1]
    first = len(scene.history) - len(entries)
    pieces = rules.view.pieces(entries, old=max(0, old - first), names=scene.names, own=rules.own_of_all)
    shown = fitted(pieces, room, rules.view.count_shown, rules.shares, own=False)
    tokens = sum(piece.tokens for piece in shown)
    return [ShownTurn(tuple(piece.wire for piece in marked(shown)), tokens)] if tokens <= room else []


def _uncut_tokens(scene: Scene, current: Sequence[LogEntry]) -> int:
    return scene.fixed_tokens + sum(entry.tokens for entry in chain(scene.history, current))


def _apart(turns: Iterable[Sequence[bytes]]) -> list[bytes]:
    """The messages of all turns; where one ends and the next begins with a user message, the two become one.

    It counts no more than both.
    """
    found: list[bytes] = []
    for messages in turns:
        if found and messages and found[-1].startswith(USER) and messages[0].startswith(USER):
            contents = [taken_apart(wire).get("content") for wire in (found.pop(), messages[0])]
            found.append(message("user", merged(contents)))
            found += messages[1:]
        else:
            found += messages
    return found
