"""Replaying and dropping dead letters that an operator chooses by name or reason."""

import datetime as dt
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from daemon.bus.dead_letters import DeadLetter, DeadLetters
from daemon.clock import stamp
from daemon.errors import InboundError

REFUSED = "cannot be replayed"
"""What the letters are counted under that stay where they are."""

LetterWork = Callable[[DeadLetters, DeadLetter], Awaitable[str]]
"""Does something with a letter, and says in a word or two what became of it."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The dead letters that an operator chose, by exactly one of these fields."""

    names: tuple[str, ...] = ()
    reason: str | None = None
    """All that were given up for it; see ``DeadLetters.all``."""
    everything: bool = False


@dataclass(frozen=True, kw_only=True)
class Worked:
    """The outcome for the chosen letters."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    """How many came to which end."""
    refused: list[InboundError] = field(default_factory=list[InboundError])
    """Why those stay that stay."""


async def one_letter(letters: DeadLetters, name: str) -> DeadLetter:
    """The dead letter with this name.

    Raises:
        InboundError: there is none, or several partitions have one.
    """
    found = await letters.named(name)
    if not found:
        raise InboundError(f"dead letter {name} was not found. The dead letter may have been replayed or deleted.")
    if len(found) > 1:
        names = " or ".join(letter.name for letter in found)
        raise InboundError(f"several dead letters have the name {name}. Use one of these full names: {names}.")
    return found[0]


async def work_off(letters: DeadLetters, choice: Choice, work: LetterWork) -> Worked:
    """Process each chosen letter with ``work``. A refused letter does not stop the others.

    Raises:
        BusUnavailable: Redis is away; what was done until then stays done.
    """
    worked = Worked()
    for name in choice.names:
        try:
            worked.outcomes[await work(letters, await one_letter(letters, name))] += 1
        except InboundError as error:
            worked.refused.append(error)
    async with aclosing(_all(letters, choice)) as chosen:
        async for letter in chosen:
            try:
                worked.outcomes[await work(letters, letter)] += 1
            except InboundError as error:
                worked.refused.append(error)
    if worked.refused:
        worked.outcomes[REFUSED] = len(worked.refused)
    return worked


async def replayed(letters: DeadLetters, letter: DeadLetter) -> str:
    """Queue a letter's message again, or send its reply again.

    Raises:
        InboundError: it stays a dead letter; the text says why.
    """
    outcome = await letters.replay(letter)
    if outcome == "full":
        raise InboundError(
            f"dead letter {letter.name} was not replayed: too many messages are pending. Replay it later."
        )
    if outcome == "unknown":
        raise InboundError(
            f"dead letter {letter.name} was not replayed: session {letter.session} no longer exists. Send a new "
            f"message."
        )
    return "replayed" if outcome == "replayed" else "already removed"


async def dropped(letters: DeadLetters, letter: DeadLetter) -> str:
    """Delete a dead letter permanently."""
    return "dropped" if await letters.drop(letter) else "already removed"


def time_of(letter: DeadLetter) -> str:
    """The time at which the letter was created: ISO 8601, UTC."""
    return stamp(dt.datetime.fromtimestamp(int(letter.stream_id.partition("-")[0]) / 1000, dt.UTC))


def excerpt_of(letter: DeadLetter, *, most: int) -> str:
    """The beginning of the letter's text, in one line of at most this many characters."""
    found = letter.message or letter.reply
    text = " ".join((found.text if found else "").split())
    line = "".join(char if char.isprintable() else " " for char in text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


async def _all(letters: DeadLetters, choice: Choice) -> AsyncGenerator[DeadLetter]:
    if choice.everything or choice.reason is not None:
        async with aclosing(letters.all(reason=choice.reason)) as found:
            async for letter in found:
                yield letter
