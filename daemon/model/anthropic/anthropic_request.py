"""A request to Anthropic's Messages API, made of messages and tools in the form of the chat completions API. Pure.

Every history becomes a request that the API takes: roles alternate and begin with the user's, each ``tool_use`` has its
``tool_result`` at the beginning of the next message, no text is empty, and each id is used once.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any, cast

import msgspec

from daemon.config.schema import ThinkingConfig
from daemon.model import provider_fields
from daemon.model.adaptation import seams
from daemon.model.chat_model import Request
from daemon.model.dialect import Dialect

Block = dict[str, Any]
"""A block of content, as the API has it."""
Message = dict[str, Any]

BEGINNING = "[The beginning of the conversation is not shown.]"
"""Said by the user where a history begins with an answer."""
NOTHING = "[This message is empty.]"
CONTINUE = "[Continue.]"
"""Said by the user where a history ends with an answer: newer models refuse to go on with one."""
NO_RESULT = "[There is no result.]"

MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
ID_MAX_CHARS = 64
NAME_MAX_CHARS = 128

_NO_ID_CHAR = re.compile(r"[^a-zA-Z0-9_-]")
_DATA_URL = re.compile(r"data:(?P<type>[\w.+/-]+);base64,(?P<data>[A-Za-z0-9+/=]+)\Z")
_CACHED = {"type": "ephemeral"}
"""Marks the end of what is the same at the next call (https://platform.claude.com/docs/en/build-with-claude/prompt-caching)."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


def body(model: str, request: Request, dialect: Dialect, *, of: str, thinking: ThinkingConfig) -> bytes:
    """The request as JSON.

    Args:
        model: its name.
        request: what is asked.
        dialect: what its server takes.
        of: whose thinking is sent back, see ``daemon.model.provider_fields.identity``.
        thinking: how it is to think.
    """
    # Only the calls of a turn follow one another so closely that what is kept pays for itself.
    caches = bool(request.current) and dialect.cache
    system, messages = conversation(dialect.messages(request, of=of), marks=seams(request) if caches else ())
    most = dialect.most(request)
    fields: dict[str, Any] = {"model": model, "max_tokens": most, "stream": dialect.stream, "messages": messages}
    if system:
        fields["system"] = [_text(system)]
    if caches:
        for block in (*fields.get("system", ()), messages[-1]["content"][-1]):
            _mark(block)
    thinks = _thinking(thinking, most, messages)
    if thinks:
        fields["thinking"] = thinks
    tools = [_tool(tool) for tool in dialect.offered(request)]
    # With thinking, no tool can be forced.
    if tools and request.force_tool and dialect.force and thinks.get("type", "disabled") == "disabled":
        fields["tool_choice"] = {"type": "tool", "name": request.force_tool}
    if not tools and (called := _called(messages)):
        # Calls in the history want their tools to be known; none of them may be called again.
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in called]
        fields["tool_choice"] = {"type": "none"}
    if tools:
        fields["tools"] = tools
    return _encode(fields)


def conversation(wires: Sequence[bytes], *, marks: Collection[int] = ()) -> tuple[str, list[Message]]:
    """The system message, empty if there is none, and the other messages.

    Args:
        wires: messages in the form of the chat completions API, JSON each.
        marks: after how many of them what was written so far is marked to be cached; the system message never is.
    """
    system: list[str] = []
    written = _Written()
    for at, wire in enumerate(wires, 1):
        fields = _decode(wire)
        if fields["role"] == "system":
            system += [block["text"] for block in _blocks(fields.get("content")) if block["type"] == "text"]
        elif fields["role"] == "assistant":
            written.answer(fields)
        elif fields["role"] == "tool":
            written.result(fields)
        else:
            written.user(fields)
        if at in marks:
            written.mark()
    return "\n\n".join(system), written.finished()


