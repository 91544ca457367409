"""The model of a run: counts when it is asked to, calls tools when it is asked to, else repeats what was said.

``note 2 1 for m`` is two calls of the tool ``note`` at once, and then one more when their results are there; ``m`` and
a number name what each of them is for. Marks, and the ballast in brackets, which fills a window, are not repeated.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from daemon.model import without_marks
from tests.chaos.runs import Told
from tests.fakes.openai_server import Call, Say
from tests.fakes.said import said

NOTE = "note"
COUNT_PAUSE_S = 0.1  # between two numbers: an answer that takes long enough to be met by a kill
PAUSES_S = (0.0, 0.1, 0.3, 0.8)  # how long runs of tools take, in turn
_WANTED = re.compile(r"\bnote((?: [1-9])+) for (\w+)")
_COUNT = re.compile(r"\bcount to (\d+)")
_BALLAST = re.compile(r"@\S+ | \([^()]*\)")

Message = Mapping[str, Any]


class Talker:
    """Answers requests, and remembers the results that it was told of."""

    def __init__(self) -> None:
        self.told = Told()
        self._numbers = itertools.count()

    def __call__(self, body: Mapping[str, Any]) -> Say:
        messages: Sequence[Message] = body["messages"]
        for message in messages:
            if message["role"] == "tool":
                self.told.results.setdefault(message["tool_call_id"], set()).add(without_marks(message["content"]))
        at = max(place for place, message in enumerate(messages) if message["role"] == "user")
        text = _BALLAST.sub("", said(messages[at]["content"]))
        rounds = [jobs for match in _WANTED.finditer(text) for jobs in _rounds(match[1].split(), match[2])]
        done = sum(bool(message.get("tool_calls")) for message in messages[at:])
        if done < len(rounds):
            return Say(calls=[self._call(job) for job in rounds[done]])
        if counted := _COUNT.search(text):
            return Say(" ".join(map(str, range(1, int(counted[1]) + 1))), delay_s=COUNT_PAUSE_S)
        return Say(f"You said: {text}")

    def _call(self, job: str) -> Call:
        number = next(self._numbers)
        identity = f"call_{number}"
        pause_s = PAUSES_S[number % len(PAUSES_S)]
        return Call(NOTE, json.dumps({"call": identity, "job": job, "pause_s": pause_s}), id=identity)


def _rounds(counts: Sequence[str], name: str) -> Iterator[list[str]]:
    for at, count in enumerate(counts):
        yield [f"{name}-{at}-{number}" for number in range(int(count))]
