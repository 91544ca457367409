"""What a run's model was shown: no prompt too long, no result without its call, and nothing missing in between.

A message that a turn's prompt does not show was consolidated before, and then it stands in the memory that the prompt
shows; or there was no room for it.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from daemon.tokens import Tokenizer
from tests.chaos.keeper import is_flush, is_summary
from tests.chaos.marks import NONE, Numbers, heard, marked
from tests.fakes.said import said

COMPRESSED = "[Conversation compressed."
LEFT_OUT = "characters left out ...]"

Message = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Shown:
    chat: str
    time: float  # seconds since 1970
    messages: Numbers
    memory: Numbers = NONE  # what MEMORY.md told of
    continuity: Numbers = NONE  # what the summary before the history told of
    tokens: int = 0
    is_shortened: bool = False  # whether of a message only the beginning and the end were shown


@dataclass(kw_only=True)
class Gallery:
    tokenizer: Tokenizer
    window_tokens: int
    budget_tokens: int
    calls: list[Shown] = field(default_factory=list[Shown])  # of turns
    overfull: list[str] = field(default_factory=list[str])
    orphaned: list[str] = field(default_factory=list[str])
    most_tokens: int = 0
    _counted: dict[bytes, int] = field(default_factory=dict[bytes, int])

    def see(self, body: Mapping[str, Any]) -> None:
        """Look at a request as it arrives."""
        messages: Sequence[Message] = body["messages"]
        tokens = sum(self._tokens(message) for message in messages) + self._tools_tokens(body)
        turn = not (is_summary(body) or is_flush(body))
        self._measure(tokens, int(body.get("max_completion_tokens") or body.get("max_tokens") or 0), turn=turn)
        self.orphaned += orphaned(messages)
        if turn and (call := shown(messages, tokens)):
            self.calls.append(call)

    def _measure(self, tokens: int, answer_tokens: int, *, turn: bool) -> None:
        if turn:
            self.most_tokens = max(self.most_tokens, tokens)
        if tokens + answer_tokens > self.window_tokens:
            self.overfull.append(f"{tokens} tokens and {answer_tokens} for the answer")
        if turn and tokens > self.budget_tokens:
            self.overfull.append(f"a turn's prompt of {tokens} tokens, its budget is {self.budget_tokens}")

    def _tokens(self, message: Message) -> int:
        wire = json.dumps(message, ensure_ascii=False).encode()
        if wire not in self._counted:
            self._counted[wire] = self.tokenizer.count_message(wire)
        return self._counted[wire]

    def _tools_tokens(self, body: Mapping[str, Any]) -> int:
        tools = [json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in body.get("tools") or ()]
        return sum(map(self.tokenizer.count, tools))


def shown(messages: Sequence[Message], tokens: int = 0, *, now: float | None = None) -> Shown | None:
    """What a turn's prompt shows; None when no mark is said now: a test message has none, and no system message."""
    system = next((said(message["content"]) for message in messages if message["role"] == "system"), "")
    users = [said(message["content"]) for message in messages if message["role"] == "user"]
    # Messages that follow each other are shown as one; what is said now stands in the last.
    chat = next(iter(marked(users[-1])), "")
    if not chat:
        return None
    before = users[0] if users[0].startswith(COMPRESSED) else ""
    return Shown(
        chat=chat,
        time=time.time() if now is None else now,
        messages=marked("\n".join(users)).get(chat, NONE),
        memory=heard(system).get(chat, NONE),
        continuity=heard(before).get(chat, NONE),
        tokens=tokens,
        is_shortened=any(LEFT_OUT in user for user in users),
    )


def orphaned(messages: Sequence[Message]) -> Iterator[str]:
    """Results without their call just before them, and calls without their results just behind them."""
    open_calls: set[str] = set()
    for message in [*messages, {"role": "user"}]:
        if message["role"] != "tool":
            yield from (f"the call {call} has no result" for call in sorted(open_calls))
            open_calls = {call["id"] for call in message.get("tool_calls") or ()}
        elif message["tool_call_id"] in open_calls:
            open_calls.remove(message["tool_call_id"])
        else:
            yield f"the result of {message['tool_call_id']} stands for no call"
