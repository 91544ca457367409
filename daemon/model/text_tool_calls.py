"""Tool calls that come as text, because the server does not take them out of what its model writes. Pure.

``<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…<|return|>``: ``final`` is for
people; ``analysis``, and ``commentary`` to nobody, are reasoning; ``commentary to=functions.NAME`` is a tool call.
Source: https://cookbook.openai.com/articles/openai-harmony

The forms are those of the models' own chat templates: a mark or a tag around the whole (``<tool_call>`` of Hermes, Qwen
and GLM, ``[TOOL_CALLS]`` of Mistral, ``<|python_tag|>`` of Llama, those of DeepSeek, Kimi, MiniMax, Seed, Command and
others), and inside it JSON, XML in one of several forms, or a call as in Python.
"""

import ast
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import cast

import msgspec

from daemon.model.chat_model import ToolCall

# OpenAI's harmony format, as gpt-oss writes it where its server does not take it apart: messages in channels.

_MESSAGE = "<|message|>"
STARTS = ("<|channel|>", "<|start|>", _MESSAGE)
"""What a text in this format begins with."""

_MARKS = (*STARTS, "<|end|>", "<|return|>", "<|call|>")
_ENDS = re.compile("|".join(map(re.escape, (*STARTS, "<|end|>", "<|return|>", "<|call|>"))))
_TO = re.compile(r"to=(?:functions\.)?([^\s<]+)")


class Harmony:
    """Text in pieces in, what is for people out."""

    def __init__(self) -> None:
        self.thoughts: list[str] = []
        """Reasoning since the caller took it last, in pieces."""
        self.calls: list[tuple[str, str]] = []
        """Tool calls: name and arguments."""
        self._held = ""
        self._header: str | None = None
        """Of the message whose text comes; None: between messages."""

    def feed(self, piece: str) -> str:
        """The text that ``piece`` adds to the answer."""
        self._held += piece
        said: list[str] = []
        while True:
            if self._header is None:
                header, found, rest = self._held.partition(_MESSAGE)
                if not found:
                    break
                self._header, self._held = header, rest
                if self._callee:
                    self.calls.append((self._callee, ""))
            end = _ENDS.search(self._held)
            if end is None:
                kept = _tail(self._held)
                said.append(self._take(self._held[: len(self._held) - kept]))
                self._held = self._held[len(self._held) - kept :]
                break
            said.append(self._take(self._held[: end.start()]))
            self._header, self._held = None, self._held[end.end() if end[0] not in STARTS else end.start() :]
        return "".join(said)

    def end(self) -> str:
        """The text that was held back; nothing more comes."""
        rest, self._held = self._held, ""
        return self._take(rest) if self._header is not None else ""

    @property
    def _callee(self) -> str:
        found = _TO.search(self._header or "")
        return found[1] if found else ""

    def _take(self, text: str) -> str:
        if self._callee:
            name, arguments = self.calls.pop()
            self.calls.append((name, arguments + text))
        elif "final" in (self._header or "") or "<|channel|>" not in (self._header or ""):
            return text
        elif text:
            self.thoughts.append(text)
        return ""


def _tail(text: str) -> int:
    """How many of the last characters may be the beginning of a mark."""
    longest = min(len(text), max(map(len, _MARKS)) - 1)
    return next((size for size in range(longest, 0, -1) if any(mark.startswith(text[-size:]) for mark in _MARKS)), 0)


Found = Iterator[tuple[str, str]]
"""Names of tools, and the arguments for each as JSON."""

_STARTS = tuple(
    start.lower()
    for start in (
        *(
            "<tool",
            "<function",
            "<invoke",
            "<|tool",
            "<start_function_call>",
            "<｜tool▁call",
            "<｜DSML｜",
            "functools[",
        ),
        *("[TOOL_CALLS]", "<|python_tag|>", "<|python_start|>", "<|START_ACTION|>", "<|action_start|>"),
        *("<minimax:tool_call>", "<seed:tool_call>", "<longcat_tool_call>"),
        *("{", "```json", "```\n{", "```tool", "```xml\n<tool", "```xml\n<function"),
    )
)
_LIST = re.compile(r"\[\s*(?:\{|[\w.]*(?:\(|\Z))")
"""What a list of calls begins with, as JSON or as in Python."""

