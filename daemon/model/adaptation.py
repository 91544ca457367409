"""Messages of the log in the form that one server takes; they are rewritten on the way out, the log stays. Pure.

The API takes four marks at most (https://openrouter.ai/docs/guides/best-practices/prompt-caching). They stand where
parts of different age meet: behind the system message, the head, the history, and the newest message.

Ids of calls, content beside calls, pictures, calls themselves, and the fields that only their own model understands
(``daemon.model.provider_fields``) differ from server to server: what one gave, another one refuses.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal, cast

import msgspec
from msgspec.structs import replace

from daemon.errors import UNREADABLE
from daemon.model import provider_fields
from daemon.model.chat_model import Request

# Definitions of tools for servers that know only the simplest JSON Schema. Pure.

_KNOWN = frozenset({"type", "description", "enum", "items", "properties", "required"})
"""Keywords that every provider with tools documents."""


@lru_cache(maxsize=256)
def plain(tool: bytes) -> bytes:
    """A tool's definition (JSON) with nothing but the common keywords in its parameters.

    The schema allows the same or more. The tool itself checks its arguments, so no check is lost.
    """
    definition: dict[str, Any] = msgspec.json.decode(tool)
    function = cast("dict[str, Any]", definition.get("function", {}))
    kept = {name: value for name, value in function.items() if name != "strict"}
    if "parameters" in kept:
        kept["parameters"] = _plain(kept["parameters"])
    return msgspec.json.encode(definition | {"function": kept})


def _plain(schema: object) -> dict[str, Any]:
    """A schema of the common keywords; of a choice, the first one that is not null."""
    fields = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    for choice in ("anyOf", "oneOf", "allOf"):
        options = [option for option in fields.get(choice) or () if option != {"type": "null"}]
        if options:
            fields = {**options[0], **{name: fields[name] for name in ("description",) if name in fields}}
            break
    found = {name: value for name, value in fields.items() if name in _KNOWN}
    if isinstance(found.get("type"), list):
        found["type"] = next((name for name in found["type"] if name != "null"), "string")
    if "enum" in found and not all(isinstance(value, str) for value in found["enum"]):
        del found["enum"]
    if isinstance(found.get("properties"), Mapping):
        found["properties"] = {name: _plain(each) for name, each in found["properties"].items()}
    if "items" in found:
        found["items"] = _plain(found["items"])
    return found


# Marks in a prompt for OpenRouter, which tell Anthropic's models what to keep in their prompt cache. Pure.

MODELS = ("anthropic/",)
"""Beginnings of the names of models that need marks; others keep what they have seen by themselves."""
_TOOL = b'{"role":"tool"'

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


def seams(request: Request) -> set[int]:
    """How many messages stand before each mark of ``request``, but for that behind the newest message."""
    found = {1, request.head, len(request.messages) - request.current}
    return {at for at in found if 0 < at < len(request.messages)}


def marked(messages: Sequence[bytes], request: Request) -> list[bytes]:
    """``messages`` with marks; a result of a tool gets none, for OpenRouter refuses it there."""
    can_be = (at for at in range(len(messages), 0, -1) if _marked(messages[at - 1]) is not messages[at - 1])
    last = next(can_be, 0)
    # Written in another form there may be more or fewer messages than in the request.
    places = {last} | (seams(request) if len(messages) == len(request.messages) else {1})
    return [_marked(message) if at in places else message for at, message in enumerate(messages, 1)]


def _marked(message: bytes) -> bytes:
    fields = _decode(message)
    content = fields.get("content")
    if message.startswith(_TOOL) or not content:
        return message
    parts = cast("list[dict[str, Any]]", content if isinstance(content, list) else [{"type": "text", "text": content}])
    return _encode({**fields, "content": [*parts[:-1], {**parts[-1], "cache_control": {"type": "ephemeral"}}]})


MARK = b',\n"_own":'
"""Begins the last field of a message, which holds what its model alone understands; no server sees it.

No other message has a line break, and one byte is found in half a megabyte ten times sooner than several.
"""

_CALLS = b'"tool_calls"'
_RESULT = b'{"role":"tool"'
_ANSWER = b'{"role":"assistant"'
_USER = b'{"role":"user"'
_SYSTEM = b'{"role":"system"'
_PICTURE = b'"image_url"'

NINE = re.compile(r"[a-zA-Z0-9]{9}\Z")
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

_NOT_WANTED = re.compile(
    r"not (?:permitted|allowed|supported|accepted)|unexpected|unsupported|unknown|unrecogni[sz]ed|extra"
    # Anthropic and Gemini, of thinking that was changed or is another's:
    r"|invalid `?(?:signature|data|thought)|cannot be modified|corrupt|signature is (?:not valid|invalid)"
)

_SYSTEM_ROLE = re.compile(
    r"system (?:role|message|prompt|instruction)|(?:role|developer|variant).*system|developer instruction"
    r"|only user and assistant|(?:start|begin)s? with (?:a |the )?['\"`]?user|first message"
)
_ALTERNATE = re.compile(
    r"\balternat|consecutive|roles? must|same role|incorrect role|after (?:the )?role|immediately after"
)

_PICTURES = re.compile(r"image|picture|vision|multimodal|modalit|array|sequence|\blist\b")
"""Pictures, or the list of parts that a message with pictures has."""
_ARGUMENTS = re.compile(r"arguments|looks like object|(?:parse|pars|json).*tool.?call|tool.?call.*json")
BETWEEN = b'{"role":"assistant","content":"..."}'
"""Stands between a tool's result and the next user message, where roles must alternate: the turn had no answer."""


