"""Which questions ask for several things, and which for the first time of something."""

from daemon.recall.evidence import asks_for_first, asks_for_several
from tests.tables import each_row


@each_row(
    "text, is_several",
    [
        ("How many times did I go to the lake?", True),
        ("How often did we meet?", True),
        ("Which books did I read?", True),
        ("What other instruments do I play?", True),
        ("What kinds of tea do I like?", True),
        ("Where else did I live?", True),
        ("List all my appointments", True),
        ("你给我推荐过哪些画家？", True),
        ("我去过几次厦门？", True),
        ("Welche Bücher habe ich gelesen?", True),
        ("What is my sister's dog called?", False),
        ("What was the name of the boat?", False),
        ("Which dress did I buy?", False),
        ("What's for dinner?", False),
        ("我的女儿叫什么名字？", False),
        ("I like many books.", False),
    ],
)
def test_a_question_with_several_answers_is_recognized(text: str, is_several: bool) -> None:
    assert asks_for_several(text) is is_several


@each_row(
    "text, is_first",
    [
        ("When did I first visit Ann?", True),
        ("When was the first time that we met?", True),
        ("Who was here for the first time?", True),
        ("Where did we originally live?", True),
        ("我第一次去厦门是什么时候？", True),
        ("我最早是在哪里工作的？", True),
        ("Wann war ich zum ersten Mal in Bern?", True),
        ("What is the first name of my sister?", False),
        ("Who won first place?", False),
        ("When did I visit Ann?", False),
        ("我上次去厦门是什么时候？", False),
    ],
)
def test_a_question_about_the_first_time_is_recognized(text: str, is_first: bool) -> None:
    assert asks_for_first(text) is is_first