_TAG = r"(?:\w+[:_])?(?:tool_?calls?|function_calls?|tools?)"
_TAGGED = re.compile(rf"<({_TAG})>\s*(.*?)\s*(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_MARKED = re.compile(
    r"<\|(?:START_ACTION|tool_call_start|python_start|action_start)\|>(?:<\|plugin\|>)?\s*(.*?)\s*"
    r"(?:<\|(?:END_ACTION|tool_call_end|python_end|action_end)\|>|\Z)",
    re.DOTALL,
)
_CALL_MARKS = re.compile(r"\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_calls?\|>|functools(?=\[)")
"""In front of calls, without anything behind them."""
_CALL_ENDS = re.compile(
    r"(?:\s|</s>|<\|(?:im_end|eom_id|eot_id|eot|end|return|call|endoftext)\|>|<｜end▁of▁sentence｜>)+\Z"
)
_FUNCTION = re.compile(
    r"<(?:function|invoke)(?:=| name=)[\"']?([^>\s\"']+)[\"']?>(.*?)(?:</(?:function|invoke)>|\Z)", re.DOTALL
)
_PARAMETER = re.compile(
    r"<parameter(?:=| name=)[\"']?([^>\s\"']+)[\"']?(?: string=\"(true|false)\")?>\n?(.*?)\n?(?:</parameter>|\Z)",
    re.DOTALL,
)
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
_GEMMA = re.compile(
    r"(?:<start_function_call>|<\|tool_call>)\s*call:([\w.-]+)\{(.*?)\}\s*(?:<end_function_call>|<tool_call\|>|\Z)",
    re.DOTALL,
)
_GEMMA_ARGUMENT = re.compile(r"(\w+):(?:(<escape>|<\|\"\|>)(.*?)\2|([^,]*))(?:,|\Z)", re.DOTALL)
_PYTHONIC = re.compile(r"\[?\s*[\w.]+\(")
_NAMED = re.compile(r"\A<name>\s*([\w.-]+)\s*</name>\s*<arguments>(.*?)(?:</arguments>)?\s*\Z", re.DOTALL)
_FENCE = re.compile(r"\A(?:```|~~~)\w*\s*(.*?)\s*(?:```|~~~)\Z", re.DOTALL)

_NAMES = ("name", "tool_name", "tool", "action", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "tool_input", "action_input")
_BESIDE = frozenset({"id", "type", "tool_call_id"})
"""Keys of a call as an object."""
_TEMPLATED = re.compile(r"\s*(?:functions[.:])?(.*?)(?::\d+)?\s*(?:<\|.*)?", re.DOTALL)
"""A name with the marks of its model's template: ``functions.time:0`` (Kimi), ``time<|channel|>`` (gpt-oss)."""


class _Function(msgspec.Struct, frozen=True):
    name: str = ""


class _Tool(msgspec.Struct, frozen=True):
    function: _Function = _Function()


_tool = msgspec.json.Decoder(_Tool).decode


def names_of(tools: Iterable[bytes]) -> frozenset[str]:
    """The names of tools by their definitions."""
    return frozenset(_tool(tool).function.name for tool in tools)


def offered_name(name: str, offered: Collection[str]) -> str:
    """The name of a tool offered, for one that has marks of a template around it; else the name as it is."""
    found = None if name in offered else _TEMPLATED.fullmatch(name)
    return found[1] if found and found[1] in offered else name


def may_be_calls(text: str) -> bool:
    """Whether a text that begins so may turn out to be calls, so that it is known only when it has ended."""
    begun = text.lstrip().lower()
    return _LIST.match(begun) is not None or any(begun.startswith(each) or each.startswith(begun) for each in _STARTS)


def calls_in(text: str, offered: Collection[str]) -> tuple[ToolCall, ...]:
    """The calls of tools called ``offered`` that ``text`` is; none when it is anything else, or more than that.

    They have no ids.
    """
    try:
        read = list(_read(_CALL_ENDS.sub("", _unfenced(text.strip()))))
    except (ValueError, RecursionError, SyntaxError, MemoryError):
        return ()
    found = [(offered_name(name, offered), arguments) for name, arguments in read]
    if any(name not in offered for name, _ in found):
        return ()
    return tuple(ToolCall(id="", name=name, arguments=arguments) for name, arguments in found)