class MessageForm(msgspec.Struct, frozen=True, kw_only=True):
    """How a server takes messages."""

    ids: Literal["any", "nine"] = "any"
    """Of calls: as they came, or nine letters and digits (Mistral)."""
    content: Literal["absent", "empty", "null"] = "absent"
    """Beside calls without a text."""
    arguments: Literal["any", "object"] = "any"
    """Of calls: as the model wrote them, or always a JSON object."""
    own: Literal["turn", "window", "none"] = "turn"
    """Which messages are sent with their model's own fields: those of the turn in progress, all, or none."""
    foreign: Literal["calls", "text"] = "calls"
    """How calls of another model are sent where ``own`` applies: as calls, or as text to a server that accepts no call
    without its own fields."""
    pictures: bool = True
    system: Literal["system", "user"] = "system"
    """The role of the instructions. Without system messages they stand in front of the first user message."""
    alternate: bool = False
    """Whether neighbouring messages of one role are merged, so that user and assistant alternate."""

    def otherwise(self, refused: str, messages: Sequence[bytes], *, is_id: bool, is_own: bool) -> "MessageForm | None":
        """The form to try for ``messages`` after a refusal in lower case; None: there is none that it speaks of."""
        return (
            (self._own(refused, messages) if is_own else None)
            or self._pictures(refused, messages)
            or self._roles(refused, messages)
            or self._calls(refused, messages, is_id=is_id)
        )

    def _own(self, refused: str, messages: Sequence[bytes]) -> "MessageForm | None":
        if self.own == "none":
            return None
        any_own = any(MARK in message for message in messages)
        if any_own and (_NOT_WANTED.search(refused) or (self.own == "window" and self.foreign == "text")):
            return replace(self, own="none")
        if any_own and self.own == "turn":
            return replace(self, own="window")
        if self.foreign == "calls" and any(_CALLS in message for message in messages):
            return replace(self, foreign="text")
        return None

    def _pictures(self, refused: str, messages: Sequence[bytes]) -> "MessageForm | None":
        if self.pictures and _PICTURES.search(refused) and any(_PICTURE in message for message in messages):
            return replace(self, pictures=False)
        return None

    def _roles(self, refused: str, messages: Sequence[bytes]) -> "MessageForm | None":
        if not self.alternate and is_of_order(refused) and _merged(messages) != list(messages):
            return replace(self, alternate=True)
        if self.system == "system" and _SYSTEM_ROLE.search(refused) and messages[0].startswith(_SYSTEM):
            return replace(self, system="user")
        return None

    def _calls(self, refused: str, messages: Sequence[bytes], *, is_id: bool) -> "MessageForm | None":
        if not any(_CALLS in message for message in messages):
            return None
        if is_id and self.ids == "any":
            return replace(self, ids="nine")
        if self.arguments == "any" and _ARGUMENTS.search(refused):
            return replace(self, arguments="object")
        if "content" in refused and self.content != "null":
            return replace(self, content="empty" if self.content == "absent" else "null")
        return None


def is_of_order(refused: str) -> bool:
    """Whether a refusal in lower case is about the order of roles."""
    return _ALTERNATE.search(refused) is not None


def with_own(wire: bytes, fields: bytes) -> bytes:
    """A message with what its model alone understands, as a request holds it."""
    return wire[:-1] + MARK + fields + b"}" if fields else wire


def adapted(
    messages: Sequence[bytes], form: MessageForm, *, of: str, current: int = 0, tools: bool = True
) -> list[bytes]:
    """``messages`` for a server.

    Args:
        messages: JSON each.
        form: what it takes.
        of: whose own fields are sent along, see ``daemon.model.provider_fields.identity``.
        current: how many of the last belong to the turn in progress; 0: those from the last user message on.
        tools: whether it knows calls and results; else they are told as text.
    """
    turn = len(messages) - current
    if not current:
        turn = next((at for at in range(len(messages) - 1, -1, -1) if messages[at].startswith(_USER)), 0)
    first = {"turn": turn, "window": 0, "none": len(messages)}[form.own]
    as_is = MessageForm(own=form.own) == replace(form, pictures=True, system="system", alternate=False) and tools
    told: set[str] = set()
    written = [
        _written(message, form, of=of if at >= first else "", tools=tools, told=told)
        if MARK in message or not (as_is or _is_plain(message)) or (not form.pictures and _PICTURE in message)
        else message
        for at, message in enumerate(messages)
    ]
    if form.system == "user" and written[0].startswith(_SYSTEM):
        instructions = _decode(written[0])["content"]
        written = _merged([_encode({"role": "user", "content": instructions}), *written[1:2]]) + written[2:]
    return _merged(written) if form.alternate else written


