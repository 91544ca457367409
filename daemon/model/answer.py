"""An answer as it comes in: the deltas of an event stream put together.

Servers that call themselves compatible differ in small ways; what was met is handled here and named where it is.
"""

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

import msgspec

from daemon.errors import UNREADABLE, InvalidAnswer, ModelUnavailable
from daemon.model import characters, own
from daemon.model.base import Answer, CutOff, OnlyThought, ToolCall, Usage
from daemon.model.errors import Asked, reported
from daemon.model.text_calls import calls_in, may_be_calls
from daemon.model.thinking import Thinking, is_thinker

_CUT_OFF: Mapping[str, Literal["length", "content_filter"]] = {
    "length": "length",
    "max_tokens": "length",  # servers in front of Anthropic's and Gemini's APIs
    "max_output_tokens": "length",
    "model_length": "length",  # Mistral: the window is full
    "model_context_window_exceeded": "length",  # GLM
    "content_filter": "content_filter",
    "sensitive": "content_filter",  # GLM
    "safety": "content_filter",  # Gemini's, where they are passed on
    "recitation": "content_filter",
    "prohibited_content": "content_filter",
    "blocklist": "content_filter",
    "refusal": "content_filter",
}
"""Reasons for which an answer ends early, in lower case, as servers name them."""
_BROKEN = frozenset({"error", "network_error", "insufficient_system_resource"})
"""The server failed in the middle: Mistral and OpenRouter, GLM, DeepSeek."""


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: object = None
    """JSON text in pieces; some servers send the object itself."""


