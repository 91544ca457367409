"""The model of a soak: tells what it heard, sums up, and has bad moods; it looks at what it is shown.

An answer tells which messages it is about, and is unlike any other: ``heard s003: 12-13``.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from daemon.config import ModelConfig
from daemon.tokens import Tokenizer
from tests.chaos.keeper import Keeper, is_flush, is_summary
from tests.chaos.marks import heard, marked, told
from tests.chaos.shown import LEFT_OUT, Gallery
from tests.fakes.openai_server import Call, Events, Failure, FakeOpenAI, Hang, Plain, Reply, Say, delta
from tests.fakes.said import said
from tests.soak.setting import WINDOW_TOKENS

HEARD = "heard "
SHORTENED = ", and not all"  # ends an answer to what had no room: of that the middle is left out
ASKS = "what time is it?"  # who asks that makes the model use a tool first
LOOK_EVERY = 10  # each so-many-th prompt is counted anew: that takes longer than everything else here
BAD = 0.4  # how many answers show its mood, while it has a bad one
SLOW_S = 0.4  # before each piece of an answer, of which there are half a dozen
MOODS = ("slow", "429", "500", "cut", "garbage", "hanging")


class Mind:
    server: FakeOpenAI

    def __init__(self, tokenizer: Tokenizer, households: Mapping[str, str], dice: random.Random) -> None:
        """``households``: what the marks of each chat begin with, and whose memory it shares."""
        self.mood = ""
        self.asked = self.looked_at = 0
        self.strange: list[str] = []
        """Prompts that showed what others said."""
        self.gallery = Gallery(
            tokenizer=tokenizer,
            window_tokens=WINDOW_TOKENS,
            budget_tokens=ModelConfig(context_window_tokens=WINDOW_TOKENS).budget_tokens,
        )
        self._keeper = Keeper(dice)
        self._households = households
        self._dice = dice

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        """The answer to a request's body, the newest that the server has got."""
        raw = self.server.requests[-1].raw.decode()
        self.server.requests.clear()
        self.asked += 1
        self._look(body, raw)
        if is_summary(body) or is_flush(body):
            self._keeper.calm = not self.mood
            return self._keeper(body, "")
        if self.mood and self._dice.random() < BAD:
            return self._badly(body)
        return _answer(body)

    def _look(self, body: Mapping[str, Any], raw: str) -> None:
        chats = marked(raw).keys() | heard(raw).keys()
        households = {self._households.get(chat, chat) for chat in chats}
        if len(households) > 1:
            self.strange.append(f"one prompt shows what was said in {', '.join(sorted(chats))}")
        if self.asked % LOOK_EVERY == 0:
            self.looked_at += 1
            self.gallery.see(body)
            self.gallery.calls.clear()

    def _badly(self, body: Mapping[str, Any]) -> Reply:
        match self.mood:
            case "slow":
                return replace(_answer(body), delay_s=SLOW_S)
            case "429":
                return Failure(429, headers={"Retry-After": "1"})
            case "500":
                return Failure(self._dice.choice((500, 502, 503)))
            case "cut":
                return Events(_chunks(_answer(body))[:2], done=False, abort=self._dice.random() < 0.5)
            case "garbage":
                broken = b'data: {"choices": [{"delta": {"content": 7}]\n\n'
                return self._dice.choice([Plain(b"<html>Bad gateway</html>"), Events([broken]), Say("")])
            case _:
                return Hang()


def _answer(body: Mapping[str, Any]) -> Say:
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    at = max(place for place, message in enumerate(messages) if message["role"] == "user")
    text = said(messages[at]["content"])
    if ASKS in text and len(messages) == at + 1:
        return Say(calls=[Call("time", json.dumps({}), id=f"call_{abs(hash(text))}")])
    return Say(HEARD + told(marked(text)).replace("\n", "; ") + (SHORTENED if LEFT_OUT in text else ""))


def _chunks(answer: Say) -> list[dict[str, object] | float | bytes]:
    if answer.calls:
        answer = Say("let me see")
    return [delta(content=answer.text[:3]), delta(content=answer.text[3:]), delta(finish="stop")]