def _merged(messages: Sequence[bytes]) -> list[bytes]:
    """Messages with neighbours of one role as one; results of tools, and answers with calls, stay apart."""
    found: list[bytes] = []
    for message in messages:
        if found and found[-1].startswith(_RESULT) and message.startswith(_USER):
            found.append(BETWEEN)
        role = next((role for role in (_USER, _ANSWER) if message.startswith(role) and _CALLS not in message), None)
        if role and found and found[-1].startswith(role) and _CALLS not in found[-1]:
            before, after = _decode(found[-1]), _decode(message)
            found[-1] = _encode({**before, "content": _both(before.get("content"), after.get("content"))})
        else:
            found.append(message)
    return found


def _both(before: object, after: object) -> object:
    if any(isinstance(content, list) for content in (before, after)):
        return [*_parts(before), *_parts(after)]
    return "\n\n".join(str(text) for text in (before, after) if text)


def _parts(content: object) -> list[object]:
    if isinstance(content, list):
        return cast("list[object]", content)
    return [{"type": "text", "text": content}] if content else []


def _is_plain(message: bytes) -> bool:
    return not (message.startswith(_RESULT) or (message.startswith(_ANSWER) and _CALLS in message))


def _written(message: bytes, form: MessageForm, *, of: str, tools: bool, told: set[str]) -> bytes:
    """A message in its form; ``told`` holds the ids of calls that were told as text, and takes more of them."""
    bare, _, kept = message.partition(MARK)
    if kept and not of and form == MessageForm(own=form.own) and tools:
        return bare + b"}"
    fields = _decode(bare + b"}" if kept else message)
    calls = cast("list[dict[str, Any]]", fields.get("tool_calls") or [])
    is_given_back = bool(kept and of) and _give_back(provider_fields.decode(kept[:-1]), fields, calls, of=of)
    if calls and of and form.foreign == "text" and not is_given_back:
        told |= {str(call.get("id")) for call in calls}
    as_text = not tools or not told.isdisjoint(
        str(each.get("id", each.get("tool_call_id"))) for each in (fields, *calls)
    )
    if calls and not fields.get("content"):
        fields.pop("content", None)
        if form.content != "absent":
            fields["content"] = "" if form.content == "empty" else None
    if form.ids == "nine":
        for call in calls:
            call["id"] = nine(str(call.get("id", "")))
        if "tool_call_id" in fields:
            fields["tool_call_id"] = nine(str(fields["tool_call_id"]))
    if form.arguments == "object":
        for call in calls:
            call["function"] = {**call["function"], "arguments": _object(call["function"].get("arguments"))}
    if not form.pictures:
        fields["content"] = _without_pictures(fields.get("content"))
    return _encode(_as_text(fields, calls) if as_text else fields)


def _give_back(
    kept: provider_fields.ProviderFields, fields: dict[str, Any], calls: Sequence[dict[str, Any]], *, of: str
) -> bool:
    """Add a model's own fields to its message; whether they are its own."""
    if kept.of != of:
        return False
    fields |= {name: value for name, value in kept.message.items() if name not in fields}
    for call, more in zip(calls, kept.calls, strict=False):
        call |= {name: value for name, value in more.items() if name not in call}
    return True


@lru_cache(maxsize=1_024)
def nine(identity: str) -> str:
    """Nine letters and digits for the id of a call, the same for the same id."""
    if NINE.match(identity):
        return identity
    number = int.from_bytes(blake2b(identity.encode("utf-8", "replace"), digest_size=8).digest())
    found = ""
    for _ in range(9):
        number, digit = divmod(number, len(_ALPHABET))
        found += _ALPHABET[digit]
    return found


def _without_pictures(content: object) -> object:
    if not isinstance(content, list):
        return content
    parts = cast("list[dict[str, Any]]", content)
    # One text, since a server without pictures may know no lists.
    return "\n".join("[image]" if part.get("type") == "image_url" else str(part.get("text", "")) for part in parts)


def _object(arguments: object) -> str:
    """Arguments as a JSON object, whatever a model wrote."""
    text = str(arguments or "{}")
    try:
        _decode(text)
    except UNREADABLE:
        return _encode({"arguments": text}).decode()
    return text


def _as_text(fields: dict[str, Any], calls: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A call or a result in words, for a server that takes neither."""
    if fields.get("role") == "tool":
        return {"role": "user", "content": fields.get("content")}
    told = [
        f"[called {call.get('function', {}).get('name')} with {call.get('function', {}).get('arguments')}]"
        for call in calls
    ]
    if not told:
        return fields
    text = "\n".join([str(fields.get("content") or ""), *told]).strip()
    return {"role": "assistant", "content": text}