class _Call(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Part(msgspec.Struct):
    text: str = ""
    thinking: "str | list[_Part]" = ""
    """Reasoning of Mistral's models."""

    @property
    def thought(self) -> str:
        """The reasoning in it."""
        return self.thinking if isinstance(self.thinking, str) else "".join(part.text for part in self.thinking)


class _Message(msgspec.Struct):
    content: str | list[_Part] | None = None
    reasoning_content: object = None
    """Where DeepSeek, vLLM and llama.cpp put it."""
    reasoning: object = None
    """Where OpenRouter and Ollama do."""
    thinking_blocks: object = None
    """Where Anthropic's thinking is kept with its signatures."""
    tool_calls: list[_Call] | None = None


class Choice(msgspec.Struct):
    """What a payload adds to the answer."""

    delta: dict[str, object] | None = None
    """As ``_Message``, with whatever else the server sends."""
    message: dict[str, object] | None = None
    """Instead of ``delta`` where ``stream`` was ignored."""
    finish_reason: str | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    prompt_cache_hit_tokens: int | None = None
    """DeepSeek's name for the cached ones."""


class Payload(msgspec.Struct):
    """A piece of a stream, or the one object of a server without streams, in the form of the chat completions API."""

    choices: list[Choice] | None = None
    usage: object = None
    """Read apart: an answer is not the worse for a count that cannot be read."""
    model: str | None = None
    error: object = None
    kind: str | None = msgspec.field(default=None, name="object")
    """``error`` where vLLM's and SGLang's older versions report one without a field of that name."""
    message: str | None = None
    code: object = None


Read = Callable[[object], Payload]
"""Reads a decoded event of another API's stream. Raises ``msgspec.ValidationError`` if it has another shape."""

_payloads = msgspec.json.Decoder(Payload, strict=False)


@dataclass
class _OpenCall:
    """A tool call whose fragments are still coming."""

    index: int | None
    id: str
    name: str
    arguments: str = ""
    own: dict[str, object] = field(default_factory=dict[str, object])
    """Fields that only its model understands."""

    @property
    def is_whole(self) -> bool:
        """Whether its arguments have come to their end."""
        try:
            msgspec.json.decode(self.arguments or "{}")
        except UNREADABLE:
            return False
        return bool(self.name)


class AnswerParts:
    """Puts an answer together from the payloads of a stream, or from the one object of a server without streams."""

    def __init__(
        self, asked: Asked, *, offered: Callable[[], Collection[str]] | None = None, read: Read | None = None
    ) -> None:
        """Nothing has come yet.

        Args:
            asked: whose answer it is.
            offered: names the tools that the model may call; None: there are none.
            read: reads each event; None: they are those of the chat completions API.
        """
        self._asked = asked
        self._read = read
        self._offered = offered
        self._characters = characters.Characters()
        self._thinking = Thinking(inside=is_thinker(asked.model))
        self._thought: list[str] = []
        """Reasoning in fields of its own."""
        self._held: str | None = "" if offered else None
        """Text that may turn out to be calls; None: it cannot any more."""
        self._text: list[str] = []
        self._calls: list[_OpenCall] = []
        self._own: dict[str, object] = {}
        self._finish = ""
        self._usage = Usage(estimated=True)
        self._version = ""
        self.unsaid = False
        """Text that was given out since this was last set to False turned out to be reasoning."""

    def feed(self, payload: bytes) -> str:
        """The text that ``payload`` adds.

        Raises:
            ModelError: the payload reports an error, as the class that it means.
            InvalidAnswer: it is not JSON of the right shape.
        """
        said = self._decoded(payload)
        if said.error or said.kind == "error":
            raise reported(said.error or {"message": said.message, "code": said.code}, self._asked)
        if said.usage:
            self._usage = _usage(said.usage) or self._usage
        self._version = said.model or self._version
        return self._choice(said.choices[0]) if said.choices else ""

    def rest(self) -> str:
        """The text that was held back, since it might have become something else; nothing more comes."""
        text = self._said(self._thinking.feed(self._characters.end())) + self._said(self._thinking.end())
        if self._thinking.harmony is not None:
            self._add_calls(ToolCall(id="", name=name, arguments=given) for name, given in self._thinking.harmony.calls)
        if not self._held:
            return text
        held, self._held = self._held, None
        if self._offered is not None and (calls := calls_in(held, self._offered())):
            self._add_calls(calls)
            return text
        self._text.append(held)
        return text + held

    def finished(self, *, marked: bool = False) -> Answer:
        """The whole answer; its usage is 0 and estimated when the server said nothing of it.

        Args:
            marked: the server sent the end marker. Some do so without a ``finish_reason``.

        Raises:
            CutOff: the server says that it is not whole.
            OnlyThought: there is nothing in it but reasoning.
            InvalidAnswer: the stream ended early, or there is nothing in it.
        """
        has_text, are_whole = bool("".join(self._text).strip()), all(call.is_whole for call in self._calls)
        if not self._finish and not (marked and are_whole and (has_text or self._calls)):
            raise InvalidAnswer(f"the answer of {self._asked} was cut off before its end")
        if self._finish in _BROKEN:
            raise ModelUnavailable(f"{self._asked} ended its answer with an error ({self._finish}). Try again later.")
        if reason := _CUT_OFF.get(self._finish):
            why = "max_completion_tokens was reached" if reason == "length" else "its content filter stopped it"
            text = f"the answer of {self._asked} is incomplete: {why}"
            raise CutOff(text, finish_reason=reason, answer=self._so_far(), is_call=bool(self._calls))
        answer = self._so_far(self._tool_calls())
        if not (self._calls or has_text):
            if answer.reasoning.strip():
                raise OnlyThought(f"the answer of {self._asked} contains only reasoning", answer=answer)
            raise InvalidAnswer(f"the answer of {self._asked} is empty")
        return answer

    def _so_far(self, calls: tuple[ToolCall, ...] = ()) -> Answer:
        return Answer(
            text="".join(self._text),
            tool_calls=calls,
            reasoning=characters.whole("".join([*self._thought, *self._thinking.thoughts])),
            own=self._kept(),
            usage=self._usage,
            model=self._asked.model,
            version=self._version,
        )

    def _kept(self) -> bytes:
        of_calls = [call.own for call in self._calls]
        if not self._own and not any(of_calls):
            return b""
        kept = own.Own(
            of=self._asked.of or own.identity(self._asked.host.lower(), self._asked.model),
            message=self._own,
            calls=tuple(of_calls) if any(of_calls) else (),
        )
        return own.encode(characters.mended(msgspec.to_builtins(kept)))

    def _decoded(self, payload: bytes) -> Payload:
        try:
            return _payloads.decode(payload) if self._read is None else self._read(msgspec.json.decode(payload))
        except UNREADABLE:
            pass
        try:
            fields = characters.decoded(payload)
            return msgspec.convert(fields, Payload, strict=False) if self._read is None else self._read(fields)
        except UNREADABLE as error:
            raise InvalidAnswer(f"{self._asked} sent an answer that cannot be parsed ({_shape(payload)})") from error

    def _choice(self, choice: Choice) -> str:
        self._finish = (choice.finish_reason or self._finish).lower()
        fields = choice.delta or choice.message or {}
        try:
            message = msgspec.convert(fields, _Message, strict=False)
        except UNREADABLE as error:
            raise InvalidAnswer(f"{self._asked} sent an answer with unexpected fields") from error
        for call, of_call in zip(message.tool_calls or (), _raw_calls(fields), strict=True):
            self._fragment(call, of_call)
        if unknown := own.unknown(fields, own.KNOWN):
            self._own = cast("dict[str, object]", own.joined(self._own, unknown))
        thought = message.reasoning_content or message.reasoning or own.thought(message.thinking_blocks)
        if isinstance(thought, str):
            self._thought.append(thought)
        content = message.content or ""
        if isinstance(content, list):
            self._thought += [part.thought for part in content if part.thinking]
        piece = content if isinstance(content, str) else "".join(part.text for part in content)
        return self._said(self._thinking.feed(self._characters.feed(piece))) if piece else ""

    def _said(self, text: str) -> str:
        """What of the text is certain to be text."""
        if self._thinking.unsaid:
            self._thinking.unsaid, self.unsaid = False, True
            self._text.clear()
            self._held = "" if self._offered else None
        if self._held is not None:
            self._held += text
            if may_be_calls(self._held):
                return ""
            text, self._held = self._held, None
        self._text.append(text)
        return text

    def _add_calls(self, calls: Iterable[ToolCall]) -> None:
        self._calls += [_OpenCall(index=None, id="", name=call.name, arguments=call.arguments) for call in calls]

    def _fragment(self, fragment: _Call, fields: dict[str, object]) -> None:
        function = fragment.function or _Function()
        call = self._open(fragment, function)
        if unknown := own.unknown(fields, own.KNOWN_OF_CALL):
            call.own = cast("dict[str, object]", own.joined(call.own, unknown))
        call.id, call.name = call.id or fragment.id or "", call.name or function.name or ""
        if isinstance(function.arguments, str):
            call.arguments += function.arguments
        elif function.arguments is not None:
            call.arguments = msgspec.json.encode(function.arguments).decode()

    def _open(self, fragment: _Call, function: _Function) -> _OpenCall:
        """The call that a fragment goes on with, or a new one.

        Servers leave the index out, or give every call the same: then a name with an id of its own begins a call.
        """
        same_index = [call for call in self._calls if fragment.index is None or call.index == fragment.index]
        call = same_index[-1] if same_index else None
        begins = bool(function.name) and (fragment.id != call.id if call and fragment.id else fragment.index is None)
        if call is None or begins:
            call = _OpenCall(index=fragment.index, id=fragment.id or "", name="")
            self._calls.append(call)
        return call

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        taken: set[str] = set()
        calls: list[ToolCall] = []
        for call in self._calls:
            if not call.name:
                raise InvalidAnswer(f"{self._asked} called a tool without its name")
            identity = call.id or f"call_{uuid.uuid4().hex}"
            while identity in taken:
                identity += "_"
            taken.add(identity)
            calls.append(
                ToolCall(
                    id=characters.whole(identity),
                    name=characters.whole(call.name),
                    arguments=characters.whole(call.arguments) or "{}",
                )
            )
        return tuple(calls)


def _shape(payload: bytes) -> str:
    """What can be said of a payload without its words."""
    size = f"{len(payload):,} bytes"
    try:
        found: object = msgspec.json.decode(payload)
    except UNREADABLE:
        return f"{size} that are no JSON"
    return f"{size} of JSON, {_SHAPES.get(type(found), 'a number or null')} of another shape"


_SHAPES: Mapping[type, str] = {dict: "an object", list: "an array", str: "a string"}


def _raw_calls(fields: dict[str, object]) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", fields.get("tool_calls") or [])


def _usage(given: object) -> Usage | None:
    """What a provider counted; None when it cannot be read, or says nothing of the prompt."""
    try:
        said = msgspec.convert(given, _Usage, strict=False)
    except msgspec.ValidationError:
        return None
    if not said.prompt_tokens or said.prompt_tokens < 0:
        return None
    details = said.prompt_tokens_details or _PromptDetails()
    cached = details.cached_tokens or said.prompt_cache_hit_tokens or 0
    return Usage(
        tokens_in=said.prompt_tokens,
        cached_in=max(0, min(cached, said.prompt_tokens)),
        tokens_out=max(0, said.completion_tokens or 0),
    )
