"""A fake of Anthropic's Messages API, as strict as it is documented to be: real HTTP on loopback, real event streams.

    async with fake_anthropic([Said("Hello"), fault(529, "overloaded_error")]) as server:
        model = AnthropicModel(ModelConfig(api="anthropic", base_url=server.base_url, name="claude", api_key=KEY))

A script is one reply a request, in order, or a function from the decoded body to a reply; without one the last user
message is echoed. A request that the API would refuse is refused before the script is asked (``problem``).
"""

import base64
import binascii
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import anyio
import anyio.abc

from tests.fakes.openai_server import Call, Events, FakeOpenAI, Plain, Received, Reply
from tests.fakes.said import said

KEY = "sk-ant-very-secret-1234567890"
VERSIONS = ("2023-06-01", "2026-10-21")
FIELDS = {
    *("model", "messages", "max_tokens", "system", "tools", "tool_choice", "thinking", "stream", "cache_control"),
    *("metadata", "stop_sequences", "output_config", "service_tier"),
}
BLOCKS = {
    "user": {"text": {"text"}, "image": {"source"}, "tool_result": {"tool_use_id", "content", "is_error"}},
    "assistant": {
        "text": {"text"},
        "thinking": {"thinking", "signature"},
        "redacted_thinking": {"data"},
        "tool_use": {"id", "name", "input"},
    },
}
"""The kinds of blocks that each role has, with their fields."""
OPTIONAL = {"is_error", "content"}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")
ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
MEDIA_TYPES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
CACHED_MOST = 4
MIN_BUDGET = 1_024

Block = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """An answer; its thinking comes first, and of what is ``sealed`` nobody can read anything."""

    text: str = ""
    calls: Sequence[Call] = ()
    thinking: str = ""
    sealed: str = ""
    stop: str = ""  # stop_reason; empty: ``end_turn`` or ``tool_use``
    usage: Mapping[str, int] | None = None  # of the prompt, beside the tokens of the answer; none: ten tokens
    cut_after: int | None = None  # close the connection properly after so many events


def fault(status: int, kind: str, message: str = "it went wrong", **headers: str) -> Plain:
    return Plain(json.dumps(error(kind, message)).encode(), "application/json", status, headers)


def error(kind: str, message: str = "it went wrong") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def signature(thinking: str) -> str:
    return base64.b64encode(blake2b(thinking.encode(), digest_size=12).digest()).decode()


def content(answer: Said) -> list[Block]:
    """The blocks of an answer."""
    blocks: list[Block] = []
    if answer.thinking:
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": signature(answer.thinking)})
    if answer.sealed:
        blocks.append({"type": "redacted_thinking", "data": f"sealed:{answer.sealed}"})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    return blocks + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
        for call in answer.calls
    ]


def message(answer: Said) -> dict[str, Any]:
    """An answer that does not come as a stream."""
    counts = {"output_tokens": 5, **(answer.usage or {"input_tokens": 10})}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-1", "content": content(answer),
        "stop_reason": _stop(answer), "stop_sequence": None, "usage": counts,
    }  # fmt: skip


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n".encode()


def events(answer: Said) -> list[bytes]:
    begun = {**message(answer), "content": [], "stop_reason": None}
    begun["usage"] = {**begun["usage"], "output_tokens": 1}
    found = [event("message_start", message=begun), event("ping")]
    for index, block in enumerate(content(answer)):
        empty = {name: "" if name in ("text", "thinking", "signature") else value for name, value in block.items()}
        found.append(event("content_block_start", index=index, content_block=empty | _no_input(block)))
        found += [event("content_block_delta", index=index, delta=delta) for delta in _deltas(block)]
        found.append(event("content_block_stop", index=index))
    delta = {"stop_reason": _stop(answer), "stop_sequence": None}
    found += [event("message_delta", delta=delta, usage={"output_tokens": 5}), event("message_stop")]
    return found[: answer.cut_after]


def _no_input(block: Block) -> Block:
    return {"input": {}} if block["type"] == "tool_use" else {}


