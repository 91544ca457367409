"""The model of a run when it is asked to sum up, or what to keep: it tells what it was shown, and often goes wrong.

Of some chats the first requests are deadly: whoever asks is killed in the middle of the call, three times in a row.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio

from tests.chaos.marks import heard, marked, together, told
from tests.fakes.openai_server import Call, Failure, Hang, Plain, Reply, Say
from tests.fakes.said import said

SAVE_MEMORY = "save_memory"
FLUSH = "Session nearing compaction."
DEADLY = 3  # so many deaths in a row are what a range is then taken in as it is for
WRONG = 0.2  # how many answers are none that can be used
SLOW = 0.4  # how many take long enough to be met by a kill, or a pause
SLOW_S = (0.3, 1.8)
UNCHANGED = 0.1  # how many leave MEMORY.md as it is, though there is something new
SILENT = 0.5  # how many of the silent turns have nothing to keep
_MEMORY = "## Current Long-term Memory"
_CONVERSATION = "## Conversation to Process"
_SO_FAR = "## Summary So Far"
_TODAY = re.compile(r"today is (\d{4}-\d\d-\d\d)")


def is_summary(body: Mapping[str, Any]) -> bool:
    return any(tool["function"]["name"] == SAVE_MEMORY for tool in body.get("tools", ()))


def is_flush(body: Mapping[str, Any]) -> bool:
    return str(body["messages"][0]["content"]).startswith(FLUSH)


class Keeper:
    """Answers both kinds of requests; knows who is waiting for an answer just now."""

    def __init__(self, dice: random.Random, *, doomed: Sequence[str] = ()) -> None:
        """``doomed``: the chats whose first requests are deadly."""
        self._dice = dice
        self._doomed = doomed
        self.kill: Callable[[str], None] = lambda member: None
        """Kills one of the run's processes."""
        self.calm = False
        """From now on nothing goes wrong."""
        self.deaths: Counter[str] = Counter()
        """Of each doomed chat."""
        self.asked: Counter[str] = Counter()
        """Requests of each kind, and answers that were none."""
        self._until: dict[str, float] = {}

    def waiting(self) -> list[str]:
        """The processes that wait for an answer, as far as is known."""
        now = anyio.current_time()
        return [member for member, until in self._until.items() if until > now]

    def __call__(self, body: Mapping[str, Any], member: str) -> Reply:
        """The answer to one of ``member``'s requests."""
        asked = said(body["messages"][-1]["content"])
        summary = is_summary(body)
        self.asked["summaries" if summary else "flushes"] += 1
        if summary and (doomed := self._doomed_by(asked)):
            self.deaths[doomed] += 1
            self.kill(member)
            return Hang()
        delay_s = self._dice.uniform(*SLOW_S) if self._dice.random() < SLOW else 0.0
        self._until[member] = anyio.current_time() + delay_s
        if not self.calm and self._dice.random() < WRONG:
            self.asked["wrong"] += 1
            return self._wrong()
        # The pause stands before each of a handful of events.
        return self._summary(asked, delay_s / 5) if summary else self._kept(asked, delay_s / 20)

    def _doomed_by(self, asked: str) -> str:
        chats = marked(asked).keys() & set(self._doomed)
        return next((chat for chat in chats if self.deaths[chat] < DEADLY), "")

    def _wrong(self) -> Reply:
        return self._dice.choice(
            [
                Failure(500),
                Failure(503),
                Failure(429, headers={"Retry-After": "1"}),
                Plain(b"<html>Bad gateway</html>"),
                Say("I would rather not."),
                Say(""),
                Say(calls=[Call(SAVE_MEMORY, '{"history_entry": "They')], finish="length"),
                Say(calls=[Call(SAVE_MEMORY, '{"history_entry": null, "memory_update": []}')]),
                Say(calls=[Call(SAVE_MEMORY, json.dumps({"history_entry": "They talked"}))], cut_after=2),
                Hang(),
            ]
        )

    def _summary(self, asked: str, pause_s: float) -> Say:
        before, _, rest = asked.partition(_MEMORY)
        memory, _, conversation = rest.partition(_CONVERSATION)
        shown, known = marked(conversation), heard(memory)
        fields = {
            "history_entry": f"They talked, {told(shown).replace(chr(10), '; ')}",
            "memory_update": told(known if known and self._dice.random() < UNCHANGED else together(known, shown)),
            "continuity": told(together(heard(before.partition(_SO_FAR)[2]), shown)),
        }
        if self._dice.random() < UNCHANGED:
            del fields["continuity"]
        return Say(calls=[Call(SAVE_MEMORY, json.dumps(fields))], delay_s=pause_s)

    def _kept(self, asked: str, pause_s: float) -> Say:
        chats, today = marked(asked), _TODAY.search(asked)
        if not chats or not today or self._dice.random() < SILENT:
            return Say("NO_REPLY", delay_s=pause_s)
        upto = ", ".join(f"{chat} up to {max(numbers)}" for chat, numbers in chats.items())
        return Say(f"# MEMORY.md\n- {upto} was kept\n# {today[1]}.md\n- they spoke in {upto}", delay_s=pause_s)
