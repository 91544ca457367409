import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.errors import InvalidAnswer
from daemon.model import Answer, ToolCall
from tests.tables import each_row
from workers.consolidation.summary.save_memory import DEFINITION, NAME, REQUIRED, SavedMemory, cleaned, saved

GOOD = {"history_entry": "[2026-03-01 10:00] Ann likes tea.", "memory_update": "# Memory\n\n- Ann likes tea."}
WANTED = SavedMemory(history_entry=GOOD["history_entry"], memory_update=GOOD["memory_update"])
TEXT = json.dumps(GOOD)


def called(*arguments: object, name: str = NAME) -> Answer:
    calls = [
        ToolCall(id=str(at), name=name, arguments=given if isinstance(given, str) else json.dumps(given))
        for at, given in enumerate(arguments)
    ]
    return Answer(text="", tool_calls=tuple(calls))


def test_the_definition_is_a_tool_with_both_fields_required():
    function = msgspec.json.decode(DEFINITION)["function"]

    assert function["name"] == NAME
    assert function["parameters"]["required"] == list(REQUIRED)
    assert set(function["parameters"]["properties"]) == {*REQUIRED, "continuity", "memory_reason"}


@each_row(
    "answer",
    [
        called(GOOD),
        called([GOOD]),
        called(json.dumps(TEXT)),
        called({"arguments": GOOD}),
        called({"arguments": TEXT}),
        called({**GOOD, "mood": "fine", "history": []}),
        called(GOOD, {"history_entry": "second", "memory_update": "second"}),
        called(GOOD, name="functions.save_memory"),
        Answer(text=TEXT),
        Answer(text=f"  {TEXT}\n"),
        Answer(text=f"```json\n{TEXT}\n```"),
        Answer(text=f"Here {{is}} what I keep:\n\n{TEXT}\n\nAnything else?"),
        Answer(text=f"[{TEXT}]"),
        Answer(text=f'<tool_call>{{"name": "save_memory", "arguments": {TEXT}}}</tool_call>'),
        Answer(text=json.dumps({"tool_calls": [{"function": {"name": NAME, "arguments": TEXT}}]})),
        Answer(text=TEXT.replace("\\n", "\n")),
    ],
)
def test_an_answer_is_understood_however_it_is_wrapped(answer):
    assert saved(answer, memory="- old") == WANTED


def test_the_call_of_the_right_name_counts_and_of_several_the_first():
    other = ToolCall(id="0", name="time", arguments="{}")
    calls = called(GOOD, {**GOOD, "history_entry": "second"}).tool_calls

    assert saved(Answer(text="", tool_calls=(other, *calls)), memory="") == WANTED


@each_row(
    "answer",
    [
        called("{}"),
        called(""),
        called("null"),
        called("[]"),
        called("not json"),
        called(TEXT[:-5]),
        called({**GOOD, "history_entry": None}),
        called({**GOOD, "history_entry": " \n\t"}),
        called({**GOOD, "history_entry": True}),
        called({**GOOD, "memory_update": None}),
        called({**GOOD, "memory_update": ""}),
        called({**GOOD, "memory_update": {}}),
        called({**GOOD, "memory_update": "(empty)"}),
        called({"history_entry": "x"}),
        called({"memory_update": "x"}),
        called("[" * 100_000),
        called('{"a":' * 100_000),
        called("9" * 10_000),
        called({**GOOD, "memory_update": "x" * 2_000_000}),
        Answer(text="I cannot do that."),
        Answer(text="{" * 100_000),
        Answer(text=TEXT[:-5]),
        Answer(text=""),
    ],
)
def test_what_is_missing_empty_or_cut_off_is_refused_and_not_quoted(answer):
    with pytest.raises(InvalidAnswer) as caught:
        saved(answer, memory="- old")

    assert "tea" not in str(caught.value)


@each_row("update", ["", "(empty)", {}, []])
def test_an_empty_update_is_right_when_the_memory_is_empty(update):
    assert saved(called({**GOOD, "memory_update": update}), memory=" ").memory_update == ""


