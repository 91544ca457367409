"""Whether ``queue unknown`` lists what it should, both ways, held against what the platform and the server saw. Pure.

An attempt's outcome is unknown when its mark was made, nothing was noted of it, and somebody went on with its part. The
platform knows what the dispatcher cannot: whether the attempt arrived, and whether its answer was taken in.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

RESENT, GIVEN_UP = "resent", "given up"


@dataclass(frozen=True, kw_only=True)
class Place:
    reply: str
    part: int
    number: int  # from 1

    @property
    def key(self) -> tuple[str, int]:
        return self.reply, self.part

    def __str__(self) -> str:
        return f"{self.reply} part {self.part} attempt {self.number}"


@dataclass(frozen=True, kw_only=True)
class Attempt:
    place: Place
    leader: str  # nonce of who sent it
    taken: bool = True  # whether it was delivered
    answered: bool = True  # whether its sender took in the whole answer
    in_time: bool = True  # whether it did so well before it would have given up waiting


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One line of ``queue unknown``."""

    place: Place  # the attempt of which nobody knows
    action: str


@dataclass(kw_only=True)
class Book:
    asked: dict[str, Place] = field(default_factory=dict[str, Place])
    """By its mark, each attempt that somebody wanted to begin."""
    leaders: dict[Place, str] = field(default_factory=dict[Place, str])
    """Who was allowed to begin it, or gave the part up in its stead."""
    noted: set[Place] = field(default_factory=set[Place])  # attempts whose outcome was noted


def unlisted(attempts: Sequence[Attempt], listed: Sequence[Outcome], book: Book) -> list[str]:
    """What was sent again, or given up, after an attempt whose outcome nobody could know and that is not listed."""
    known, latest = {outcome.place for outcome in listed}, _latest(book.leaders)
    found = []
    for key, ours in _by_part(attempts).items():
        for at, attempt in enumerate(ours):
            followed = at + 1 < len(ours) or latest.get(key, 0) > attempt.place.number
            if followed and (attempt.taken or not attempt.answered) and attempt.place not in known:
                found.append(f"{attempt.place} is followed by another and not listed")
    return found + list(_beyond(attempts, listed)) + list(_uneven(attempts, listed))


def unfounded(attempts: Sequence[Attempt], listed: Sequence[Outcome], book: Book) -> list[str]:
    """Lines of the list without an attempt whose outcome was unknown."""
    arrived = {attempt.place: attempt for attempt in attempts}
    begun = [*book.leaders, *arrived, *(outcome.place for outcome in listed)]
    latest, asked = _latest(begun), set(book.asked.values())
    found = []
    for outcome in listed:
        place, attempt = outcome.place, arrived.get(outcome.place)
        if place not in asked:
            found.append(f"{place} is listed and was never begun")
        if place in book.noted:
            found.append(f"{place} is listed and its outcome was noted")
        if outcome.action == RESENT and latest[place.key] <= place.number:
            found.append(f"{place} is listed as resent and nothing followed it")
        if attempt and attempt.answered and attempt.in_time and book.leaders.get(_next(place)) == attempt.leader:
            found.append(f"{place} is listed though it was answered, and by nobody but its own sender")
    return found


def doubled(attempts: Sequence[Attempt]) -> int:
    """Parts that arrived more than once, each counted once too few."""
    return sum(sum(attempt.taken for attempt in ours) - 1 for ours in _by_part(attempts).values() if _taken(ours))


def listed_doubled(attempts: Sequence[Attempt], listed: Sequence[Outcome]) -> int:
    """Lines of the list that say ``resent`` of an attempt that arrived, and so did a later one."""
    parts = _by_part(attempts)
    count = 0
    for outcome in listed:
        numbers = [each.place.number for each in _taken(parts.get(outcome.place.key, []))]
        count += outcome.action == RESENT and outcome.place.number in numbers and max(numbers) > outcome.place.number
    return count


def _beyond(attempts: Sequence[Attempt], listed: Sequence[Outcome]) -> Iterator[str]:
    """Parts that were sent again more than once, or after they were given up."""
    ends: dict[tuple[str, int], list[Outcome]] = defaultdict(list)
    for outcome in listed:
        ends[outcome.place.key].append(outcome)
    for (reply, part), ours in ends.items():
        if [each.action for each in ours] not in ([RESENT], [RESENT, GIVEN_UP]):
            yield f"{reply} part {part} is listed as {', '.join(each.action for each in ours)}"
    for attempt in attempts:
        ours = ends.get(attempt.place.key, [])
        if any(each.action == GIVEN_UP and each.place.number < attempt.place.number for each in ours):
            yield f"{attempt.place} was sent after the part was given up"


def _uneven(attempts: Sequence[Attempt], listed: Sequence[Outcome]) -> Iterator[str]:
    twice, told = doubled(attempts), listed_doubled(attempts, listed)
    if twice != told:
        yield f"{twice} parts arrived once more, {told} are listed as resent and did"


def _by_part(attempts: Sequence[Attempt]) -> Mapping[tuple[str, int], list[Attempt]]:
    """The attempts of each part, by number, those of one number as they arrived."""
    parts: dict[tuple[str, int], list[Attempt]] = defaultdict(list)
    for attempt in sorted(attempts, key=lambda attempt: attempt.place.number):
        parts[attempt.place.key].append(attempt)
    return parts


def _taken(attempts: Sequence[Attempt]) -> list[Attempt]:
    return [attempt for attempt in attempts if attempt.taken]


def _latest(places: "Mapping[Place, str] | Sequence[Place]") -> Mapping[tuple[str, int], int]:
    latest: dict[tuple[str, int], int] = {}
    for place in places:
        latest[place.key] = max(latest.get(place.key, 0), place.number)
    return latest


def _next(place: Place) -> Place:
    return Place(reply=place.reply, part=place.part, number=place.number + 1)
