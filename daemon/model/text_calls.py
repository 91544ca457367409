"""Tool calls that come as text, because the server does not take them out of what its model writes. Pure.

The forms are those of the models' own chat templates: Hermes and Qwen (``<tool_call>``, with JSON or XML inside), GLM
(the same with keys and values), Llama (bare JSON, behind ``<|python_tag|>``, or within ``<function=...>``), Granite
(``<|tool_call|>``), Mistral (``[TOOL_CALLS]``), DeepSeek (``<｜tool▁calls▁begin｜>``), and Kimi
(``<|tool_calls_section_begin|>``).
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import cast

import msgspec

from daemon.model.base import ToolCall

Found = Iterator[tuple[str, str]]
"""Names of tools, and the arguments for each as JSON."""

_STARTS = (
    "<tool_call>",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<|tool_call|>",
    "<function=",
    "{",
    "[{",
    "```json",
    "```\n{",
)

_HERMES = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?(?:</parameter>|\Z)", re.DOTALL)
_MISTRAL = re.compile(
    r"\[TOOL_CALLS\]\s*([\w.-]+)(?:\[CALL_ID\]\w*)?(?:\[ARGS\])?\s*(\{.*?\})\s*(?=\[TOOL_CALLS\]|\Z)", re.DOTALL
)
_DEEPSEEK = re.compile(
    r"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?([\w.-]+)(?:<｜tool▁sep｜>|\s)\s*(.*?)\s*(?:<｜tool▁call▁end｜>|\Z)",
    re.DOTALL,
)
_DEEPSEEK_FRAME = re.compile(r"<｜tool▁calls▁(?:begin|end)｜>|<｜end▁of▁sentence｜>")
_KIMI = re.compile(
    r"<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*(.*?)\s*"
    r"(?:<\|tool_call_end\|>|\Z)",
    re.DOTALL,
)
_KIMI_FRAME = re.compile(r"<\|tool_calls_section_(?:begin|end)\|>")
_GLM = re.compile(r"\A([\w.-]+)\s*((?:<arg_key>.*</arg_value>)?)\s*\Z", re.DOTALL)
_GLM_ARGUMENT = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_FENCE = re.compile(r"\A```\w*\s*(.*?)\s*```\Z", re.DOTALL)


class _Function(msgspec.Struct, frozen=True):
    name: str = ""


class _Tool(msgspec.Struct, frozen=True):
    function: _Function = _Function()


_tool = msgspec.json.Decoder(_Tool).decode


def names_of(tools: Iterable[bytes]) -> frozenset[str]:
    """The names of tools by their definitions."""
    return frozenset(_tool(tool).function.name for tool in tools)


def may_be_calls(text: str) -> bool:
    """Whether a text that begins so may turn out to be calls, so that it is known only when it has ended."""
    begun = text.lstrip()
    return any(begun.startswith(start) or start.startswith(begun) for start in _STARTS)


def calls_in(text: str, offered: Collection[str]) -> tuple[ToolCall, ...]:
    """The calls of tools called ``offered`` that ``text`` is; none when it is anything else, or more than that.

    They have no ids.
    """
    try:
        found = list(_read(text.strip()))
    except (ValueError, RecursionError):
        return ()
    if any(name not in offered for name, _ in found):
        return ()
    return tuple(ToolCall(id="", name=name, arguments=arguments) for name, arguments in found)


def _read(text: str) -> Found:
    """The calls of a text.

    Raises:
        ValueError: it is something else.
    """
    if text.startswith("<tool_call>"):
        yield from _each(_HERMES, text, _hermes)
    elif text.startswith("<｜tool"):
        yield from _each(_DEEPSEEK, _DEEPSEEK_FRAME.sub("", text), _named)
    elif text.startswith(("<|tool_calls_section_begin|>", "<|tool_call_begin|>")):
        yield from _each(_KIMI, _KIMI_FRAME.sub("", text), _named)
    elif text.startswith("<function="):
        yield from _each(_FUNCTION, text, _function)
    elif _MISTRAL.match(text):
        yield from _each(_MISTRAL, text, _named)
    else:
        for mark in ("[TOOL_CALLS]", "<|python_tag|>", "<|tool_call|>"):
            text = text.removeprefix(mark)
        yield from _described(text)


def _each(form: re.Pattern[str], text: str, read: Callable[[re.Match[str]], Found]) -> Found:
    if form.sub("", text).strip():
        raise ValueError("the text contains more than tool calls")
    for found in form.finditer(text):
        yield from read(found)


def _hermes(found: re.Match[str]) -> Found:
    if glm := _GLM.match(found[1]):
        yield glm[1], _json({name: _value(text) for name, text in _GLM_ARGUMENT.findall(glm[2])})
    elif "<function=" in found[1]:
        yield from _each(_FUNCTION, found[1], _function)
    else:
        yield from _described(found[1])


def _function(found: re.Match[str]) -> Found:
    text = found[2].strip()
    if text.startswith("{"):
        yield found[1], _json(_object(json.loads(text)))
    else:
        yield found[1], _json({name: _value(value) for name, value in _PARAMETER.findall(text)})


def _named(found: re.Match[str]) -> Found:
    yield found[1], _json(_object(json.loads(_unfenced(found[2]) or "{}")))


def _described(text: str) -> Found:
    """Calls as objects that name the tool; several are a list, or stand behind each other."""
    rest = _unfenced(text.strip())
    while rest:
        value, end = json.JSONDecoder().raw_decode(rest)
        rest = rest[end:].lstrip("; \n")
        for each in cast("list[object]", value) if isinstance(value, list) else [value]:
            call = _object(each)
            if "function" in call and isinstance(call["function"], dict):
                call = _object(cast("object", call["function"]))
            name, arguments = call.pop("name", None), call.pop("arguments", call.pop("parameters", None))
            if not isinstance(name, str) or set(call) - {"id", "type"}:
                raise ValueError("an object is not a tool call")
            arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
            yield name, _json(_object(arguments or {}))


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004 - as any other text that is no call
    return dict(cast("dict[str, object]", value))


def _value(text: str) -> object:
    """What a parameter is: JSON where it is written as such, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _unfenced(text: str) -> str:
    return found[1] if (found := _FENCE.match(text)) else text