@each_row("update", [None, True, "missing"])
def test_no_update_at_all_is_wrong_even_then(update):
    fields = {**GOOD, "memory_update": update}
    if update == "missing":
        del fields["memory_update"]

    with pytest.raises(InvalidAnswer, match="memory_update"):
        saved(called(fields), memory="")


@each_row("update", ["Unchanged.", "(no changes)", "**No change**", "无变化"])
def test_words_that_say_that_nothing_changes_do_not_become_the_memory(update):
    assert saved(called({**GOOD, "memory_update": update}), memory="- old").memory_update is None


@each_row(("value", "text"), [({"name": "小雨"}, '{"name": "小雨"}'), (["a", 1], '["a", 1]'), (42, "42"), (1.5, "1.5")])
def test_objects_lists_and_numbers_are_written_as_their_json_text(value, text):
    found = saved(called({"history_entry": value, "memory_update": value}), memory="- old")

    assert (found.history_entry, found.memory_update) == (text, text)


def test_what_no_file_can_hold_is_taken_out_or_replaced():
    arguments = r'{"history_entry": "a\u0000b\r\nc \ud83d\ude00 \ud800", "memory_update": "\u0007x"}'

    found = saved(called(arguments), memory="- old")

    assert (found.history_entry, found.memory_update) == ("ab\nc 😀 \N{REPLACEMENT CHARACTER}", "x")


def test_an_entry_stays_one_paragraph():
    entry = "[2026-03-01 10:00] One.\n\n \n[2026-03-01 11:00] Forged."

    found = saved(called({**GOOD, "history_entry": entry}), memory="")

    assert found.history_entry == "[2026-03-01 10:00] One.\n[2026-03-01 11:00] Forged."


def test_continuity_and_reason_are_taken_when_they_are_there():
    found = saved(called({**GOOD, "continuity": "Tea was chosen.", "memory_reason": "old news"}), memory="- old")

    assert (found.continuity, found.memory_reason) == ("Tea was chosen.", "old news")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(JSON, JSON, st.text(max_size=20))
def test_any_fields_give_clean_texts_or_a_refusal(entry, update, memory):
    arguments = json.dumps({"history_entry": entry, "memory_update": update})
    try:
        found = saved(called(arguments), memory=memory)
    except InvalidAnswer:
        return

    assert found.history_entry.encode()
    assert not any(ord(each) < 32 and each not in "\n\t" for each in found.history_entry)
    assert found.memory_update or found.memory_update is None or not memory.strip()


@given(st.text(), st.text())
def test_any_text_is_read_or_refused(text, arguments):
    for answer in (Answer(text=text), called(arguments)):
        with pytest.raises(InvalidAnswer):
            saved(answer, memory="")


@given(st.text(st.characters(codec=None)))
def test_a_cleaned_text_can_be_written_and_stays_as_it_is(text):
    once = cleaned(text)

    assert once.encode().decode() == once
    assert cleaned(once) == once


def test_memory_is_kept_without_what_a_model_wrapped_it_in():
    wrapped = {
        "<think>Ann likes tea?</think># Memory\n\n- Ann likes tea.",
        "Ann likes tea, so:\n</think>\n\n# Memory\n\n- Ann likes tea.",
        "# Memory\n\n<thinking>tea?</thinking>- Ann likes tea.",
        "```markdown\n# Memory\n\n- Ann likes tea.\n```",
        "```\n# Memory\n\n- Ann likes tea.\n```\n",
        "# Memory\\n\\n- Ann likes tea.",
    }

    assert {cleaned(text) for text in wrapped} == {"# Memory\n\n- Ann likes tea."}


def test_code_within_memory_stays():
    for text in (
        "# Memory\n\n```sh\necho '\\n'\n```",
        "```sh\nls\n```\nand\n```sh\npwd\n```",
        "The mark `</think>` ends it.",
    ):
        assert cleaned(text) == text
