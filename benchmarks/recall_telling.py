"""What people tell and are asked about later: the shapes of the sentences a language brings along."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Way:
    """One wording of a fact, with ``{a}`` the answer and ``{who}`` a name."""

    says: str
    asked: str
    """In the words in which it was told."""
    turned: str
    """In other words: of its words that say something at most two thirds stand in ``says``, often none."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Something told once."""

    ways: tuple[Way, ...]
    noted: str
    """As the summary of a day has it, after the person's name."""
    near: tuple[str, ...]
    """What somebody says who does not tell it: the same words, another matter; ``{b}`` is another answer."""
    answers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Deed:
    """What several named people did, each something else."""

    says: str
    asked: str
    noted: str
    answers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Habit:
    """What happens on many days, each time otherwise; asked for with ``{date}``."""

    says: str
    asked: str
    noted: str
    answers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Change:
    """What was so first and is otherwise later."""

    first: str
    later: str
    asked: str
    noted: str
    answers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Label:
    """Something with an ``{id}`` that people type exactly."""

    says: str
    asked: str
    noted: str
    ids: tuple[str, ...]
    """Alike: the others of them are told of too."""
    answers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Thread:
    """What is told because the bot asks back: the matter stands in its question, the answer in what comes after."""

    begins: str
    back: str
    says: str
    asked: str
    noted: str
    answers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Language:
    """All that is said in a language."""

    code: str
    names: tuple[str, ...]
    facts: tuple[Fact, ...]
    deeds: tuple[Deed, ...]
    habits: tuple[Habit, ...]
    changes: tuple[Change, ...]
    labels: tuple[Label, ...]
    threads: tuple[Thread, ...]
    openings: tuple[str, ...]
    """Before a fact, in the same message; some are empty."""
    mentions: tuple[str, ...]
    """Of somebody, by name, beside the matter."""
    small_talk: tuple[str, ...]
    """What people write otherwise, with the slots of ``pools``."""
    answers: tuple[str, ...]
    """What the bot says to all of it."""
    pools: Mapping[str, tuple[str, ...]]
    summary: str
    """Of a day: ``{name}``, ``{told}``, ``{about}``."""
    joint: str
    """Between what was told."""
    space: str
    """Between sentences."""
    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    dates: tuple[str, ...]
    """Ways to name a day: ``{day}``, ``{month}`` (its name), ``{number}`` (of the month), ``{iso}``."""
    last_weekday: str
    """Of the week before: ``{weekday}``."""
    yesterday: str
    last_week: str
    in_month: str
    """``{month}``."""
