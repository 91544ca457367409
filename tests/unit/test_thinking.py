"""Reasoning at the beginning of a text is kept apart, however the text is torn."""

from hypothesis import given
from hypothesis import strategies as st

from daemon.model.reasoning import OTHERS, ReasoningFilter
from tests.tables import each_row


def taken_apart(pieces: list[str]) -> tuple[str, str]:
    thinking, text = ReasoningFilter(), ""
    for piece in pieces:
        added = thinking.feed(piece)
        text = added if thinking.unsaid else text + added
        thinking.unsaid = False
    text += thinking.end()
    return "".join(thinking.thoughts), text


@each_row(
    ("whole", "thoughts", "text"),
    [
        ("Hello", "", "Hello"),
        ("<think>hm</think>Hello", "hm", "Hello"),
        ("\n <think>\nhm\n</think>\n\nHello ", "\nhm\n", "Hello "),
        ("<think></think>Hello", "", "Hello"),
        ("<think>a</think>b</think>c", "a", "b</think>c"),
        ("<think>a < b </thin </think>c", "a < b </thin ", "c"),
        ("<think>for ever", "for ever", ""),
        ("<think>for ever</thin", "for ever</thin", ""),
        ("<thinking>hm</think></thinking>Hello", "hm</think>", "Hello"),
        ("[THINK]hm[/THINK]Hello", "hm", "Hello"),
        ("◁think▷hm◁/think▷Hello", "hm", "Hello"),
        ("<seed:think>hm</seed:think>Hello", "hm", "Hello"),
        ("<thought>hm</thought>Hello", "hm", "Hello"),
        ("<reasoning>hm</reasoning>Hello", "hm", "Hello"),
        ("hm[/THINK]Hello", "hm", "Hello"),
        ("A <b>word</b></reasoning>", "", "A <b>word</b></reasoning>"),
        ("hm\n</think>\n\nHello", "hm\n", "Hello"),
        ("hm</thinking>Hello", "hm", "Hello"),
        ("`</think>` ends it", "", "`</think>` ends it"),
        ("```\n</think>\n```", "", "```\n</think>\n```"),
        (
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>1 < 2<|return|>",
            "hm",
            "1 < 2",
        ),
        *((f"{begin}hm{end}Hello", "hm", "Hello") for begin, end in OTHERS.items()),
        ("<THINK>hm</Think>\n\nHello", "hm", "Hello"),
        ('<think time="3">hm</think>Hello', "hm", "Hello"),
        ("<mm:think>hm</mm:think>Hello", "hm", "Hello"),
        ("<think:open>hm</think:open>Hello", "hm", "Hello"),
        ("<antThinking>hm</antThinking>Hello", "hm", "Hello"),
        ("<think><think>hm</think></think>Hello", "<think>hm", "Hello"),
        ("<think>one</think>\n<think>two</think>\nHello", "onetwo", "Hello"),
        ("<think>hm</think>\n<answer>\nHello</answer>", "hm", "Hello"),
        ("<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Hello<|END_RESPONSE|>", "hm", "Hello"),
        ("</think>\n\nHello", "", "Hello"),
        ("<answer>Hello</answer>", "", "<answer>Hello</answer>"),
        ("<b>Hello</b>", "", "<b>Hello</b>"),
        ("<|message|>Hello<|return|>", "", "Hello"),
        ("<|start|>assistant<|message|>Hello<|end|><|endoftext|>", "", "Hello"),
        ("<|channel|>other<|message|>hm<|end|><|channel|>final <|constrain|>json<|message|>Hello", "hm", "Hello"),
        ("Say <think>no</think>", "", "Say <think>no</think>"),
        ("  ", "", "  "),
        ("<thi", "", "<thi"),
    ],
)
def test_reasoning_and_text(whole: str, thoughts: str, text: str) -> None:
    assert taken_apart([whole]) == taken_apart(list(whole)) == (thoughts, text)


texts = st.lists(st.sampled_from(["<think>", "</think>", "<", "</", "think>", " ", "\n", "a", "你"]), max_size=12).map(
    "".join
)


@given(texts, st.data())
def test_where_a_text_is_torn_changes_nothing(whole: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    pieces = [whole[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]

    assert taken_apart(pieces) == taken_apart([whole])


@given(texts)
def test_a_text_without_reasoning_stays_as_it_is(whole: str) -> None:
    if not whole.lstrip().startswith("<think>") and "</think>" not in whole:
        assert taken_apart([whole]) == ("", whole)
