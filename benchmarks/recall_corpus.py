"""What fifty people told in thirty days, by rule and seed, with questions and where their answers stand.

Beside what is asked for later, each life holds what makes finding hard: the same words about other matters, the same
matter of other people and on other days, what was so before it changed, and small talk most of the time.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from benchmarks.recall_chinese import CHINESE
from benchmarks.recall_english import ENGLISH
from benchmarks.recall_telling import Habit, Language

LANGUAGES = (ENGLISH, CHINESE)
PEOPLE = 25
"""Of each language."""
DAYS = 30
EXCHANGES = (8, 14)
"""Least and most of a day; more where more is told."""
FACTS, DEEDS, CHANGES, LABELS, THREADS = 14, 4, 3, 2, 2
"""How many of each kind a person tells."""
DOERS = 3
"""People who did the same, each with something else."""
HABIT_DAYS = 12
CHANGED = (range(12), range(15, DAYS))
"""Days on which it was so first, and became otherwise."""
TURNED = 2 / 3
"""Chance of a fact to be asked for in other words than it was told in."""
MOST_ANSWERS = 5
"""Of a question about a week or a month."""
NOTED = 0.5
"""Chance of what was told to stand in the day's summary as well."""
NEAR = 0.7
"""Chance of each sentence with the words of a fact and another matter to be said."""
FIRST_DAY = dt.datetime(2026, 1, 5, 18, tzinfo=dt.UTC)
START_SPREAD_DAYS = 270
PAUSE_S = (40, 900)
"""Between an answer and what is said next."""

QuestionKind = Literal["words", "turned", "name", "date", "period", "change", "label", "thread"]


@dataclass(frozen=True, kw_only=True)
class Message:
    """What a person said, or the bot."""

    time: dt.datetime
    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked on the morning after the last day."""

    kind: QuestionKind
    text: str
    answers: tuple[str, ...]
    evidence: tuple[tuple[str, ...], ...]
    """For each answer the sentences that hold it, each in exactly one place; one of them is enough."""


@dataclass(kw_only=True)
class Life:
    """What a person told, and is asked about."""

    number: str
    """Which of those of its language it is; another seed's have others."""
    name: str
    language: str
    now: dt.datetime
    """When the questions are asked."""
    messages: list[Message] = field(default_factory=list[Message])
    history: list[str] = field(default_factory=list[str])
    """Summaries, as entries of HISTORY.md."""
    questions: list[Question] = field(default_factory=list[Question])


@dataclass(frozen=True, kw_only=True)
class _Told:
    """Something that is said on a day."""

    day: int
    answer: str
    says: str
    noted: str = ""
    before: tuple[str, str] | None = None
    """What the person said and the bot asked back before it."""


def lives(seed: int = 1, *, people: int = PEOPLE) -> list[Life]:
    """So many of each language; the same seed gives the same."""
    return [_Living(language, seed, number).life() for language in LANGUAGES for number in range(people)]


