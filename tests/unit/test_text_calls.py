"""Tool calls that come as text are read in every well-known form, and nothing else is taken for one."""

from hypothesis import given
from hypothesis import strategies as st

from daemon.model.text_tool_calls import calls_in, may_be_calls
from tests.tables import each_row

OFFERED = {"get_weather", "time"}
ONE = [("get_weather", '{"city":"Paris"}')]
NONE: list[tuple[str, str]] = []

OBJECT = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
INVOKED = '<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n</invoke>'
IN_PYTHON = 'get_weather(city="Paris")'
FORMS = {
    "Hermes": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    "Hermes without its end": '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}',
    "Qwen3-Coder": "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n"
    "</tool_call>",
    "GLM": "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>",
    "Kimi K2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>',
    "Granite": '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
    "Llama, in a tag": '<function=get_weather>{"city": "Paris"}</function>',
    "Llama": '{"name": "get_weather", "parameters": {"city": "Paris"}}',
    "Llama with a tag": '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}',
    "Llama, arguments as text": '{"name": "get_weather", "parameters": "{\\"city\\": \\"Paris\\"}"}',
    "as in the API": '{"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris"}}}',
    "in a fence": '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
    "Mistral": '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Paris"}}]',
    "Mistral, newer": '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}',
    "Mistral, with an id": '[TOOL_CALLS]get_weather[CALL_ID]abc123def[ARGS]{"city": "Paris"}',
    "in capitals": f"<TOOL_CALL>{OBJECT}</TOOL_CALL>",
    "in a list in a tag": f"<tool_calls>[{OBJECT}]</tool_calls>",
    "with the end of a template": f"{OBJECT}<|eom_id|>",
    "with the name of a template": OBJECT.replace("get_weather", "functions.get_weather"),
    "with other keys": '{"tool_name": "get_weather", "tool_input": {"city": "Paris"}}',
    "all of a message": f'{{"tool_calls": [{{"id": "x", "type": "function", "function": {OBJECT}}}]}}',
    "in a tag in a fence": f"```xml\n<tool_call>{OBJECT}</tool_call>\n```",
    "by name and arguments": '<tool_call><name>get_weather</name><arguments>{"city": "Paris"}</arguments></tool_call>',
    "Phi": f"functools[{OBJECT}]",
    "InternLM": f"<|action_start|><|plugin|>\n{OBJECT}<|action_end|>",
    "MiniMax": f"<minimax:tool_call>\n{INVOKED}\n</minimax:tool_call>",
    "Claude": f"<function_calls>\n{INVOKED}\n</function_calls>",
    "DeepSeek V3.2": "<｜DSML｜function_calls>"
    + INVOKED.replace("</", "</｜DSML｜").replace("<i", "<｜DSML｜i").replace("<p", "<｜DSML｜p")
    + "</｜DSML｜function_calls>",
    "Seed": "<seed:tool_call><function=get_weather><parameter=city>Paris</parameter></function></seed:tool_call>",
    "Command": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}]'
    "<|END_ACTION|>",
    "Llama 4": f"[{IN_PYTHON}]",
    "LFM": f"<|tool_call_start|>[{IN_PYTHON}]<|tool_call_end|>",
    "Gemma": f"```tool_code\n{IN_PYTHON}\n```",
    "Gemma's functions": "<start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call>",
    "DeepSeek R1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
    '{"city": "Paris"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
    "DeepSeek V3.1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
    '{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
}


def read(text: str) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in calls_in(text, OFFERED)]


def test_a_call_is_read_in_every_form() -> None:
    assert {form: read(text) for form, text in FORMS.items()} == dict.fromkeys(FORMS, ONE)


def test_every_form_is_held_back_from_its_first_character_on() -> None:
    assert [form for form, text in FORMS.items() for end in range(1, len(text)) if not may_be_calls(text[:end])] == []
    assert not any(map(may_be_calls, ("Hello", "<b>", "[1]", "[a link](b)", "The {")))


@each_row(
    "text",
    [
        '<tool_call>{"name":"get_weather","arguments":{"city":"Paris"}}</tool_call>\n<tool_call>{"name":"time"}</tool_call>',
        '[TOOL_CALLS][{"name":"get_weather","arguments":{"city":"Paris"}},{"name":"time","arguments":{}}]',
        '[TOOL_CALLS]get_weather[ARGS]{"city":"Paris"}[TOOL_CALLS]time[ARGS]{}',
        '{"name":"get_weather","parameters":{"city":"Paris"}}; {"name":"time","parameters":{}}',
    ],
)
def test_several_calls_are_several(text: str) -> None:
    assert read(text) == [*ONE, ("time", "{}")]


def test_nothing_else_is_a_call() -> None:
    others = [
        "",
        "Hello",
        '{"city": "Paris"}',
        '{"name": "get_weather", "arguments": {"city": "Paris"}, "note": "as an example"}',
        '{"name": "rm", "arguments": {}}',
        '{"name": "time", "arguments": [1]}',
        'Say {"name": "time", "arguments": {}}',
        '{"name": "time", "arguments": {}} and more',
        '<tool_call>{"name": "time", "arguments": {}}</tool_call> and more',
        "<tool_call>the time</tool_call>",
        "[time(now())]",
        "[time('UTC')]",
        '{"action": "time", "tool": "time"}',
        "[" * 100_000,
    ]

    assert [text for text in others if read(text)] == []


@given(
    st.text()
    | st.sampled_from(sorted(FORMS.values())).flatmap(lambda text: st.integers(0, len(text)).map(lambda n: text[:n]))
)
def test_any_text_is_read_or_is_none(text: str) -> None:
    read(text)
