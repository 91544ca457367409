"""The audit of a consolidation: what it looks for in messages, where it finds it, and what it pins. Pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.recall import QuotedMessage
from tests.tables import each_row
from workers.consolidation.audit import pinned_statements as pinned_part
from workers.consolidation.audit.fact_extraction import Texts, items_of, requests_of
from workers.consolidation.audit.pinned_statements import asked_lines, is_asked, pinned_lines, with_pinned


def said(*texts: str, speaker: str = "ann", first: int = 0) -> list[QuotedMessage]:
    return [
        QuotedMessage(session="web:ann", index=at, time="", speaker=speaker, text=text)
        for at, text in enumerate(texts, first)
    ]


@each_row(
    "text, wanted",
    [
        ("My daughter Mia Lind turns 17 on March 3, 2027.", {"name Mia Lind", "number 17", "date March 3, 2027"}),
        ("It costs 1,250.50 EUR, 12% less.", {"number 1,250.50", "number 12%"}),
        ("Mail ann@example.org or see https://a.b/c?d=1.", {"address ann@example.org", "address https://a.b/c?d=1"}),
        ("Run `make check`, then src/user_id.py --all.", {"code make check", "code src/user_id.py", "code --all"}),
        ("She calls getUserName at 14:05.", {"code getUserName", "date 14:05"}),
        ('The sign says "no swimming here" in red.', {'quote "no swimming here"'}),
        ("我女儿名叫小雨，5月3日生日，牌子上写着「禁止游泳」。", {"name 小雨", "date 5月3日", "quote 禁止游泳"}),
        ("The pond has 3 herons, see xhttps://a.b/.", set[str]()),
        ("Please remember that I am allergic to nuts.", {"request Please remember that I am allergic to nuts."}),
        ("From now on call me Bo. Never mind.", {"request From now on call me Bo.", "name Bo"}),
        ("记住我喜欢用Python。以后都用中文回答。", {"request 记住我喜欢用Python。", "request 以后都用中文回答。"}),
        ("Do you always know that?", {"question Do you always know that?"}),
        ("TODO: paint the shed.", {"question TODO: paint the shed."}),
        ("I will water the plants tomorrow.", {"promise I will water the plants tomorrow."}),
        ("I will see.", set[str]()),
    ],
)  # fmt: skip
def test_facts_and_statements_are_found_in_english_and_chinese(text: str, wanted: set[str]) -> None:
    assert {f"{item.kind} {item.text}" for item in items_of(said(text))} == wanted


def test_only_people_ask_for_something_to_be_kept() -> None:
    assert items_of(said("I always answer politely.", speaker="assistant")) == []


def test_a_question_with_a_later_message_is_not_open() -> None:
    assert [item.text for item in items_of(said("Which pond?", "The large one.", "Which boat?"))] == ["Which boat?"]


WORDS = st.sampled_from(
    ["Mia Lind", "always", "记住", "4711", "。", ". ", "\n", "“a b c”", "`x_y`", "I will", "soon", "?", " ", "苍鹭", "http://a.b/"]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=20).map("".join)


@given(st.lists(TEXTS, max_size=5))
def test_each_item_stands_at_its_place_and_is_found_in_the_message_itself(texts: list[str]) -> None:
    for item in items_of(said(*texts, first=7)):
        assert texts[item.index - 7][item.begin : item.end] == item.text
        assert item.text in item.sentence
        assert Texts([texts[item.index - 7]]).hold(item)
        assert not Texts([]).hold(item)


@each_row(
    "fact, text, holds",
    [
        ("The code is 4711.", "- door code: 4711", True),
        ("The code is 4711.", "- door code: 47110", False),
        ("The price was 1,250 EUR.", "It was 1250 EUR.", True),
        ("She met Mia Lind.", "- MIA LIND came", True),
        ("She met Mia Lind.", "- Mia came", False),
        ("我女儿名叫小雨。", "- 女儿小雨喜欢大提琴", True),
    ],
)
def test_a_fact_is_kept_as_it_was_written(fact: str, text: str, holds: bool) -> None:
    [item] = items_of(said(fact))

    assert Texts([text]).hold(item) == holds


@each_row(
    "statement, text, holds",
    [
        ("Never deploy on Fridays.", "- never deploys on a Friday", True),
        ("Never deploy on Fridays.", "- deploys on Fridays", False),
        ("Always feed the blue carp before noon.", "- Always feed the red carp before noon.", False),
        ("Please remember that I am allergic to nuts.", "# Ann\n- is allergic to nuts\n", True),
        ("Please remember that I am allergic to nuts.", "# Ann\n- is allergic\n- likes nuts\n", False),
        ("记住我喜欢用Python，不用JavaScript。", "- 用户喜欢用Python，不用JavaScript", True),
        ("记住我喜欢用Python，不用JavaScript。", "- 用户喜欢用Python", False),
    ],
)
def test_a_statement_is_kept_if_one_sentence_has_all_of_its_words_but_common_ones(
    statement: str, text: str, holds: bool
):
    assert Texts([text]).hold_statement(statement) == holds


def fits(_text: str) -> bool:
    return True


STATEMENTS = st.lists(
    st.sampled_from(["Never call Bob.", "Always use tabs.", "永远不要在周五发布。", "# odd one"]), max_size=4
)
MEMORIES = st.lists(
    st.sampled_from(["# Ann", "- likes ponds", "", "## Pinned", "- Never call Bob.", "## Work", "text"]), max_size=9
).map("\n".join)


@given(MEMORIES, STATEMENTS)
def test_statements_are_pinned_once_and_nothing_else_changes(memory: str, statements: list[str]) -> None:
    text, pinned = with_pinned(memory, statements, fits=fits)

    assert with_pinned(text, statements, fits=fits) == (text, [])
    assert all(Texts([text]).hold_statement(each) for each in statements)
    assert [line for line in pinned_lines(text) if line not in pinned] == pinned_lines(memory)
    rest = [line for line in memory.splitlines() if line.strip() and line != "## Pinned"]
    assert sorted(line for line in text.splitlines() if line.strip() and line != "## Pinned") == sorted(
        [*rest, *(f"- {each}" for each in pinned)]
    )
    assert (text == memory) == (not pinned)


@given(MEMORIES, MEMORIES)
def test_only_changed_lines_are_read_for_rules_that_a_new_memory_may_have_dropped(before: str, after: str) -> None:
    read = list[str]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pinned_part, "requests_of", lambda text: read.extend(text.splitlines()) or requests_of(text))
        changed = asked_lines(before, but_of=after)

    assert not set(read) & set(after.splitlines()) - {""}
    assert set(asked_lines(before)) - set(asked_lines(after)) <= set(changed) <= set(asked_lines(before))


@given(MEMORIES)
def test_a_passage_is_asked_for_if_it_is_a_rule_or_a_pinned_line(memory: str) -> None:
    asked = asked_lines(memory)

    assert all(is_asked(memory, at := memory.index(line), at + len(line)) for line in asked)
    assert not is_asked(memory, 0, len("# Ann"))


@given(MEMORIES, STATEMENTS, st.integers(0, 60))
def test_the_pinned_part_never_grows_beyond_its_bound(memory: str, statements: list[str], most: int) -> None:
    text, pinned = with_pinned(memory, statements, fits=lambda lines: len(lines) <= most)

    assert not pinned or len("\n".join(pinned_lines(text))) <= most


@pytest.mark.parametrize("after", ["- a fact that a flush appended", "## Work\n- a fact"])
def test_what_follows_the_pinned_list_is_not_pinned(after: str) -> None:
    memory = f"# Ann\n\n## Pinned\n\n- Never call Bob.\n\n{after}"

    assert pinned_lines(memory) == ["Never call Bob."]
    assert with_pinned(memory, ["Always use tabs."], fits=fits)[0] == (
        f"# Ann\n\n## Pinned\n- Never call Bob.\n- Always use tabs.\n\n{after}"
    )
