"""Models for tests that say what was said, how it is followed, and texts that no parser of Markdown likes."""

import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio

from daemon.events import LogEntry
from daemon.model import Answer, Chunk, Request, TextChunk
from daemon.process import Process
from daemon.session import SessionReader
from daemon.testing import Gate
from tests.fakes.said import said as words_of


@dataclass
class Speaking:
    """A model that answers what was said last, by a function of it; ``gate`` holds it up."""

    answer: Callable[[str], str] = lambda text: f"echo: {text}"
    gate: Gate | None = None
    name: str = "speaking"
    requests: list[Request] = field(default_factory=list[Request])

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        self.requests.append(request)
        if self.gate is not None:
            await self.gate.pass_through()
        said = [message for each in request.messages if (message := json.loads(each))["role"] == "user"]
        last = words_of(said[-1]["content"]).rpartition("\n")[2]
        text = self.answer(re.sub(r"^\[[^]]*\] ", "", last))  # in groups it is said who speaks
        yield TextChunk(text)
        yield Answer(text=text, model=self.name)

    async def aclose(self) -> None:
        pass

    def asked(self, number: int = -1) -> str:
        return "\n".join(json.dumps(json.loads(each), ensure_ascii=False) for each in self.requests[number].messages)


@dataclass
class Watched(Speaking):
    """Says its answer in three pieces, and goes on after each of the first two when ``seen`` returns."""

    seen: Callable[[str], Awaitable[object]] = field(kw_only=True)  # waits until people have seen the text so far

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        async for each in super().stream(request):
            if not isinstance(each, TextChunk):
                yield each
                continue
            first, second = len(each.text) // 3, 2 * len(each.text) // 3
            yield TextChunk(each.text[:first])
            await self.seen(each.text[:first])
            yield TextChunk(each.text[first:second])
            await self.seen(each.text[:second])
            yield TextChunk(each.text[second:])


@dataclass
class Slow(Speaking):
    pause_s: float = 0.05

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        async for each in super().stream(request):
            if isinstance(each, TextChunk):
                for word in re.findall(r"\S+\s*", each.text):
                    await anyio.sleep(self.pause_s)
                    yield TextChunk(word)
            else:
                yield each


@dataclass
class Walk:
    platform: Any
    process: Process
    model: Speaking

    async def shows(self, chat: Any, *texts: str, thread: Any = None) -> None:
        try:
            await self.platform.until(lambda: chat.texts(thread=thread) == [*texts])
        except TimeoutError:
            assert chat.texts(thread=thread) == [*texts]
            raise

    async def answered(self, chat: Any, part: str, *, thread: Any = None) -> Any:
        """Wait until a message of a bot's in a chat has ``part`` in it; the first such message."""
        found: list[Any] = []

        def look() -> bool:
            found[:] = [message for message in chat.shown(thread=thread) if part in message.text]
            return bool(found)

        try:
            await self.platform.until(look)
        except TimeoutError:
            assert part in chat.texts(thread=thread)
        return found[0]

    async def log(self, session: str) -> list[LogEntry]:
        return [entry for _, entry in await SessionReader(self.process.bus).committed(session, limit=1_000)]

    async def said(self, session: str) -> list[str]:
        """What people said in a session that was answered, in order."""
        wires = [json.loads(bytes(entry.wire)) for entry in await self.log(session)]
        return [words_of(wire["content"]) for wire in wires if wire["role"] == "user"]

    async def unknown(self) -> list[str]:
        keys = self.process.bus.keys
        streams = [keys.unknown(partition) for partition in range(keys.partitions)]
        found = await self.process.bus.each([("XRANGE", stream, "-", "+") for stream in streams])
        return [fields[b"action"].decode() for entries in found for _, fields in entries]


ODD = {
    "unclosed": "**bold and *never closed, `code and [a link](http://",
    "fence": "Look:\n```python\nprint('```')\nno end",
    "tables": "| a | b\n|---|\n| 1 | 2 | 3 |\n\nafter it",
    "nested": "> > > - 1. **a *b ~~c `d` e~~ f* g**\n> more",
    "math": "It costs $5 or 6$, x_1 and y_2, 2*3*4 and a==b==c",
    "tags": "use <name> and </div> & &amp; <script>alert(1)</script>",
    "marks": "||not a spoiler|| and \\escaped\\ [x] ![y](z) #5 @nobody /nothing",
    "lines": "one\ntwo\nthree\n\n\n\nfour",
    "rule": "---\n***\n___\nwords",
    "zero": "a\u200bb\u2060c\u202ed\u2066e",
    "mail": "profile openai:ann@example.com (ann@example.com)",
    "deep": ">" * 40 + " deep",
    "list": "\n".join(f"{'  ' * (n % 30)}- item {n}" for n in range(60)),
    "abyss": "".join(f"{'  ' * n}- {n}\n" for n in range(60)),
    "wide": "|" + "c|" * 30 + "\n|" + "-|" * 30 + "\n|" + "1|" * 30,
    "blocks": "\n\n".join(f"p{n}" for n in range(600)),
    "backticks": "```````\n`` ` ``\n````",
    "underscores": "snake_case_name and __init__ and _a_b_c_",
}
"""Answers as models write them, by a name."""

WORDS = {
    "unclosed": ["bold and", "never closed", "code and"],
    "fence": ["Look:", "print('", "no end"],
    "tables": ["1", "2", "after it"],
    "nested": ["a", "more"],
    "math": ["$5 or 6$", "x_1", "y_2", "a==b==c"],
    "tags": ["<name>", "<script>alert(1)</script>"],
    "marks": ["not a spoiler", "[x]", "#5", "@nobody", "/nothing"],
    "lines": ["one\ntwo\nthree", "four"],
    "rule": ["words"],
    "zero": ["a", "e"],
    "mail": ["openai:ann@example.com"],
    "deep": ["deep"],
    "list": ["item 0", "item 59"],
    "abyss": ["0", "57", "59"],
    "wide": ["1"],
    "blocks": ["p0", "p599"],
    "backticks": ["`"],
    "underscores": ["snake_case_name"],
}
"""What has to arrive of each."""
