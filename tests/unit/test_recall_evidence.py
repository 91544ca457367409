"""Which passages are evidence for a question: statements, not earlier questions and empty answers."""

import datetime as dt

from daemon.clock import stamp
from daemon.recall.chunks import Chunk, message_chunks
from daemon.recall.evidence import is_empty_answer, is_question
from daemon.recall.index.index_store import NOWHERE, FeedPosition, Index
from daemon.recall.index.passages import hits_of
from daemon.recall.index.ranking import ranked
from daemon.recall.search_results import Hit, InPrompt
from daemon.recall.search_terms import query_terms
from tests.tables import each_row

NOW = dt.datetime(2026, 11, 22, 9, tzinfo=dt.UTC)
MANY = 200
"""More repetitions than are read at first."""


@each_row(
    "text, asks",
    [
        ("What is my dog called?", True),
        ("what is my dog called", True),
        ("Hi! Where did I park the car?", True),
        ("Tell me the name of my dog", True),
        ("我的女儿叫什么名字", True),
        ("你还记得我住在哪里吗", True),
        ("Wie heißt mein Hund?", True),
        ("My dog is called Rex.", False),
        ("My dog is called Rex. Do you like the name?", False),
        ("Have a nice day", False),
        ("没什么事", False),
        ("我的女兒叫什麼名字", True),
        ("沒什麼事", False),
        ("还什么收据都要", False),
        ("我女儿叫小美。", False),
        ("Thanks!", False),
        ("What a pity. " + "We walked along the harbor for hours. " * 20, False),
    ],
)
def test_a_text_that_only_asks_is_a_question(text: str, asks: bool) -> None:
    assert is_question(text) is asks


@each_row(
    "text, is_empty",
    [
        ("I don't know what your dog is called.", True),
        ("I'm sorry, I don't have any information about the boat in our conversations.", True),
        ("You haven't told me your dog's name yet.", True),
        ("No relevant memories found.", True),
        ("That was not mentioned in our chats.", True),
        ("There is nothing about it in my memory.", True),
        ("我不知道你的狗叫什么。", True),
        ("没有找到相关的记录。", True),
        ("我沒有找到相關的記錄。", True),
        ("I don't know its name, but it is a beagle.", False),
        ("Your dog is called Rex.", False),
        ("You do not eat meat.", False),
        ("你的狗叫旺财。", False),
    ],
)
def test_an_answer_is_empty_if_it_only_says_that_nothing_is_known(text: str, is_empty: bool) -> None:
    assert is_empty_answer(text) is is_empty


def test_an_earlier_question_and_its_empty_answer_do_not_displace_the_statement() -> None:
    told = ["We got a beagle puppy, and the children named it Biscuit.", "How lovely!"]
    asked = ["What is the name of our beagle puppy?", "I don't know the name of your beagle puppy."] * MANY

    first, *rest = _found("What is the name of our beagle puppy?", told + asked)

    assert "Biscuit" in first.snippet
    assert not rest


def test_the_answer_to_an_earlier_question_is_found_without_words_of_the_question() -> None:
    found = _found("What is the name of our beagle puppy?", ["What is the name of our beagle puppy?", "Biscuit."])

    assert ["Biscuit" in hit.snippet for hit in found] == [True]


def test_the_score_of_a_hit_is_relative_to_the_best_statement() -> None:
    told = ["The beagle has a vet now.", "Good.", "What is the name of our beagle puppy?", "I don't know."]

    best, *_ = _found("What is the name of our beagle puppy?", told)

    assert (best.score, "vet" in best.snippet) == (1.0, True)


def test_a_question_counts_less_than_a_statement_with_the_same_words() -> None:
    between = ["Hm.", "On Sunday.", "Fine.", "Well.", "Oh."]
    told = ["Which harbor has the red boat?", *between, "The red boat came into the harbor."]

    best, *_ = _found("red boat harbor", told)

    assert "came into" in best.snippet.splitlines()[-1]


def test_a_statement_that_repeats_the_message_of_the_turn_is_no_hit_in_a_turn_but_is_found_by_a_search() -> None:
    told = ["I will sail to the island with Ann tomorrow.", "Have fun!"]

    in_turn = _found("I will sail to the island with Ann tomorrow.", told)
    searched = _found("I will sail to the island with Ann tomorrow.", told, in_turn=False)

    assert (len(in_turn), len(searched)) == (0, 1)


def _found(query: str, told: list[str], *, in_turn: bool = True) -> list[Hit]:
    """Hits among messages that a person and the bot wrote in turns."""
    index, chunks, time = Index.in_memory(forgets=0), list[Chunk](), NOW - dt.timedelta(days=3)
    for number, text in enumerate(told):
        speaker = "assistant" if number % 2 else "ann"
        chunks += message_chunks(text, session="web:ann", index=number, time=stamp(time), speaker=speaker)
        time += dt.timedelta(minutes=1)
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))
    prompt = InPrompt(file="transcript/web:other", first=0) if in_turn else None

    scored = index.ask(lambda found: ranked(found, query_terms(query, NOW), limit=30, prompt=prompt))
    hits = index.ask(lambda found: hits_of(found, scored, limit=5, prompt=prompt, query=query))
    index.close()
    return list(hits)
