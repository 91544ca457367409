"""Whether the chats show what was answered: all of it, in order, once, or twice where that is listed. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.chaos.marks import heard
from tests.chaos.outcomes import GIVEN_UP, RESENT
from tests.soak.mind import SHORTENED


@dataclass(frozen=True, kw_only=True)
class Reply:
    turn: int
    text: str
    answers: Sequence[int]  # numbers of the messages that it answers


@dataclass(frozen=True, kw_only=True)
class Talk:
    """One conversation, as the log has it and as its chat shows it."""

    session: str
    name: str  # what its marks begin with
    replies: Sequence[Reply]
    shown: Sequence[str] | None  # the replies among what stands there; None: nobody has looked
    listed: Mapping[int, Sequence[str]] = field(default_factory=dict[int, Sequence[str]])
    """By turn, what ``queue unknown`` says of its reply."""


def unsent(talk: Talk) -> Iterator[str]:
    """Replies that nobody was shown, but for those that were given up."""
    for reply in talk.replies:
        if talk.shown is not None and reply.text not in talk.shown and not _given_up(talk, reply.turn):
            yield f"{talk.session} turn {reply.turn}: {reply.text}"


def made_up(talk: Talk) -> Iterator[str]:
    known = {reply.text for reply in talk.replies}
    yield from (f"{talk.session}: {text}" for text in dict.fromkeys(talk.shown or ()) if text not in known)


def shuffled(talk: Talk) -> Iterator[str]:
    """Chats that do not show replies in the order in which they were given, those given up aside."""
    sure = [reply.text for reply in talk.replies if not _given_up(talk, reply.turn)]
    shown = [text for text in dict.fromkeys(talk.shown or ()) if text in set(sure)]
    if shown != [text for text in sure if text in set(shown)]:
        yield f"{talk.session}: its replies stand in another order than in its log"


def unlisted(talk: Talk) -> Iterator[str]:
    """Replies that were sent more often than ``queue unknown`` says, which is once more at most."""
    times = Counter(talk.shown or ())
    for reply in talk.replies:
        again = sum(action == RESENT for action in talk.listed.get(reply.turn, ()))
        if times[reply.text] > 1 + min(again, 1):
            yield f"{talk.session} turn {reply.turn}: shown {times[reply.text]} times, listed {again} times"


def unheard(talk: Talk) -> Iterator[str]:
    """Turns whose prompt did not show a message that they answer."""
    for reply in talk.replies:
        # Of what has no room at all the newest is shown all the same.
        needed = set(reply.answers[-1:]) if reply.text.endswith(SHORTENED) else set(reply.answers)
        missing = needed - heard(reply.text).get(talk.name, frozenset())
        if missing:
            yield f"{talk.session} turn {reply.turn} answers {sorted(missing)}, and the model was not shown them"


def doubled(talk: Talk) -> int:
    return sum(times > 1 for times in Counter(talk.shown or ()).values())


def given_up(talk: Talk) -> int:
    return sum(_given_up(talk, reply.turn) for reply in talk.replies)


def _given_up(talk: Talk, turn: int) -> bool:
    return GIVEN_UP in talk.listed.get(turn, ())


CHECKS = (unsent, made_up, shuffled, unlisted, unheard)
