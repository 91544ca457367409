"""Which questions ask for the first time of something."""

from daemon.recall.evidence import asks_for_first
from tests.tables import each_row


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