class _Living:
    """Makes one life."""

    def __init__(self, language: Language, seed: int, number: int) -> None:
        self._language = language
        self._chance = Random(f"{seed} {language.code} {number}")
        self._start = FIRST_DAY + dt.timedelta(days=self._chance.randrange(START_SPREAD_DAYS))
        now = self._start.replace(hour=9) + dt.timedelta(days=DAYS)
        name = language.names[number % len(language.names)]
        self._life = Life(number=f"{seed}-{number}", name=name, language=language.code, now=now)
        self._told: list[_Told] = []

    def life(self) -> Life:
        """What it is."""
        for make in (self._facts, self._deeds, self._habits, self._changes, self._labels, self._threads):
            make()
        self._chance.shuffle(self._told)
        for day in range(DAYS):
            self._live(day)
        return self._life

    def _facts(self) -> None:
        asked = self._chance.sample(self._language.facts, FACTS)
        for fact in asked:
            way = self._chance.choice(fact.ways)
            answer, other = self._chance.sample(fact.answers, 2)
            told = self._tell(self._any_day(), way.says, fact.noted, a=answer)
            turned = self._chance.random() < TURNED
            self._ask("turned" if turned else "words", way.turned if turned else way.asked, told)
            for near in fact.near:
                if self._chance.random() < NEAR:
                    self._tell(self._any_day(), near, b=other, who=self._somebody())

    def _deeds(self) -> None:
        people = self._people(DEEDS * DOERS)
        for deed in self._chance.sample(self._language.deeds, DEEDS):
            answers = self._chance.sample(deed.answers, DOERS)
            doers = [people.pop() for _ in answers]
            for who, answer in zip(doers, answers, strict=True):
                told = self._tell(self._any_day(), deed.says, deed.noted, a=answer, who=who)
                if who == doers[0]:
                    self._ask("name", deed.asked, told, who=who)
            for mention in self._chance.sample(self._language.mentions, 2):
                self._tell(self._any_day(), mention, who=doers[0])

    def _habits(self) -> None:
        for habit in self._language.habits:
            days = self._chance.sample(range(DAYS), min(HABIT_DAYS, len(habit.answers)))
            answers = self._chance.sample(habit.answers, len(days))
            told = [
                self._tell(day, habit.says, habit.noted, a=answer) for day, answer in zip(days, answers, strict=True)
            ]
            self._ask("date", habit.asked, told[0], date=self._named(days[0]))
            self._ask_period(habit, told)

    def _ask_period(self, habit: Habit, told: list[_Told]) -> None:
        """What happened in the week before, or in a month, unless that is nothing or too much."""
        today = self._life.now.date()
        monday = today - dt.timedelta(days=today.weekday() + 7)
        weeks = [one for one in told if monday <= self._date(one.day) < monday + dt.timedelta(days=7)]
        months = [one for one in told if self._date(one.day).month == self._date(0).month]
        name = self._language.in_month.format(month=self._language.months[self._date(0).month - 1])
        for period, within in ((self._language.last_week, weeks), (name, months)):
            if 0 < len(within) <= MOST_ANSWERS and self._chance.random() < 1 / 2:
                self._ask("period", habit.asked, *within, date=period)

    def _changes(self) -> None:
        for change in self._chance.sample(self._language.changes, CHANGES):
            before, after = self._chance.sample(change.answers, 2)
            first, later = (self._chance.choice(days) for days in CHANGED)
            self._tell(first, change.first, change.noted, a=before)
            self._ask("change", change.asked, self._tell(later, change.later, change.noted, a=after))

    def _labels(self) -> None:
        for label in self._chance.sample(self._language.labels, LABELS):
            ids = self._chance.sample(label.ids, DOERS)
            for name, answer in zip(ids, self._chance.sample(label.answers, DOERS), strict=True):
                told = self._tell(self._any_day(), label.says, label.noted, a=answer, id=name)
                if name == ids[0]:
                    self._ask("label", label.asked, told, id=name)

    def _threads(self) -> None:
        for thread in self._chance.sample(self._language.threads, THREADS):
            answer = self._chance.choice(thread.answers)
            before = (thread.begins, thread.back)
            told = self._tell(self._any_day(), thread.says, thread.noted, before=before, a=answer)
            self._ask("thread", thread.asked, told)

    def _tell(self, day: int, says: str, noted: str = "", before: tuple[str, str] | None = None, **slots: str) -> _Told:
        kept = noted if self._chance.random() < NOTED else ""
        told = _Told(
            day=day,
            answer=slots.get("a", ""),
            says=self._filled(says, **slots),
            noted=kept.format(**slots),
            before=before,
        )
        self._told.append(told)
        return told

    def _ask(self, kind: QuestionKind, text: str, *told: _Told, **slots: str) -> None:
        evidence = tuple(tuple(filter(None, (one.says, one.noted))) for one in told)
        answers = tuple(one.answer for one in told)
        self._life.questions.append(Question(kind=kind, text=text.format(**slots), answers=answers, evidence=evidence))

    def _live(self, day: int) -> None:
        """What is said on a day, and its summary."""
        told = [one for one in self._told if one.day == day]
        exchanges = max(self._chance.randint(*EXCHANGES), len(told))
        turns: list[_Told | None] = [*told, *[None] * (exchanges - len(told))]
        self._chance.shuffle(turns)
        now = self._start + dt.timedelta(days=day)
        for turn in turns:
            if turn and turn.before:
                begins, back = turn.before
                self._say(now, "user", begins)
                self._say(now + dt.timedelta(seconds=5), "assistant", back)
                now += dt.timedelta(seconds=60)
            self._say(now, "user", self._talk(turn))
            now += dt.timedelta(seconds=self._chance.randint(2, 20))
            self._say(now, "assistant", self._several(self._language.answers, 3))
            now += dt.timedelta(seconds=self._chance.randint(*PAUSE_S))
        noted = self._language.joint.join(one.noted for one in told if one.noted)
        if noted:
            about = self._chance.choice(self._language.pools["thing"])
            summary = self._language.summary.format(name=self._life.name, told=noted, about=about)
            self._life.history.append(f"[{now:%Y-%m-%d %H:%M}] {summary}")

    def _talk(self, told: _Told | None) -> str:
        if told is None:
            return self._several(self._language.small_talk, 2)
        opening = "" if told.before else self._chance.choice(self._language.openings)
        return f"{opening}{self._language.space if opening else ''}{told.says}"

    def _several(self, sentences: tuple[str, ...], most: int) -> str:
        chosen = self._chance.sample(sentences, self._chance.randint(1, most))
        return self._language.space.join(map(self._filled, chosen))

    def _say(self, time: dt.datetime, role: Literal["user", "assistant"], text: str) -> None:
        self._life.messages.append(Message(time=time, role=role, text=text))

    def _filled(self, text: str, **slots: str) -> str:
        """A sentence with what it leaves open."""
        if "{" not in text:
            return text
        wanted = {name: pool for name, pool in self._language.pools.items() if f"{{{name}" in text.lower()}
        drawn = {name: self._chance.sample(pool, 2) for name, pool in wanted.items()}
        pools = {name + number: pair[place] for name, pair in drawn.items() for place, number in enumerate(("", "2"))}
        pools |= {name.capitalize(): drawn[:1].upper() + drawn[1:] for name, drawn in pools.items()}
        return text.format(**({"who": self._somebody()} | pools | slots))

    def _any_day(self) -> int:
        return self._chance.randrange(DAYS)

    def _somebody(self) -> str:
        return self._chance.choice(self._people(1))

    def _people(self, count: int) -> list[str]:
        return self._chance.sample([name for name in self._language.names if name != self._life.name], count)

    def _named(self, number: int) -> str:
        """How somebody who is asked on the morning after names a day."""
        return self._chance.choice([*self._names(self._date(number))])

    def _date(self, number: int) -> dt.date:
        return (self._start + dt.timedelta(days=number)).date()

    def _names(self, day: dt.date) -> Iterator[str]:
        language, today = self._language, self._life.now.date()
        month = language.months[day.month - 1]
        for pattern in language.dates:
            yield pattern.format(day=day.day, month=month, number=day.month, iso=day.isoformat())
        monday = today - dt.timedelta(days=today.weekday())
        # In the week before and yet the latest of its name: nobody reads it otherwise.
        if monday - dt.timedelta(days=7) <= day < monday and (today - day).days < 7:
            yield language.last_weekday.format(weekday=language.weekdays[day.weekday()])
        if day == today - dt.timedelta(days=1):
            yield language.yesterday