def _read(text: str) -> Found:
    """The calls of a text.

    Raises:
        ValueError: it is something else.
    """
    text = text.replace("｜DSML｜", "")  # DeepSeek 3.2
    if _GEMMA.match(text):
        yield from _each(_GEMMA, text, _gemma)
    elif _TAGGED.match(text):
        yield from _each(_TAGGED, text, lambda found: _inside(found[2]))
    elif _MARKED.match(text):
        yield from _each(_MARKED, text, lambda found: _inside(found[1]))
    elif text.startswith("<｜tool"):
        yield from _each(_DEEPSEEK, _DEEPSEEK_FRAME.sub("", text), _named)
    elif text.startswith(("<|tool_calls_section_begin|>", "<|tool_call_begin|>")):
        yield from _each(_KIMI, _KIMI_FRAME.sub("", text), _named)
    elif _MISTRAL.match(text):
        yield from _each(_MISTRAL, text, _named)
    elif _FUNCTION.match(text) or text.startswith(("{", "[")) or _CALL_MARKS.match(text) or _PYTHONIC.match(text):
        yield from _inside(text)


def _each(form: re.Pattern[str], text: str, read: Callable[[re.Match[str]], Found]) -> Found:
    if form.sub("", text).strip():
        raise ValueError("the text contains more than just tool calls")
    for found in form.finditer(text):
        yield from read(found)


def _inside(text: str) -> Found:
    """The calls within a tag, or behind a mark."""
    text = _unfenced(_CALL_MARKS.sub("", text, count=1).strip())
    if glm := _GLM.match(text):
        yield glm[1], _json({name: _value(value) for name, value in _GLM_ARGUMENT.findall(glm[2])})
    elif _FUNCTION.match(text):
        yield from _each(_FUNCTION, text, _function)
    elif xml := _NAMED.match(text):
        yield xml[1], _json(_object(json.loads(xml[2] or "{}")))
    elif _PYTHONIC.match(text):
        yield from _pythonic(text)
    else:
        yield from _described(text)


def _pythonic(text: str) -> Found:
    """Calls as in Python, with values that are constants: ``[time(zone="UTC")]``."""
    tree = ast.parse(text.strip(), mode="eval").body
    for each in tree.elts if isinstance(tree, ast.List) else [tree]:
        if not isinstance(each, ast.Call) or each.args or any(argument.arg is None for argument in each.keywords):
            raise ValueError("the text is not a tool call with named arguments")
        yield ast.unparse(each.func), _json({str(one.arg): ast.literal_eval(one.value) for one in each.keywords})


def _gemma(found: re.Match[str]) -> Found:
    yield (
        found[1],
        _json({name: text if mark else _value(bare) for name, mark, text, bare in _GEMMA_ARGUMENT.findall(found[2])}),
    )


def _function(found: re.Match[str]) -> Found:
    text = found[2].strip()
    if text.startswith("{"):
        yield found[1], _json(_object(json.loads(text)))
    else:
        yield (
            found[1],
            _json(
                {
                    name: value if is_text == "true" else _value(value)
                    for name, is_text, value in _PARAMETER.findall(text)
                }
            ),
        )


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
            if isinstance(call.get("function"), dict):
                call = _object(call["function"])
            if isinstance(call.get("tool_calls"), list):
                yield from _described(_json(call.pop("tool_calls")))
            else:
                yield _call(call)


def _call(fields: dict[str, object]) -> tuple[str, str]:
    names, given = ([key for key in keys if key in fields] for keys in (_NAMES, _ARGUMENTS))
    if len(names) != 1 or len(given) > 1 or set(fields) - {*names, *given} - _BESIDE:
        raise ValueError("one of the JSON objects is not a tool call")
    name, arguments = fields[names[0]], fields[given[0]] if given else None
    if not isinstance(name, str):
        raise ValueError("the tool call has no name")  # noqa: TRY004 - as any other text that is no call
    return name, _json(_object((json.loads(arguments) if isinstance(arguments, str) else arguments) or {}))


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
