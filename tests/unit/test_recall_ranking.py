"""What is found first, of many chunks that have the words of a question."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.recall.chunks import Chunk, message_chunks
from daemon.recall.global_search import LocatedHit
from daemon.recall.global_search import ranked as ranked_over_all
from daemon.recall.index.index_store import NOWHERE, FeedPosition, Index
from daemon.recall.index.passages import hits_of
from daemon.recall.index.ranking import SHARE, coverage, expanded, ranked
from daemon.recall.search_results import Hit, InPrompt
from daemon.recall.search_terms import query_terms
from tests.tables import each_row

NOW = dt.datetime(2026, 11, 22, 9, tzinfo=dt.UTC)
DAYS = 320  # on each of them something was cooked


def test_a_day_that_is_named_is_found_among_hundreds_of_others_with_the_same_words() -> None:
    first = NOW - dt.timedelta(days=DAYS)
    chunks = [
        chunk
        for day in range(DAYS)
        for chunk in message_chunks(
            f"Cooked dish-{day} tonight.",
            session="web:ann",
            index=day,
            time=(first + dt.timedelta(days=day)).isoformat(),
        )
    ]
    index = Index.in_memory(forgets=0)
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))
    wanted = dt.date(2026, 3, 4)
    number = (wanted - first.date()).days

    query = query_terms(f"What did I cook on {wanted:%Y-%m-%d}?", NOW)
    hits = index.ask(lambda found: hits_of(found, ranked(found, query, limit=30), limit=10))
    week = query_terms("What did I cook in the first week of the year? In January 2026?", NOW)
    several = index.ask(lambda found: hits_of(found, ranked(found, week, limit=30), limit=10))

    assert f"dish-{number} " in hits[0].snippet
    assert all(hit.time.startswith("2026-01") for hit in several)
    index.close()


def test_a_rare_name_is_worth_more_than_a_common_phrase_of_chinese_characters() -> None:
    ponds = [("Kepulani", "Lazetila"), ("Lamofiwa", "Rapuniba"), ("Dovonipu", "Nilawani"), ("Kemotiti", "Vobawara")]
    told = [f"以后都用{food}喂{pond}池的鲤鱼。" for food, pond in ponds] * 8
    wanted = "以后都用Pusetivo喂Voradogu池的鲤鱼。 " + "carp and reeds return when rain fills the pond again " * 4
    texts = [*told[:16], wanted, *told[16:], *("The pond is deep.",) * 200]
    index = Index.in_memory(forgets=0)
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(said(*texts)))
    query = query_terms("Voradogu池的鲤鱼用什么喂？", NOW)

    hits = index.ask(lambda found: hits_of(found, ranked(found, query, limit=30), limit=5))

    assert "Pusetivo" in hits[0].snippet
    index.close()


COMMON, RARE = ("pond", "heron", "rain"), ("otter", "violin", "geneva", "saffron")
TEXTS = st.lists(st.lists(st.sampled_from(COMMON + RARE), min_size=1, max_size=6), min_size=1, max_size=60)


@given(TEXTS, st.lists(st.sampled_from(COMMON + RARE), min_size=1, max_size=4), st.sampled_from((0.2, 0.4, 0.8)))
def test_of_what_scores_enough_nothing_is_lost_by_looking_for_no_more(
    texts: list[list[str]], asked: list[str], least: float
) -> None:
    index = Index.in_memory(forgets=0)
    chunks = said(*(" ".join(text) for text in texts))
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))
    query, prompt = query_terms(" ".join(asked), NOW), InPrompt(file="transcript/web:bob", first=0, min_score=least)

    every = dict(index.ask(lambda found: ranked(found, query, limit=100)))
    some = dict(index.ask(lambda found: ranked(found, query, limit=100, prompt=prompt)))

    assert {row for row, score in every.items() if score >= least} <= some.keys() <= every.keys()
    index.close()


@given(
    TEXTS,
    st.lists(st.sampled_from(COMMON + RARE), min_size=1, max_size=4),
    st.integers(0, 60),
    st.frozensets(st.integers(0, 60), max_size=5),
)
def test_what_a_prompt_holds_is_no_hit_and_everything_before_it_or_hidden_in_it_may_be_one(
    texts: list[list[str]], asked: list[str], first: int, hidden: frozenset[int]
) -> None:
    index = Index.in_memory(forgets=0)
    chunks = said(*(" ".join(text) for text in texts))
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))
    query = query_terms(" ".join(asked), NOW)
    prompt = InPrompt(file="transcript/web:ann", first=first, hidden=hidden)

    every = index.ask(lambda found: ranked(found, query, limit=100))
    some = index.ask(lambda found: ranked(found, query, limit=100, prompt=prompt))
    hits = index.ask(lambda found: hits_of(found, every, limit=100, prompt=prompt))

    # Rows are numbered as the messages are, from 1 on.
    assert {row for row, _ in some} == {row for row, _ in every if row <= first or row - 1 in hidden}
    assert {hit.docid for hit in hits} <= {chunk.docid for chunk in chunks if chunk.first in {*range(first), *hidden}}
    index.close()


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(0, 60))
def test_what_a_prompt_holds_is_no_hit_among_what_was_said_elsewhere_meanwhile(here: list[bool], first: int) -> None:
    index = Index.in_memory(forgets=0)
    chunks = [
        chunk
        for number, is_here in enumerate(here)
        for chunk in said("otter and heron", session="web:ann" if is_here else "web:bob", first=number)
    ]
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))
    query, prompt = query_terms("otter heron", NOW), InPrompt(file="transcript/web:ann", first=first)

    found = index.ask(lambda found: ranked(found, query, limit=100, prompt=prompt))

    assert {row for row, _ in found} == {
        number + 1 for number, is_here in enumerate(here) if not is_here or number < first
    }
    index.close()


@given(TEXTS, st.lists(st.sampled_from(COMMON + RARE), min_size=1, max_size=4, unique=True))
def test_however_little_is_read_something_is_found_and_a_text_with_both_words_too(
    texts: list[list[str]], asked: list[str]
) -> None:
    index = Index.in_memory(forgets=0)
    chunks = said(*(" ".join(text) for text in texts))
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))
    having = {number + 1 for number, text in enumerate(texts) if not set(asked).isdisjoint(text)}
    both = {number + 1 for number, text in enumerate(texts) if set(asked) <= set(text)}

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"ROWS_EACH": 2, "ROWS_MAX": 4, "CLOSELY_MIN": 4, "CLOSELY_FACTOR": 0, "ENOUGH": 1}.items():
            patch.setattr(f"daemon.recall.index.ranking.{name}", value)
        found = [row for row, _ in index.ask(lambda found: ranked(found, query_terms(" ".join(asked)), limit=100))]

    assert set(found) <= having
    assert bool(found) == bool(having)
    assert not both or len(asked) > 2 or both & set(found)
    index.close()


def said(*texts: str, session: str = "web:ann", first: int = 0) -> list[Chunk]:
    return [
        chunk
        for index, text in enumerate(texts, first)
        for chunk in message_chunks(text, session=session, index=index, time="2026-11-20T09:00:00.000Z")
    ]


def test_of_a_day_that_is_named_an_informative_message_comes_before_a_greeting() -> None:
    told = [
        ("2026-11-08T18:00:00.000Z", "I made noodles."),
        ("2026-11-09T08:00:00.000Z", "I spent the whole evening on a coconut curry with lime leaves."),
        ("2026-11-09T18:00:00.000Z", "Bye Joanna!"),
    ]

    best, *_ = _found("What dish did Nate make on 9 November?", told)

    assert "coconut curry" in best.splitlines()[0]


CHATTER = (
    *("Good morning!", "I need more coffee.", "Work was busy again.", "I read a bit before sleep."),
    *("早上好", "今天工作好累", "看了会儿电视就睡了", "天气真差"),
)
TOLD = {
    "2026-04-04": "Swam in the freezing lake with Tom.",
    "2026-06-14": "My birthday party: Tom burned the sausages.",
    "2026-06-17": "Found brown hiking boots.",
    "2026-08-25": "和大伟在千岛湖划船，水冷得要命。",
    "2026-09-05": "今天姐姐在成都举行婚礼。",
    "2026-09-07": "早上飞到了昆明。",
}


@each_row(
    ("query", "wanted"),
    [
        ("What did I do on the weekend before April 10?", "lake"), ("What did I do from April 1 to 10?", "lake"),
        ("Was habe ich am Wochenende vor dem 10. April gemacht?", "lake"),
        ("What happened three days after my birthday party?", "boots"),
        ("Three days after my party, what did I do?", "boots"), ("What did I do the day of my party?", "sausages"),
        ("八月下旬我做了什么？", "千岛湖"), ("姐姐婚礼后两天我做了什么？", "昆明"),
    ],
)  # fmt: skip
def test_a_question_that_names_only_days_finds_what_says_most_of_them(query: str, wanted: str) -> None:
    told = [
        (f"{day:%Y-%m-%d}T{hour:02}:00:00.000Z", CHATTER[(at + hour) % len(CHATTER)])
        for at in range(200)
        for day in [NOW - dt.timedelta(days=200 + 50 - at)]
        for hour in (8, 11)
    ]
    told += [(f"{day}T18:00:00.000Z", text) for day, text in TOLD.items()]

    assert wanted in _found(query, sorted(told))[0]


def test_days_beside_an_event_that_nobody_mentioned_are_no_days() -> None:
    told = [("2026-04-04T18:00:00.000Z", "My party was great."), ("2026-04-05T18:00:00.000Z", "I bought a boat.")]
    told += [("2026-05-04T18:00:00.000Z", "I bought a tent.")]
    query = "What did I buy the day after Grandma's silver jubilee party?"

    bought = [snippet for snippet in _found(query, told) if "bought" in snippet]

    assert "tent" in bought[0]


def test_a_message_about_yesterday_is_found_by_the_day_of_which_it_speaks() -> None:
    told = [
        ("2026-05-02T18:00:00.000Z", "Yesterday I went to the pottery workshop."),
        *((f"2026-06-{day:02}T18:00:00.000Z", "We went to the pottery workshop.") for day in range(1, 29)),
    ]

    best, *_ = _found("When on 1 May 2026 did I go to the pottery workshop?", told)

    assert best.startswith("ann: Yesterday")


def test_talk_beside_a_good_hit_does_not_come_before_the_hit() -> None:
    day = "2026-03-04"
    said = ("I went with Finn to see the boat Heron.", "What a boat!", "See you, Finn.", "Ha, nice boat.", "Finn?")
    told = [(f"{day}T10:0{minute}:00.000Z", text) for minute, text in enumerate(said)]
    told += [(f"2026-05-{number:02}T10:00:00.000Z", "We saw a boat.") for number in range(1, 25)]

    best, *_ = _found(f"Which boat did I see on {day}?", told)

    assert best.startswith(f"ann: {said[0]}")


def test_a_message_of_the_named_day_that_has_no_word_of_the_question_is_found_beside_a_hit() -> None:
    day = f"{NOW - dt.timedelta(days=1):%Y-%m-%d}"
    told = [(f"{day}T18:00:00.000Z", "I cooked bream."), (f"{day}T18:01:00.000Z", "It was far too salty.")]
    told += [(f"2026-{5 + at // 28:02}-{at % 28 + 1:02}T18:00:00.000Z", "I cooked rice.") for at in range(100)]
    told += [(f"{time[:14]}30{time[16:]}", "It was fine.") for time, _ in told[2:]]
    index, chunks = Index.in_memory(forgets=0), list[Chunk]()
    for number, (time, text) in enumerate(sorted(told)):
        chunks += message_chunks(text, session="web:ann", index=number, time=time)
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))

    scored = index.ask(lambda found: ranked(found, query_terms("What did I cook yesterday?", NOW), limit=30))

    assert [chunks[row - 1].text for row, _ in scored[:2]] == ["I cooked bream.", "It was far too salty."]
    assert {chunks[row - 1].text for row, _ in scored[2:]} == {"I cooked rice."}
    index.close()


def test_messages_of_a_named_day_are_read_before_the_many_of_the_days_behind_it() -> None:
    told = [(f"{NOW - dt.timedelta(days=1):%Y-%m-%d}T18:00:00.000Z", "Cooked bream.")]
    told += [(f"{NOW:%Y-%m-%d}T{at // 60:02}:{at % 60:02}:00.000Z", f"Cooked rice for {at}.") for at in range(320)]

    assert _found("What did I cook yesterday?", told)[0].startswith("ann: Cooked bream.")


def _found(query: str, told: list[tuple[str, str]]) -> list[str]:
    """The snippets of hits among messages with their times."""
    index, chunks = Index.in_memory(forgets=0), list[Chunk]()
    for number, (time, text) in enumerate(told):
        chunks += message_chunks(text, session="web:ann", index=number, time=time, speaker="ann")
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))
    scored = index.ask(lambda found: ranked(found, query_terms(query, NOW), limit=30))
    hits = index.ask(lambda found: hits_of(found, scored, limit=5, query=query))
    index.close()
    return [hit.snippet for hit in hits]


def test_the_words_of_a_few_results_find_further_ones_which_come_last() -> None:
    index = Index.in_memory(forgets=0)
    texts = ("Bob moved to Geneva.", "Geneva has a harbor.", "Cranes stand in the reeds.", "Rain fell.")
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(said(*texts)))
    query = query_terms("Where did Bob go?", NOW)

    def found(limit: int) -> list[tuple[int, float]]:
        return index.ask(lambda rows: expanded(rows, query, ranked(rows, query, limit=limit), limit=limit))

    assert [row for row, _ in found(10)] == [1, 2]
    assert [score for _, score in found(10)] == [1.0, SHARE]
    assert [row for row, _ in found(1)] == [1]
    assert index.ask(lambda rows: expanded(rows, query, [], limit=10)) == []
    index.close()


def test_a_question_about_the_first_time_finds_the_oldest_of_similar_messages_first() -> None:
    dogs = {"2026-03-01": "Rex", "2026-03-02": "Max", "2026-03-03": "Bo"}
    told = [(day, f"I visited Ann and her dog {name}.") for day, name in dogs.items()]
    told.append(("2026-02-01", "Ann called."))

    assert "Rex" in _found("When did I first visit Ann and her dog?", told)[0]
    assert "Bo" in _found("When did I visit Ann and her dog?", told)[0]


@each_row(
    ("asked", "first", "second"),
    [
        ("Which instrument does Mia play?", "She practises the violin.", ""),
        ("Which instrument broke?", "The instrument is old.", "A violin is old."),
        ("Where is the harp?", "The harp is here.", "A violin is here."),
        ("你养了什么宠物？", "我每天喂一只花猫。", ""),
    ],
)
def test_a_word_of_the_same_class_is_found_behind_the_word_itself(asked: str, first: str, second: str) -> None:
    told = ["The weather is fine.", *filter(None, (second, first)), "Good morning everybody."]
    found = _found(asked, [(f"2026-03-{day:02}", text) for day, text in enumerate(told, 1)])

    assert len(found) == 2 - (not second)
    assert all(text in snippet for text, snippet in zip((first, second), found, strict=False))


def test_the_class_of_a_word_adds_nothing_where_the_word_itself_stands() -> None:
    index = Index.in_memory(forgets=0)
    texts = ("The harp and a violin.", "A boat.", "Rain.", "Fog.", "The harp and a lamp.")
    index.feed("log", NOWHERE, FeedPosition(1, "a"), lambda _, write: write.chunks.extend(said(*texts)))

    assert index.ask(lambda found: ranked(found, query_terms("Where is the harp?"), limit=5)) == [(5, 1), (1, 1)]
    index.close()


def test_of_hits_in_all_memories_those_with_more_of_the_words_stand_first_then_the_better_then_the_newer() -> None:
    def found(text: str, *, score: float = 1.0, time: str = "2026-11-20") -> LocatedHit:
        hit = Hit(docid=text, file="", score=score, snippet=text, time=time)
        return LocatedHit(scope=text, hit=hit, place=None)

    both = found("Otto is a heron.", score=0.1, time="2026-11-01")
    better = found("A heron came.", score=0.9, time="2026-11-01")
    newer = found("The heron left.", score=0.5, time="2026-11-02")
    older = found("No heron.", score=0.5, time="2026-11-01")

    assert ranked_over_all([older, newer, better, both], "HERON Otto") == [both, better, newer, older]


def test_a_hit_covers_the_weight_of_the_words_that_its_text_contains() -> None:
    index = Index.in_memory(forgets=0)
    texts = ("Mia plays the cello.", "Mia swims.", "Mia sleeps.", "The harp is gone.")
    index.feed("log", NOWHERE, FeedPosition(1, "a"), lambda _, write: write.chunks.extend(said(*texts)))
    query = query_terms("Does Mia play the cello or the harp?", NOW)

    cello, mia, none = (index.ask(lambda found, row=row: coverage(found, query, row)) for row in (1, 2, 3))

    assert 0.5 < cello < 1
    assert 0 < mia == none < 0.2
    index.close()