def _deltas(block: Block) -> Iterator[Block]:
    if block["type"] == "text":
        yield from ({"type": "text_delta", "text": word} for word in re.findall(r"\s*\S+\s*\Z|\s*\S+", block["text"]))
    elif block["type"] == "thinking":
        half = len(block["thinking"]) // 2
        yield from ({"type": "thinking_delta", "thinking": part} for part in _halves(block["thinking"], half))
        yield {"type": "signature_delta", "signature": block["signature"]}
    elif block["type"] == "tool_use":
        whole = json.dumps(block["input"], separators=(",", ":"))
        yield {"type": "input_json_delta", "partial_json": ""}
        yield from ({"type": "input_json_delta", "partial_json": part} for part in _halves(whole, len(whole) // 2))


def _halves(text: str, at: int) -> tuple[str, str]:
    return text[:at], text[at:]


def _stop(answer: Said) -> str:
    return answer.stop or ("tool_use" if answer.calls else "end_turn")


# What is refused


class Refused(Exception):
    """The request is none that the API takes."""


def problem(body: dict[str, Any]) -> str:
    """Why the API refuses a request; empty: it does not."""
    try:
        _check(body)
    except Refused as refused:
        return str(refused)
    return ""


def _need(holds: object, text: str) -> None:
    if not holds:
        raise Refused(text)


def _known(where: str, given: Mapping[str, Any], fields: Iterable[str]) -> None:
    strange = set(given) - {*fields}
    _need(not strange, f"{where}{min(strange, default='')}: Extra inputs are not permitted")


def _check(body: dict[str, Any]) -> None:
    _known("", body, FIELDS)
    for name in ("model", "messages", "max_tokens"):
        _need(name in body, f"{name}: Field required")
    _need(isinstance(body["max_tokens"], int) and body["max_tokens"] > 0, "max_tokens: Input should be at least 1")
    system = body.get("system", [])
    for at, block in enumerate([{"type": "text", "text": system}] if isinstance(system, str) else system):
        _need(block["type"] == "text", f"system.{at}.type: Input should be 'text'")
        _text(block)
    _tools(body)
    _thinking(body)
    _messages(body)
    cached = sum(1 for each in _dicts(body) if "cache_control" in each)
    _need(cached <= CACHED_MOST, f"A maximum of 4 blocks with cache_control may be provided. Found {cached}.")


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _dicts(each)


def _tools(body: dict[str, Any]) -> None:
    tools = body.get("tools", [])
    for at, tool in enumerate(tools):
        _known(f"tools.{at}.custom.", tool, ("name", "description", "input_schema", "cache_control", "type"))
        where = f"tools.{at}.custom"
        _need(NAME.match(tool["name"]), f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        schema = tool.get("input_schema")
        _need(isinstance(schema, dict) and schema.get("type") == "object", f"{where}.input_schema.type: Field required")
        many = {"oneOf", "allOf", "anyOf"} & {*schema}
        _need(not many, f"{where}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level")
    _need(len({tool["name"] for tool in tools}) == len(tools), "tools: Tool names must be unique.")
    choice = body.get("tool_choice")
    if choice is not None:
        _need(choice["type"] in ("auto", "any", "tool", "none"), "tool_choice.type: Input should be 'auto', 'any'")
        _need(tools, "tool_choice: tool_choice may only be specified while providing tools")
        known = choice["type"] != "tool" or any(tool["name"] == choice["name"] for tool in tools)
        _need(known, "tool_choice: Tool not found in provided tools")


def _thinking(body: dict[str, Any]) -> None:
    thinking = body.get("thinking", {"type": "disabled"})
    _known("thinking.", thinking, ("type", "budget_tokens") if thinking["type"] == "enabled" else ("type",))
    if thinking["type"] == "enabled":
        _need(thinking.get("budget_tokens", 0) >= MIN_BUDGET, "thinking.enabled.budget_tokens: at least 1024")
        enough = body["max_tokens"] > thinking["budget_tokens"]
        _need(enough, "`max_tokens` must be greater than `thinking.budget_tokens`.")
    forced = body.get("tool_choice", {"type": "auto"})["type"] in ("any", "tool")
    free = thinking["type"] == "disabled" or not forced
    _need(free, "Thinking may not be enabled when tool_choice forces tool use.")


def _messages(body: dict[str, Any]) -> None:
    messages = body["messages"]
    _need(messages, "messages: at least one message is required")
    _need(messages[0]["role"] == "user", 'messages: first message must use the "user" role')
    for at, each in enumerate(messages):
        _known(f"messages.{at}.", each, ("role", "content"))
        role = each["role"]
        _need(role == ("user", "assistant")[at % 2], f'messages: roles must alternate, but found "{role}" at {at}')
        _need(each["content"], f"messages.{at}: all messages must have non-empty content")
        for place, block in enumerate(_blocks(each)):
            _block(f"messages.{at}.content.{place}", role, block)
    last = messages[-1]["role"]
    _need(last == "user", "This model does not support assistant message prefill. It must end with a user message.")
    _calls(body)
    if body.get("thinking", {}).get("type") == "enabled":
        _begins_with_thinking(messages)


def _blocks(each: dict[str, Any]) -> list[Block]:
    given = each["content"]
    return [{"type": "text", "text": given}] if isinstance(given, str) else given


def _block(where: str, role: str, block: Block) -> None:
    fields = BLOCKS[role].get(block.get("type", ""))
    _need(fields is not None, f"{where}: Input tag {block.get('type')!r} found using 'type' does not match")
    _known(f"{where}.", block, {"type", "cache_control", *fields})
    _need(fields - OPTIONAL <= {*block}, f"{where}: Field required")
    kind = block["type"]
    if kind == "text":
        _text(block)
    elif kind == "image":
        _image(where, block["source"])
    elif kind == "tool_use":
        _need(ID.match(block["id"]), f"{where}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
        _need(NAME.match(block["name"]), f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        _need(isinstance(block["input"], dict), f"{where}.input: Input should be a valid dictionary")
    elif kind == "tool_result" and isinstance(block.get("content"), list):
        for place, inner in enumerate(block["content"]):
            _need(inner.get("type") in ("text", "image"), f"{where}.content.{place}: Input tag does not match")
            _block(f"{where}.content.{place}", "user", inner)
    elif kind == "thinking":
        _need("cache_control" not in block, f"{where}.cache_control: Extra inputs are not permitted")
        own = block["signature"] == signature(block["thinking"])
        _need(own, f"{where}: Invalid `signature` in `thinking` block")
    elif kind == "redacted_thinking":
        _need(block["data"].startswith("sealed:"), f"{where}: Invalid `data` in `redacted_thinking` block")


def _text(block: Block) -> None:
    _known("", block, ("type", "text", "cache_control"))
    _need(block["text"], "messages: text content blocks must be non-empty")
    _need(block["text"].strip(), "messages: text content blocks must contain non-whitespace text")


def _image(where: str, source: Block) -> None:
    if source["type"] == "url":
        _known(f"{where}.source.url.", source, ("type", "url"))
        _need(source["url"].startswith(("https://", "http://")), f"{where}.source.url: Only HTTPS URLs are supported.")
        return
    _known(f"{where}.source.base64.", source, ("type", "media_type", "data"))
    known = source["media_type"] in MEDIA_TYPES
    _need(known, f"{where}.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif'")
    try:
        base64.b64decode(source["data"], validate=True)
    except binascii.Error:
        raise Refused(f"{where}.image.source.base64.data: invalid base64 data") from None


def _calls(body: dict[str, Any]) -> None:
    taken: set[str] = set()
    waiting: list[str] = []
    for at, each in enumerate(body["messages"]):
        blocks = _blocks(each)
        if each["role"] == "assistant":
            final = blocks[-1]["type"]
            _need(
                final not in ("thinking", "redacted_thinking"), f"messages.{at}: The final block cannot be `{final}`."
            )
            waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
            _need(len({*waiting}) == len(waiting) and not taken & {*waiting}, "messages: `tool_use` ids must be unique")
            taken |= {*waiting}
            continue
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        first = [block["tool_use_id"] for block in blocks[: len(results)] if block["type"] == "tool_result"]
        _need(results == first, f"messages.{at}: `tool_result` blocks must come first")
        unexpected = [identity for identity in results if identity not in waiting]
        _need(not unexpected, f"messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {unexpected}")
        missing = [identity for identity in waiting if results.count(identity) != 1]
        text = f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
        _need(not missing, text)
    text = "Requests which include `tool_use` or `tool_result` blocks must define tools"
    _need(not taken or body.get("tools"), text)


def _begins_with_thinking(messages: Sequence[dict[str, Any]]) -> None:
    at = len(messages) - 1
    while at > 0 and _blocks(messages[at])[0]["type"] == "tool_result":
        at -= 2
    if at + 1 < len(messages):
        found = _blocks(messages[at + 1])[0]["type"]
        text = (
            f"messages.{at + 1}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When "
            "`thinking` is enabled, a final `assistant` message must start with a thinking block."
        )
        _need(found in ("thinking", "redacted_thinking"), text)


# The server

Answer = Said | Reply
Script = Iterable[Answer] | Callable[[dict[str, Any]], Answer]


class FakeAnthropic(FakeOpenAI):
    def __init__(self, port: int, script: Script) -> None:
        super().__init__(port, ())
        self.base_url = f"http://127.0.0.1:{port}"
        self.key = KEY
        """Empty: anybody may ask."""
        self.window: int | None = None
        """In characters of the messages; None: as large as they are."""
        self.refusals: list[str] = []
        replies = iter(()) if callable(script) else iter(script)
        self._next = script if callable(script) else lambda body: next(replies, None) or _echo(body)

    def reply(self, request: Received) -> Reply:
        if refused := self._refused(request):
            self.refusals.append(json.loads(refused.body)["error"]["message"])
            return refused
        answer = self._next(request.body)
        if not isinstance(answer, Said):
            return answer
        if request.body.get("stream"):
            return Events(events(answer), done=False)
        return Plain(json.dumps(message(answer)).encode(), "application/json")

    def _refused(self, request: Received) -> Plain | None:
        headers = request.headers
        if request.path != "/v1/messages":
            return fault(404, "not_found_error", "Not Found")
        if self.key and headers.get("x-api-key") != self.key:
            what = "invalid x-api-key" if "x-api-key" in headers else "x-api-key header is required"
            return fault(401, "authentication_error", what)
        reason = "" if headers.get("anthropic-version") in VERSIONS else "anthropic-version: header is required"
        reason = reason or ("" if headers.get("content-type") == "application/json" else "content-type: not JSON")
        reason = reason or problem(request.body)
        size = 0 if reason else len(json.dumps(request.body["messages"]))
        if self.window is not None and size > self.window:
            reason = f"prompt is too long: {size} tokens > {self.window} maximum"
        return fault(400, "invalid_request_error", reason) if reason else None


def _echo(body: dict[str, Any]) -> Said:
    last = body["messages"][-1]["content"]
    texts = [block for block in last if block["type"] == "text"] if isinstance(last, list) else last
    return Said(f"echo: {said(texts)}")


@asynccontextmanager
async def fake_anthropic(script: Script = (), *, port: int = 0) -> AsyncIterator[FakeAnthropic]:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port) as listener:
        server = FakeAnthropic(listener.extra(anyio.abc.SocketAttribute.local_port), script)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, server.serve)
            yield server
            tasks.cancel_scope.cancel()


class Claude:
    """A model that thinks before each call, and wants its thoughts back; it talks as ``providers.Provider`` does."""

    def __init__(self, summary: str) -> None:
        self.summary = summary
        self.prompts: list[list[dict[str, Any]]] = []
        self._thoughts: dict[str, list[Block]] = {}
        """Of each call, by its id."""

    def __call__(self, body: dict[str, Any]) -> Answer:
        messages = body["messages"]
        if reason := self._changed(messages):
            return fault(400, "invalid_request_error", reason)
        self.prompts.append(messages)
        number = len(self.prompts)
        if "save_memory" in json.dumps(body.get("tools", [])):
            return Said(calls=[Call("save_memory", self.summary, id=f"toolu_{number}")])
        last = _blocks(messages[-1])
        if last[0]["type"] == "tool_result" or not re.search("clock|tool time", _said(last)):
            return Said("done", thinking=f"A secret thought, {number}.")
        answer = Said(
            calls=[Call("time", id=f"toolu_{number}"), Call("time", id=f"toolu_{number}_b")],
            thinking=f"A secret thought about the clock, {number}.",
            sealed=str(number),
        )
        self._thoughts[f"toolu_{number}"] = content(answer)[:2]
        return answer

    def _changed(self, messages: Sequence[dict[str, Any]]) -> str:
        if len(messages) < 2 or _blocks(messages[-1])[0]["type"] != "tool_result":
            return ""
        latest = _blocks(messages[-2])
        wanted = [thought for block in latest for thought in self._thoughts.get(block.get("id", ""), ())]
        if [block for block in latest if "thinking" in block["type"]] == wanted:
            return ""
        return "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."


def _said(content: list[dict[str, Any]]) -> str:
    """What a message says, without the runtime context and all that is recalled beside it."""
    return re.sub(r"\[Runtime context\]\n(?:.+\n)+", "", "\n".join(each.get("text", "") for each in content))
