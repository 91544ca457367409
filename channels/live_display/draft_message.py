"""The text that one chat is shown while it is being written, and what is to be done about it next."""

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Literal

import anyio

from daemon.events import Live

# Which pieces of text being written a viewer gets to see. Pure: pieces in, a judgement out.

Judgement = Literal["show", "old", "gap"]


class TextPreview:
    """What one viewer has seen of the answer being written.

    A piece with offset 0 starts the preview afresh. Only the newest turn of the highest fence is shown: what a worker
    that lost its lease still says is old, and so is all that comes of a turn once it is committed.
    """

    def __init__(self) -> None:
        self._writer = (-1, -1)
        self._sequence = -1
        self._chars = 0

    def judge(self, piece: Live, *, upto: int) -> Judgement:
        """Whether ``piece`` is to be shown, comes too late, or has a gap before it; what is shown is taken as seen.

        ``upto`` is one past the last committed message that the viewer has.
        """
        writer = (piece.fence, piece.turn)
        if piece.turn < upto or writer < self._writer:
            return "old"
        new = writer > self._writer
        if not new and piece.sequence <= self._sequence:
            return "old"
        if piece.offset not in (0, 0 if new else self._chars):
            return "gap"
        self._writer, self._sequence = writer, piece.sequence
        self._chars = piece.offset + len(piece.text)
        return "show"

    def outdates(self, *, fence: int) -> bool:
        """Whether a worker with ``fence`` has lost the session to the one that is shown."""
        return fence < self._writer[0]


BEGIN_CHARS = 40
"""So much text is shown at once: some words that are worth a look."""

BEGIN_S = 1.0
"""Less than that is shown when it has stood for so long: most short answers are whole by then."""

ORPHAN_S = 10.0
"""How long a text is left standing whose turn has ended without a reply."""

IDLE_S = 120.0
"""A text of which nothing is heard for so long is followed no more; as long as a model's call may take."""


class DraftAction(Enum):
    """What can be done about a text."""

    WAIT = auto()
    BEGIN = auto()
    """Show it: send a message."""
    EDIT = auto()
    LOOK = auto()
    """Find out whether a message is there of which nobody knows."""
    REMOVE = auto()
    """Its turn has ended without a reply."""
    FORGET = auto()
    """Follow it no more; nothing is shown, or somebody else will see to it."""


@dataclass(eq=False)
class DraftMessage:
    """What is known of the answer of one turn. Times are those of the event loop's clock, in seconds."""

    session: str
    turn: int
    heard_at: float
    every_s: float
    """Shortest time between two edits."""
    text: str = ""
    since: float = 0.0
    """When the first piece of the text came."""
    platform_id: str = ""
    """Of the message that shows it; empty: none does."""
    shown: str = ""
    """What that message says."""
    doubtful: bool = False
    """A message was sent of which nobody knows whether it is there, and it can be looked for."""
    not_before: float = 0.0
    """When the platform may be asked for something again."""
    ended_at: float | None = None
    """When its turn ended."""
    yielding_to: str = ""
    """The reply that is being sent to the chat; the text is shown again below it."""
    hidden: bool = False
    """It is not to be shown any more, or again."""
    closed: bool = False
    """The reply is being sent."""
    reply_to: str = ""
    asked_by: str = ""
    """The platform's id of whom it answers; empty: not known."""
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    """Held by whoever shows it, or takes it over."""
    changed: anyio.Event = field(default_factory=anyio.Event)
    number: int = 0
    """Of the message that shows it, from 1: the next one after the first was taken away."""
    _preview: TextPreview = field(default_factory=TextPreview)

    @property
    def reply(self) -> str:
        """Id of the reply that the text becomes."""
        return f"{self.session}#{self.turn}"

    def hear(self, piece: Live, now: float) -> Judgement:
        """Take in a piece of its text."""
        judgement = self._preview.judge(piece, upto=self.turn)
        if judgement == "show":
            self.text = self.text[: piece.offset] + piece.text
            if piece.offset == 0 or not self.since:
                self.since = now
            self.heard_at = now
        return judgement

    def tell(self) -> None:
        """Have whoever follows it look again."""
        changed, self.changed = self.changed, anyio.Event()
        changed.set()


def next_act(draft: DraftMessage, text: str, now: float) -> tuple[DraftAction, float]:
    """What is to be done about a draft that should show ``text``, and when. Pure."""
    if draft.closed or (draft.ended_at is None and now - draft.heard_at >= IDLE_S):
        return DraftAction.FORGET, now
    if draft.ended_at is not None:
        at = max(draft.ended_at + ORPHAN_S, draft.not_before)
        return (DraftAction.REMOVE if draft.platform_id or draft.doubtful else DraftAction.FORGET), at
    nothing_new = not draft.doubtful and (not text.strip() or text == draft.shown)
    if draft.hidden or draft.yielding_to or nothing_new:
        return DraftAction.WAIT, draft.heard_at + IDLE_S
    if draft.doubtful:
        return DraftAction.LOOK, draft.not_before
    if draft.platform_id:
        return DraftAction.EDIT, max(draft.not_before, now)
    begin_at = draft.since if len(text) >= BEGIN_CHARS else draft.since + BEGIN_S
    return DraftAction.BEGIN, max(begin_at, draft.not_before)