class _Written:
    """Messages as they are written, one after the other."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._user: list[Block] = []
        """What was said since the last answer."""
        self._results: dict[str, Block] = {}
        """Of the last answer's calls, by their ids here."""
        self._ids: dict[str, str] = {}
        """Of the last answer's calls: the ids in the log, and those here."""
        self._taken: set[str] = set()

    def user(self, fields: dict[str, Any]) -> None:
        self._user += _blocks(fields.get("content")) or [_text(NOTHING)]

    def result(self, fields: dict[str, Any]) -> None:
        """A result; one whose call is not in the answer before it is left out."""
        identity = self._ids.get(str(fields.get("tool_call_id")))
        content = _blocks(fields.get("content"))
        if identity is not None:
            block = {"type": "tool_result", "tool_use_id": identity}
            self._results[identity] = {**block, "content": content} if content else block

    def answer(self, fields: dict[str, Any]) -> None:
        blocks, calls = [block for block in _blocks(fields.get("content")) if block["type"] == "text"], _calls(fields)
        thoughts = _thoughts(fields)
        if not (blocks or calls):
            return
        self._flush()
        if not self._messages:
            self._messages.append({"role": "user", "content": [_text(BEGINNING)]})
        content = [*(block for at, block in thoughts if at == 0), *blocks]
        for number, call in enumerate(calls, 1):
            content += [block for at, block in thoughts if at == number]
            content.append(self._call(call))
        if self._messages[-1]["role"] == "assistant":
            self._messages[-1]["content"] += content
        else:
            self._messages.append({"role": "assistant", "content": content})

    def mark(self) -> None:
        """Have all that was written so far cached."""
        blocks = self._user or [*self._results.values()] or (self._messages[-1]["content"] if self._messages else [])
        if blocks:
            _mark(blocks[-1])

    def finished(self) -> list[Message]:
        """All of them."""
        self._flush()
        if not self._messages or self._messages[-1]["role"] == "assistant":
            self._messages.append({"role": "user", "content": [_text(CONTINUE)]})
        return self._messages

    def _call(self, call: dict[str, Any]) -> Block:
        function = cast("dict[str, Any]", call.get("function") or {})
        identity = self._free(str(call.get("id", "")))
        self._ids[str(call.get("id", ""))] = identity
        self._results[identity] = {"type": "tool_result", "tool_use_id": identity, "content": [_text(NO_RESULT)]}
        name = _NO_ID_CHAR.sub("_", str(function.get("name", "")))[:NAME_MAX_CHARS] or "_"
        return {"type": "tool_use", "id": identity, "name": name, "input": _input(function.get("arguments"))}

    def _free(self, given: str) -> str:
        """An id of letters that the API takes, and that no other call of the request has."""
        wanted = found = _NO_ID_CHAR.sub("_", given)[:ID_MAX_CHARS] or "call"
        number = 1
        while found in self._taken:
            number += 1
            end = f"_{number}"
            found = wanted[: ID_MAX_CHARS - len(end)] + end
        self._taken.add(found)
        return found

    def _flush(self) -> None:
        content = [*self._results.values(), *self._user]
        if content:
            self._messages.append({"role": "user", "content": content})
        self._user, self._results, self._ids = [], {}, {}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _blocks(content: object) -> list[Block]:
    """The texts and pictures of a message; none of the texts is empty, for the API refuses white space alone."""
    parts = cast("list[object]", content) if isinstance(content, list) else [content]
    return [block for part in parts if (block := _block(part)) is not None]


def _block(part: object) -> Block | None:
    if isinstance(part, dict):
        fields = cast("dict[str, Any]", part)
        if fields.get("type") == "image_url":
            return _picture(fields.get("image_url"))
        part = fields.get("text", f"[{fields.get('type')}]")
    return _text(part) if isinstance(part, str) and part.strip() else None


def _picture(given: object) -> Block:
    url = str(cast("dict[str, object]", given).get("url")) if isinstance(given, dict) else str(given)
    if url.startswith(("https://", "http://")):
        return {"type": "image", "source": {"type": "url", "url": url}}
    found = _DATA_URL.match(url)
    media_type = found["type"].lower().replace("image/jpg", "image/jpeg") if found else ""
    if found is None or media_type not in MEDIA_TYPES:
        return _text("[image]")
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": found["data"]}}


def _calls(fields: dict[str, Any]) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", fields.get("tool_calls") or [])


def _input(arguments: object) -> dict[str, Any]:
    """The arguments of a call; those that are no JSON object, which a model may write, as a text."""
    try:
        return _decode(str(arguments or "{}"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {"arguments": str(arguments)}


def _thoughts(fields: dict[str, Any]) -> list[tuple[int, Block]]:
    """The blocks of thinking that belong to an answer, as they came, each with its place among the others."""
    kept = fields.get(provider_fields.BLOCKS)
    found = [cast("Block", each) for each in cast("list[object]", kept) if isinstance(each, dict)] if kept else []
    return [
        (cast("int", block.get("at", 0)), {name: value for name, value in block.items() if name not in ("at", "index")})
        for block in found
        if (block.get("type") == "thinking" and block.get("signature"))
        or (block.get("type") == "redacted_thinking" and block.get("data"))
    ]


def _thinking(config: ThinkingConfig, most: int, messages: Sequence[Message]) -> dict[str, Any]:
    """The parameter; empty: none.

    With ``enabled``, an answer whose calls were just carried out must begin with thinking. Another model's has none.
    """
    if config.type == "default":
        return {}
    if config.type != "enabled":
        return {"type": config.type}
    if config.budget_tokens >= most or not _begins_with_thinking(messages):
        return {}
    return {"type": "enabled", "budget_tokens": config.budget_tokens}


def _begins_with_thinking(messages: Sequence[Message]) -> bool:
    first: Block | None = None
    for answer, results in zip(messages[-2::-2], messages[-1::-2], strict=False):
        if results["content"][0]["type"] != "tool_result":
            break
        first = answer["content"][0]
    return first is None or first["type"] in ("thinking", "redacted_thinking")


@lru_cache(maxsize=1_024)
def _tool(definition: bytes) -> Block:
    function = _decode(definition)["function"]
    tool: Block = {"name": function["name"], "input_schema": function.get("parameters") or {"type": "object"}}
    if description := function.get("description"):
        tool["description"] = description
    return tool


def _called(messages: Sequence[Message]) -> list[str]:
    """The names of the tools that the messages call."""
    return list(dict.fromkeys(block["name"] for block in _all(messages) if block["type"] == "tool_use"))


def _all(messages: Sequence[Message]) -> Iterator[Block]:
    for message in messages:
        yield from message["content"]


def _mark(block: Block) -> None:
    if block["type"] not in ("thinking", "redacted_thinking"):
        block["cache_control"] = _CACHED
