"""The offline model: a deterministic, labelled mock model that needs no key and no network.

It greets, recalls what stands in its context, calls tools asked for in plain words, consolidates by extraction, counts
aloud, and else repeats what was said. Nothing it says depends on time or chance.
"""

import hashlib
import re
from collections.abc import AsyncGenerator

import anyio
import msgspec
from anyio import to_thread
from anyio.lowlevel import checkpoint

from daemon.model.chat_model import RUNTIME_CONTEXT, Answer, Chunk, Request, TextChunk, ToolCall, Usage
from daemon.model.offline_consolidation import best, consolidation, flush, is_question, language_of
from daemon.model.untrusted_text import without_marks
from daemon.wording import Language, text

COUNT_MAX = 600
"""Highest number that is counted to."""
COUNT_PAUSE_S = 0.1
"""Between two numbers: long enough to see streaming and to stop it by hand."""
THREAD_BYTES = 64 * 1024
"""Requests above this are answered in a thread, so that the loop is never blocked."""

_GREETING = re.compile(
    r"(hi|hello|hey|good (morning|afternoon|evening)|greetings|你好|您好|嗨|哈喽|早上好|下午好|晚上好|早安|在吗)"
    r"([\s,，]*(there|all|everyone|millpond|bot|pond|呀|啊))*[\s!.?,~！。？，～]*",
    re.IGNORECASE,
)
_COUNT = re.compile(r"(?:\bcount (?:up )?to|数到)\s*(\d{1,9})", re.IGNORECASE)
_TIME = re.compile(r"what time is it|what(?:'s|’s| is) the time|现在几点|几点了|现在是什么时间", re.IGNORECASE)
_CALL = re.compile(
    r"(?:\b(?:call|use|run)(?: the)?(?: tool)?|调用|使用|用)\s*`?([A-Za-z_][\w.-]*)`?(?: tool|\s*工具)?"
    r"(?:\s*(?:with|参数)?[\s:：]*(\{.*\}))?",
    re.IGNORECASE | re.DOTALL,
)
_SPEAKER = re.compile(r"\[[^\]\n]{1,80}\] ")
_PIECE = re.compile(r"[\u3400-\u9fff]{1,4}|[^\s\u3400-\u9fff]*\s*")


class _Function(msgspec.Struct):
    name: str = ""


class _Call(msgspec.Struct):
    id: str = ""
    function: _Function = msgspec.field(default_factory=_Function)


class _Part(msgspec.Struct):
    text: str = ""


class _Message(msgspec.Struct):
    """What the offline model reads of a message."""

    role: str
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str = ""

    @property
    def words(self) -> str:
        """The text; of a list of parts the texts, one a line."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""

    @property
    def said(self) -> str:
        """What the person said, without the runtime context in front and a group's ``[Name]``."""
        texts = [part.text for part in self.content] if isinstance(self.content, list) else [self.content or ""]
        said = "\n".join(filter(None, (_without_context(part) for part in texts))).strip()
        return _SPEAKER.sub("", said, count=1) if _SPEAKER.match(said) else said


class _Tool(msgspec.Struct):
    function: _Function


_messages = msgspec.json.Decoder(_Message)
_tools = msgspec.json.Decoder(_Tool)


