"""An answer as it comes in: the deltas of an event stream put together.

Servers that call themselves compatible differ in small ways; what was met is handled here and named where it is.
"""

import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Literal, cast

import msgspec

from daemon.errors import UNREADABLE, InvalidAnswer, ModelUnavailable
from daemon.model import event_stream, provider_fields
from daemon.model.call_fragments import CallFragments
from daemon.model.chat_model import Answer, CutOff, OnlyThought, ToolCall, Usage
from daemon.model.model_errors import Endpoint, reported
from daemon.model.reasoning import ReasoningFilter, is_thinker
from daemon.model.text_tool_calls import calls_in, may_be_calls
from daemon.model.usage_counts import usage_in

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
_TEXT_ALONE = frozenset({"role", "content"})
"""The fields of nearly all pieces of an answer."""


class AnswerChoice(msgspec.Struct):
    """What a payload adds to the answer."""

    delta: object = None
    """Fields of the message: text, calls, reasoning, and whatever else the server sends."""
    message: object = None
    """Instead of ``delta`` where ``stream`` was ignored; some servers end a stream with the whole."""
    finish_reason: object = None
    usage: object = None
    """Where Kimi counts."""


class Payload(msgspec.Struct):
    """A piece of a stream, or the one object of a server without streams, in the form of the chat completions API."""

    choices: list[AnswerChoice | None] | None = None
    usage: object = None
    """Read apart: an answer is not the worse for a count that cannot be read."""
    model: object = None
    error: object = None
    kind: object = msgspec.field(default=None, name="object")
    """``error`` where vLLM's and SGLang's older versions report one without a field of that name."""
    message: object = None
    detail: object = None
    msg: object = None
    code: object = None
    base_resp: object = None
    """MiniMax's result, with a code that is 0 unless the call failed."""

    @property
    def failure(self) -> object:
        """The error that it reports, in whatever field; None: it reports none."""
        if self.error or self.kind == "error":
            return self.error or {"message": self.message or self.detail or self.msg, "code": self.code}
        if isinstance(given := self.base_resp, dict):
            result = cast("dict[str, object]", given)
            if result.get("status_code"):
                return {"message": result.get("status_msg"), "code": result["status_code"]}
        if self.choices is None and not self.usage:
            said = self.message or self.detail or self.msg
            if said and str(self.code) not in ("0", "200"):
                return {"message": said, "code": self.code}
        return None


Read = Callable[[object], Payload]
"""Reads a decoded event of another API's stream. Raises ``msgspec.ValidationError`` if it has another shape."""

_payloads = msgspec.json.Decoder(Payload, strict=False)


