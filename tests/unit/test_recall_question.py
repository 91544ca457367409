"""Which questions ask for several things."""

from daemon.recall.question import asks_for_several
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
