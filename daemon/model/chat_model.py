"""What a model is to the rest of Millpond: a request in JSON goes in, text comes in pieces, an answer ends it."""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol
from weakref import WeakValueDictionary

import anyio
import msgspec

from daemon.config.schema import ModelConfig
from daemon.errors import InvalidAnswer

# How many calls of a model one process has under way; those beyond wait in order.


class CallSlots:
    """A number of places, given in the order in which they were asked for."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._semaphore = anyio.Semaphore(count)

    async def take(self, deadline: float) -> None:
        """Wait for a place; whoever has one gives it back.

        Raises:
            TimeoutError: none came free until ``deadline``, by the event loop's clock.
        """
        try:
            self._semaphore.acquire_nowait()
        except anyio.WouldBlock:
            with anyio.fail_after(max(0.0, deadline - anyio.current_time())):
                await self._semaphore.acquire()

    def give(self) -> None:
        """Give a place back, from whatever task."""
        self._semaphore.release()


_shared: WeakValueDictionary[tuple[str, str, int], CallSlots] = WeakValueDictionary()


def places_of(config: ModelConfig) -> CallSlots:
    """The places of a model: the same for all that have one address, name and number in this process."""
    key = (config.base_url, config.name, config.max_concurrent)
    found = _shared.get(key)
    if found is None:
        found = _shared[key] = CallSlots(config.max_concurrent)
    return found


RUNTIME_CONTEXT = "[Runtime context]"
"""First line of what is merged into a user message in front of a person's words; that part ends at a blank line."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A model's wish to run a tool."""

    id: str
    """Unique within the answer."""
    name: str
    arguments: str
    """JSON text, as the model wrote it: it may be malformed."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What a call cost, as the provider counted it."""

    tokens_in: int = 0
    cached_in: int = 0
    """Of ``tokens_in``: what the provider had kept from an earlier call."""
    written_in: int = 0
    """Of ``tokens_in``: what the provider wrote to its cache; no part of ``cached_in``."""
    reports_cached: bool = False
    """Whether the provider reports cached tokens, which may be 0."""
    tokens_out: int = 0
    """Reasoning included."""
    estimated: bool = False
    """The provider did not say: counted by our tokenizer."""
    cost_nano: int = 0
    """By the prices of the configuration, in billionths of the currency's unit: whole, so that sums are exact."""
    cached_nano: int = 0
    """Of ``cost_nano``: the cost of ``cached_in``."""
    currency: str = ""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One model call."""

    messages: Sequence[bytes]
    """Each message as JSON, system message first; joined into the body as they are."""
    tools: Sequence[bytes] = ()
    """Each tool's definition as JSON in the form of the chat completions API."""
    force_tool: str = ""
    """Name of a tool that must be called; empty: the model decides."""
    max_completion_tokens: int
    tokens: int = 0
    """What messages and tools count by our tokenizer; 0: not counted."""
    current: int = 0
    """How many of the last messages belong to the turn in progress; 0: those from the last user message on."""
    head: int = 0
    """How many of the first messages change only with a consolidation, the system message among them; 0: only that."""
    cache_key: str = ""
    """Names the requests that begin alike, so that a provider sends them to one of its machines; empty: none do."""
    room: int = 1
    """How many times the length of an ordinary answer this one may have, where the window allows it."""


class TextChunk(msgspec.Struct, frozen=True):
    """A piece of the answer's text."""

    text: str


class Unsaid(msgspec.Struct, frozen=True):
    """The text so far turned out to be reasoning: it is no part of the answer."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A complete answer; the last thing a stream yields."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    """What it thought aloud before; no part of the text."""
    own: bytes = b""
    """Fields of its message and calls for its own model alone, JSON; see ``daemon.model.provider_fields``."""
    usage: Usage = Usage()
    model: str = ""
    """Name of the model that answered, as the configuration has it."""
    version: str = ""
    """What the server calls that model; empty when it does not say."""
    cut_off: "tuple[Answer, ...]" = ()
    """Answers of other models that were cut off on the way to this one: they cost as much."""


class CutOff(InvalidAnswer):
    """The answer ended before the model was done: no room left for it, or a content filter."""

    def __init__(self, message: str, *, finish_reason: str, answer: Answer, is_call: bool = False) -> None:
        super().__init__(message)
        self.finish_reason = finish_reason
        """As the server said it: ``length``, ``content_filter``."""
        self.is_call = is_call
        """A tool call was cut in half."""
        self.answer = answer
        """What had come until then, and what that cost: as much as any answer, often more."""


class OnlyThought(InvalidAnswer):
    """The model reasoned and said nothing."""

    def __init__(self, message: str, *, answer: Answer) -> None:
        super().__init__(message)
        self.answer = answer
        """What it thought, and what that cost."""


Chunk = TextChunk | Unsaid | Answer


class Model(Protocol):
    """Something that answers requests."""

    name: str

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """The answer in pieces: any number of ``TextChunk`` and ``Unsaid``, then exactly one ``Answer``.

        Whoever may stop in the middle iterates inside ``contextlib.aclosing``, so that the connection is closed then
        and not when the garbage collector comes.

        Raises:
            ModelError: no usable answer; the subclass says whether trying again makes sense.
        """
        ...

    async def aclose(self) -> None:
        """Close its connections."""
        ...