class AnswerParts:
    """Puts an answer together from the payloads of a stream, or from the one object of a server without streams."""

    def __init__(
        self, endpoint: Endpoint, *, offered: Callable[[], Collection[str]] | None = None, read: Read | None = None
    ) -> None:
        """Nothing has come yet.

        Args:
            endpoint: the model that answers, and its server.
            offered: names the tools that the model may call; None: there are none.
            read: reads each event; None: they are those of the chat completions API.
        """
        self._endpoint = endpoint
        self._read = read
        self._offered = offered
        self._came: list[str] = []
        """Text that has not been looked at."""
        self._characters = event_stream.UnicodeRepair()
        self._thinking = ReasoningFilter(inside=is_thinker(endpoint.model))
        self._thought: list[str] = []
        """Reasoning in fields of its own."""
        self._held: str | None = "" if offered else None
        """Text that may turn out to be calls; None: it cannot any more."""
        self._text: list[str] = []
        self._calls = CallFragments(offered or tuple)
        self._broken = b""
        """Payloads that are no JSON as they are; together they may be."""
        self._has_deltas = False
        self._own: dict[str, object] = {}
        self._finish = ""
        self._usage = Usage(estimated=True)
        self._version = ""
        self.unsaid = False
        """Text that was given out since this was last set to False turned out to be reasoning."""

    def feed(self, payload: bytes) -> None:
        """Take in a payload.

        Raises:
            ModelError: the payload reports an error, as the class that it means.
            InvalidAnswer: it is not JSON of the right shape.
        """
        said = self._decoded(payload)
        if failure := said.failure:
            raise reported(failure, self._endpoint)
        choice = None
        for choice in said.choices or ():
            if choice is not None:
                break
        if usage := said.usage or (choice and choice.usage):
            self._usage = usage_in(usage) or self._usage
        self._version = said.model if said.model and isinstance(said.model, str) else self._version
        if choice:
            self._choice(choice)

    def text(self) -> str:
        """The text that the payloads since the last call add."""
        came, self._came = "".join(self._came), []
        return self._said(self._thinking.feed(self._characters.feed(came))) if came else ""

    def rest(self) -> str:
        """The text that was held back, since it might have become something else; nothing more comes."""
        text = self.text()
        text += self._said(self._thinking.feed(self._characters.end())) + self._said(self._thinking.end())
        if self._thinking.harmony is not None:
            self._calls.add(ToolCall(id="", name=name, arguments=given) for name, given in self._thinking.harmony.calls)
        if not self._held:
            return text
        held, self._held = self._held, None
        if self._offered is not None and (calls := calls_in(held, self._offered())):
            self._calls.add(calls)
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
        if self._broken:
            raise self._no_answer(self._broken)
        has_text = bool("".join(self._text).strip())
        if not self._finish and not (marked and self._calls.are_whole and (has_text or self._calls)):
            raise InvalidAnswer(f"the answer from {self._endpoint} was cut off before the end")
        if self._finish in _BROKEN:
            raise ModelUnavailable(
                f"{self._endpoint} ended its answer with an error ({self._finish}). Try again later."
            )
        if reason := _CUT_OFF.get(self._finish):
            why = (
                "max_completion_tokens was reached"
                if reason == "length"
                else "the server's content filter stopped the answer"
            )
            text = f"the answer from {self._endpoint} is incomplete: {why}"
            raise CutOff(text, finish_reason=reason, answer=self._so_far(), is_call=bool(self._calls))
        answer = self._so_far(self._tool_calls())
        if not (self._calls or has_text):
            if answer.reasoning.strip():
                raise OnlyThought(f"the answer from {self._endpoint} contains only reasoning", answer=answer)
            error = InvalidAnswer(f"the answer from {self._endpoint} is empty")
            error.is_empty = True
            raise error
        return answer

    def _so_far(self, calls: tuple[ToolCall, ...] = ()) -> Answer:
        return Answer(
            text="".join(self._text),
            tool_calls=calls,
            reasoning=event_stream.whole("".join([*self._thought, *self._thinking.thoughts])),
            own=self._kept(),
            usage=self._usage,
            model=self._endpoint.model,
            version=self._version,
        )

    def _kept(self) -> bytes:
        of_calls = self._calls.own
        if not self._own and not any(of_calls):
            return b""
        kept = provider_fields.ProviderFields(
            of=self._endpoint.of or provider_fields.identity(self._endpoint.host.lower(), self._endpoint.model),
            message=self._own,
            calls=tuple(of_calls) if any(of_calls) else (),
        )
        return provider_fields.encode(event_stream.mended(msgspec.to_builtins(kept)))

    def _decoded(self, payload: bytes) -> Payload:
        try:
            said = self._read_payload(payload)
        except UNREADABLE:
            # The lines of one event, which may be split anywhere between the tokens of its JSON.
            self._broken += b"\n" * bool(self._broken) + payload
            if self._broken == payload:
                return Payload()
            try:
                said, self._broken = self._read_payload(self._broken), b""
            except UNREADABLE:
                return Payload()
        if self._broken:
            raise self._no_answer(self._broken)
        return said

    def _read_payload(self, payload: bytes) -> Payload:
        try:
            return _payloads.decode(payload) if self._read is None else self._read(msgspec.json.decode(payload))
        except UNREADABLE:
            decoded = event_stream.decoded(payload)
        fields: object = decoded
        if isinstance(decoded, list) and decoded:  # Gemini's errors
            fields = cast("list[object]", decoded)[0]
        if fields in (None, "[DONE]"):
            return Payload()
        return msgspec.convert(fields, Payload, strict=False) if self._read is None else self._read(fields)

    def _no_answer(self, payload: bytes) -> InvalidAnswer:
        return InvalidAnswer(f"{self._endpoint} sent an answer that cannot be parsed ({_shape(payload)})")

    def _choice(self, choice: AnswerChoice) -> None:
        if choice.finish_reason:
            self._finish = str(choice.finish_reason).lower()
        given = choice.delta or (None if self._has_deltas else choice.message)
        self._has_deltas = self._has_deltas or bool(choice.delta)
        fields = cast("dict[str, object]", given) if isinstance(given, dict) else {}
        piece = fields.get("content")
        if not (isinstance(piece, str) and fields.keys() <= _TEXT_ALONE):
            piece = self._fields(fields)
        self._came.append(piece)

    def _fields(self, fields: dict[str, object]) -> str:
        """The text of a message's fields; takes note of calls, of reasoning, and of what is its model's own."""
        self._calls.feed(fields.get("tool_calls"))
        if unknown := provider_fields.unknown(fields, provider_fields.KNOWN):
            self._own = cast("dict[str, object]", provider_fields.joined(self._own, unknown))
        piece, thought = event_stream.text_of(fields)
        if thought:
            self._thought.append(thought)
        return piece

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

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        taken: set[str] = set()
        calls: list[ToolCall] = []
        for call in self._calls.finished():
            if not call.name:
                raise InvalidAnswer(f"{self._endpoint} called a tool without naming the tool")
            identity = call.id or f"call_{uuid.uuid4().hex}"
            while identity in taken:
                identity += "_"
            taken.add(identity)
            calls.append(
                ToolCall(
                    id=event_stream.whole(identity),
                    name=event_stream.whole(call.name),
                    arguments=event_stream.whole(call.arguments) or "{}",
                )
            )
        return tuple(calls)


_SHAPES: Mapping[type, str] = {dict: "an object", list: "an array", str: "a string"}


def _shape(payload: bytes) -> str:
    """A description of a payload without its words, which may quote the conversation."""
    size = f"{len(payload):,} bytes"
    try:
        found: object = msgspec.json.decode(payload)
    except UNREADABLE:
        return f"{size} that are not JSON"
    return f"a JSON value of {size} with an unexpected structure ({_SHAPES.get(type(found), 'a number or null')})"