class OfflineModel:
    """Answers from the context alone; ``language`` is for messages that show none themselves."""

    def __init__(self, *, language: Language = "en") -> None:
        self.name = "offline"
        self._language: Language = language

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """As ``Model.stream``: by words, in Chinese by a few characters."""
        size = sum(map(len, request.messages))
        context = await to_thread.run_sync(self._read, request) if size > THREAD_BYTES else self._read(request)
        for piece in filter(None, _PIECE.findall(context.words)):
            yield TextChunk(piece)
            await (anyio.sleep(COUNT_PAUSE_S) if context.is_counting and piece.strip().isdigit() else checkpoint())
        tokens_out = len(context.words.encode()) // 4
        usage = Usage(tokens_in=request.tokens or size // 4, tokens_out=tokens_out, estimated=True)
        yield Answer(text=context.words, tool_calls=context.calls, usage=usage, model=self.name)

    async def aclose(self) -> None:
        """Nothing to close."""

    def _read(self, request: Request) -> "_Context":
        return _Context(request, self._language)


class _Context:
    """One request, read and answered."""

    def __init__(self, request: Request, language: Language) -> None:
        self._request = request
        self._messages = [_messages.decode(wire) for wire in request.messages]
        users = [message for message in self._messages if message.role == "user"]
        self._earlier = users[:-1]
        self._said = users[-1].said if users else ""
        self._language: Language = language_of(self._said, language)
        self._tools = {_tools.decode(tool).function.name for tool in request.tools}
        self.is_counting = False
        self.words, self.calls = self._reply()

    def _reply(self) -> tuple[str, tuple[ToolCall, ...]]:
        """The words and the calls."""
        if self._request.force_tool == "save_memory":
            return "", (self._call("save_memory", self._consolidation()),)
        if self._is_flush():
            return flush(self._messages[-1].words), ()
        if self._messages and self._messages[-1].role == "tool":
            return self._labelled(self._results()), ()
        if call := self._wanted_call():
            return "", (call,)
        return self._labelled(self._words()), ()

    def _labelled(self, words: str) -> str:
        """The first answer of a session says what is answering."""
        answered = any(message.role == "assistant" and not message.tool_calls for message in self._messages)
        return words if answered else f"{text('offline_label', self._language)}\n\n{words}"

    def _words(self) -> str:
        if not self._said:
            return text("offline_empty", self._language)
        if _GREETING.fullmatch(self._said):
            return text("offline_greeting", self._language)
        if counted := _COUNT.search(self._said):
            self.is_counting = True
            return " ".join(map(str, range(1, min(max(int(counted[1]), 1), COUNT_MAX) + 1)))
        return self._recalled() or text("offline_echo", self._language, text=self._said)

    def _recalled(self) -> str:
        if not is_question(self._said):
            return ""
        if told := best(self._said, [message.said for message in self._earlier]):
            return text("offline_recall", self._language, text=told)
        known = best(self._said, self._memory())
        return text("offline_memory", self._language, text=known) if known else ""

    def _memory(self) -> list[str]:
        """What is remembered: sections of the system prompt, and of the runtime context of the newest message."""
        system = self._messages[0].words if self._messages and self._messages[0].role == "system" else ""
        memory = system[at:] if (at := system.find("# Memory\n")) >= 0 else ""
        memory = re.split(r"\n---\n\n# (?:Active )?Skills\n", memory)[0]
        users = [message.words for message in self._messages if message.role == "user"]
        context = users[-1].partition("\n\n")[0] if users and users[-1].startswith(RUNTIME_CONTEXT) else ""
        changes = context.partition("## Memory Changes\n")[2].partition("## Relevant Memory\n")[0]
        relevant = f"{system}\n{context}".rpartition("## Relevant Memory\n")
        # What stands before the first hit says how they were found.
        found = relevant[2][max(0, relevant[2].find("- **[")) :]
        return [found if relevant[1] else "", changes, memory]

    def _results(self) -> str:
        """What the tools of the last step said."""
        names = {call.id: call.function.name for message in self._messages for call in message.tool_calls or ()}
        results: list[str] = []
        for message in reversed(self._messages):
            if message.role != "tool":
                break
            tool = names.get(message.tool_call_id, "?")
            results.append(text("offline_result", self._language, tool=tool, result=without_marks(message.words)))
        return "\n".join(reversed(results))

    def _wanted_call(self) -> ToolCall | None:
        if _TIME.search(self._said):
            name = next((tool for tool in sorted(self._tools) if "time" in tool), "")
            return self._call(name, b"{}") if name else None
        wanted = next((match for match in _CALL.finditer(self._said) if match[1] in self._tools), None)
        return self._call(wanted[1], (wanted[2] or "{}").encode()) if wanted else None

    def _call(self, name: str, arguments: bytes) -> ToolCall:
        """A call whose id follows from all that was said before it, and so differs from every earlier one's."""
        said = hashlib.blake2b(b"\n".join(self._request.messages), digest_size=12).hexdigest()
        return ToolCall(id=f"call_{said}", name=name, arguments=arguments.decode())

    def _consolidation(self) -> bytes:
        users = [message.words for message in self._messages if message.role == "user"]
        return msgspec.json.encode(consolidation("\n\n".join(users)))

    def _is_flush(self) -> bool:
        last = self._messages[-1].words if self._messages else ""
        return "Reply with NO_REPLY" in last


def _without_context(part: str) -> str:
    return part.partition("\n\n")[2] if part.startswith(RUNTIME_CONTEXT) else part
