"""The recorded demonstration: it is what the run showed, and its judgement can fail."""

import json

from tests import demo
from tests.tables import each_row


def test_the_picture_is_made_of_the_recording() -> None:
    head, *rows = [json.loads(line) for line in demo.CAST.read_text(encoding="utf-8").splitlines()]
    lines = [(at, *told(shown)) for at, _, shown in rows]

    assert head["version"] == 2
    assert demo.picture_of(lines) == demo.PICTURE.read_text(encoding="utf-8")
    assert lines[-1][2].endswith("16 accepted, 0 lost, 0 answered twice, in order")
    assert sum("kill -9" in text for _, _, text in lines) >= 4
    assert lines[-1][0] < 60


def told(shown: str) -> tuple[str, str]:
    text = shown.removesuffix("\r\n")
    if not text.startswith("\x1b["):
        return "", text
    colour, _, rest = text.removeprefix("\x1b[").partition("m")
    return colour, rest.removesuffix("\x1b[0m")


@each_row(
    ("answered", "said"),
    [
        (["1", "2"], "2 accepted, 0 lost, 0 answered twice, in order"),
        (["1"], "2 accepted, 1 lost, 0 answered twice, NOT in order"),
        (["1", "2", "1"], "2 accepted, 0 lost, 1 answered twice, NOT in order"),
        (["2", "1"], "2 accepted, 0 lost, 0 answered twice, NOT in order"),
    ],
)
def test_what_is_lost_doubled_or_out_of_order_is_told(answered: list[str], said: str) -> None:
    assert demo.judged({"ann": ["1", "2"]}, {"ann": answered}) == ("NOT" not in said, said)
