"""Tool calls that come as text, because the server does not take them out of what its model writes. Pure.

The forms are those of the models' own chat templates: Hermes and Qwen (``<tool_call>``, with JSON or XML inside), Llama
(bare JSON, or behind ``<|python_tag|>``), Mistral (``[TOOL_CALLS]``), DeepSeek (``<｜tool▁calls▁begin｜>``).
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
    elif _MISTRAL.match(text):
        yield from _each(_MISTRAL, text, _named)
    else:
        yield from _described(text.removeprefix("[TOOL_CALLS]").removeprefix("<|python_tag|>"))


def _each(form: re.Pattern[str], text: str, read: Callable[[re.Match[str]], Found]) -> Found:
    if form.sub("", text).strip():
        raise ValueError("the text contains more than tool calls")
    for found in form.finditer(text):
        yield from read(found)


def _hermes(found: re.Match[str]) -> Found:
    if "<function=" not in found[1]:
        yield from _described(found[1])
        return
    for function in _FUNCTION.finditer(found[1]):
        yield function[1], _json({name: _value(text) for name, text in _PARAMETER.findall(function[2])})


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
