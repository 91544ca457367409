"""Lives that nobody lived hold what is asked about them, once, and the questions do not give it away."""

import datetime as dt
import re
from collections import Counter
from statistics import mean

import pytest

from benchmarks.recall_baseline import STOP_CHINESE, STOP_ENGLISH
from benchmarks.recall_corpus import DAYS, LANGUAGES, PEOPLE, Life, lives
from benchmarks.recall_telling import Language
from tests.tables import each_row

MOST_SHARED = 0.67  # of the words of a question in other words, those that its fact was told in as well
ALIKE = 5  # letters by which words of one stem begin


@pytest.fixture(scope="module")
def everybody() -> list[Life]:
    return lives()


def test_the_same_seed_gives_the_same_lives_and_another_others() -> None:
    first, again, other = (lives(seed, people=2) for seed in (1, 1, 2))

    assert first == again
    assert first != other


def test_there_are_fifty_people_in_two_languages_with_thirty_days_each(everybody: list[Life]) -> None:
    assert Counter(life.language for life in everybody) == {"en": PEOPLE, "zh": PEOPLE}
    for life in everybody:
        days = {message.time.date() for message in life.messages}
        assert len(days) == DAYS
        assert max(days) < life.now.date() <= max(days) + dt.timedelta(days=1)
        times = [message.time for message in life.messages]
        assert times == sorted(times)


def test_all_evidence_stands_in_exactly_one_message_and_at_most_one_entry_of_the_history(everybody: list[Life]) -> None:
    for life in everybody:
        for said, *noted in (sentences for question in life.questions for sentences in question.evidence):
            assert sum(said in message.text for message in life.messages) == 1, said
            assert [sum(note in entry for entry in life.history) for note in noted] == [1] * len(noted), noted


def test_every_kind_is_asked_in_both_languages_and_everybody_is_asked(everybody: list[Life]) -> None:
    kinds = {
        language: {question.kind for life in everybody if life.language == language for question in life.questions}
        for language in ("en", "zh")
    }

    assert kinds["en"] == kinds["zh"]
    assert len(kinds["en"]) == 8
    assert all(len(life.questions) >= 20 for life in everybody)


def test_no_question_holds_its_answer_and_all_evidence_does(everybody: list[Life]) -> None:
    for life in everybody:
        for question in life.questions:
            for answer, sentences in zip(question.answers, question.evidence, strict=True):
                assert answer.lower() not in question.text.lower(), question
                assert all(answer in sentence for sentence in sentences), question


@each_row("language", LANGUAGES)
def test_a_question_in_other_words_shares_few_of_them_with_what_was_told(language: Language) -> None:
    shares = {way.turned: shared(way.turned, way.says) for fact in language.facts for way in fact.ways}

    assert {text: share for text, share in shares.items() if share > MOST_SHARED} == {}
    assert mean(shares.values()) < 0.4


@each_row("language", LANGUAGES)
def test_what_is_near_a_fact_does_not_tell_it(language: Language) -> None:
    for fact in language.facts:
        assert all("{a}" not in near for near in fact.near)
        assert all("{a}" in way.says and "{" not in way.asked + way.turned for way in fact.ways)
        assert len(set(fact.answers)) == len(fact.answers) >= 5


def shared(question: str, told: str) -> float:
    """Which part of the words of a question that say something stands in what was told."""
    asked, said = (words(text.replace("{a}", "")) for text in (question, told))
    return len(asked & said) / len(asked)


def words(text: str) -> set[str]:
    english = {word[:ALIKE] for word in re.findall("[a-z]+", text.lower()) if word not in STOP_ENGLISH}
    runs = re.split(f"[{''.join(STOP_CHINESE)}]|[^\u4e00-\u9fff]", text)
    return english | {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
