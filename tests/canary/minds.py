"""The model of a run: does what the run planned for a message, and in what it sums up tells all that it was shown."""

import itertools
import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from daemon.model import without_marks
from tests.canary.canaries import words_in, words_in_bytes
from tests.canary.findings import Findings
from tests.canary.hostile import Wish, call_of
from tests.canary.knowledge import Knowledge
from tests.canary.people import CLUB, SCOPE_OF
from tests.chaos.keeper import is_flush, is_summary
from tests.fakes.openai_server import Call, Failure, FakeOpenAI, Reply, Say
from tests.fakes.said import said

MEMORY_MAX = 9  # canaries in a MEMORY.md: it must have room in a small window
CONTINUITY_MAX = 6
WRONG = 0.08  # how many summaries cannot be used: enough in a row become a raw entry
TELLS_ALL = 0.1  # how many answers repeat every canary of their prompt
_TAG = re.compile(r"@\[([^\]\s]+)\]")
_SAID_IN = re.compile(r"^\[[^\]\n]*\] USER\b[^\n]*?@\[([^\]\s]+)\]", re.MULTILINE)
"""In what is to be summed up; results of searches there hold messages of the person's other sessions."""
_PLAN = re.compile(r"\bdo=(\d+)")
_CHAT = re.compile(r"^Channel: (\S+)\nChat: (\S+) \(", re.MULTILINE)
_MEMORY, _CONVERSATION, _SO_FAR = "## Current Long-term Memory", "## Conversation to Process", "## Summary So Far"
_RECENT, _DO = "## Recent Conversation", "## What to Do"
_FETCHED = re.compile(r"\d\d\d ")
_TODAY = re.compile(r"today is (\d{4}-\d\d-\d\d)")

Message = Mapping[str, Any]


def tag(session: str) -> str:
    """What every message of a session carries, so that it is known in whoever's prompt it stands."""
    return f"@[{session}]"


class Minds:
    """A script of the model's server; looks at every request when it arrives."""

    server: FakeOpenAI

    def __init__(self, knowledge: Knowledge, findings: Findings, dice: random.Random) -> None:
        self._knowledge = knowledge
        self._findings = findings
        self._dice = dice
        self._calls = itertools.count()
        self._plans: dict[int, list[list[Wish]]] = {}
        self.turns = 0
        self.summaries = 0
        self.flushes = 0
        self.results = 0
        """Results of tools that were seen."""
        self.refused = 0
        """Of these, errors."""
        self.fetched = 0
        """Of these, answers of the API to a tool that fetches addresses."""
        self.seen = 0
        """Canaries in prompts, each counted once a prompt."""
        self.is_calm = False
        """No more wrong answers."""
        self.stood_in: dict[str, set[str]] = {session: set() for session in SCOPE_OF}
        """Canaries that ever stood in each session's own conversation, as its prompts show it."""
        self._heard: set[str] = set()

    def plan(self, rounds: list[list[Wish]]) -> str:
        number = len(self._plans)
        self._plans[number] = rounds
        return f"do={number}"

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        """The answer to a request's body, the newest that the server has got."""
        raw = self.server.requests[-1].raw
        self.server.requests.clear()
        session = self._session_of(body)
        self._look(session, body, raw)
        if is_flush(body):
            return self._flush(body)
        return self._summary(body) if is_summary(body) else self._turn(body, words_in_bytes(raw))

    # Looking.

    def _session_of(self, body: Mapping[str, Any]) -> str:
        messages: Sequence[Message] = body["messages"]
        if is_flush(body) or is_summary(body):
            tags = set(_SAID_IN.findall(_conversation(body)))
            if len(tags) > 1:
                self._findings.add("unattributed", f"a summary is about {sorted(tags)}")
            return next(iter(tags), "")
        users = [message for message in messages if message["role"] == "user"]
        context = _CHAT.search(_text(users[-1]["content"]))
        if context is None:
            self._findings.add("unattributed", f"a turn's prompt names no chat: {_text(users[-1]['content'])[:200]}")
            return ""
        session = f"{context[1]}:{context[2]}"
        # The whole history, not only what was said now; and what was recalled, which may be of former relatives.
        strangers = {each for user in users for each in _TAG.findall(_text(user["content"]))} - {session}
        if session != f"{CLUB}:club" and strangers - set(self._kin(session)):
            self._findings.add("prompts", f"{session}: its history has messages of {sorted(strangers)}")
        return session

    def _kin(self, session: str) -> list[str]:
        relatives = self._knowledge.relatives(SCOPE_OF[session])
        return [each for each, scope in SCOPE_OF.items() if scope in relatives]

    def _look(self, session: str, body: Mapping[str, Any], raw: bytes) -> None:
        found = words_in_bytes(raw)
        self.seen += len(found)
        kind = "flush" if is_flush(body) else "summary" if is_summary(body) else "turn"
        if session:
            foreign = self._knowledge.foreign if kind == "turn" else self._knowledge.foreign_in_summary
            for word in sorted(foreign(SCOPE_OF[session], found)):
                self._findings.add("prompts", f"{session}, a {kind}: {word}{_where(body, word)}")
            self.stood_in[session] |= words_in(_spoken(body))
        elif found and all(self._knowledge.foreign(scope, found) for scope in set(SCOPE_OF.values())):
            self._findings.add("unattributed", f"a {kind} without a chat shows what nobody knows: {sorted(found)}")

    # Answering.

    def _turn(self, body: Mapping[str, Any], shown: set[str]) -> Reply:
        self.turns += 1
        messages: Sequence[Message] = body["messages"]
        for message in messages:
            if message["role"] == "tool" and message["tool_call_id"] not in self._heard:
                self._heard.add(message["tool_call_id"])
                self.results += 1
                result = without_marks(_text(message["content"]))
                self.refused += result.startswith("Error: ")
                self.fetched += _FETCHED.match(result) is not None
        at = max(place for place, message in enumerate(messages) if message["role"] == "user")
        asked = said(messages[at]["content"])
        rounds = [one for number in _PLAN.findall(asked) for one in self._plans[int(number)]]
        done = sum(bool(message.get("tool_calls")) for message in messages[at:])
        if done < len(rounds):
            return Say(calls=[call_of(wish, f"call_{next(self._calls)}") for wish in rounds[done]])
        if self._dice.random() < TELLS_ALL:
            return Say(f"I know of {' '.join(sorted(shown))}.")
        return Say(f"I have heard {' '.join(sorted(words_in(asked)))}.")

    def _summary(self, body: Mapping[str, Any]) -> Reply:
        self.summaries += 1
        if not self.is_calm and self._dice.random() < WRONG:
            return self._dice.choice([Failure(500), Say("I would rather not."), Say(calls=[Call("save_memory", "{")])])
        before, _, rest = said(body["messages"][-1]["content"]).partition(_MEMORY)
        memory, _, conversation = rest.partition(_CONVERSATION)
        heard, known, earlier = words_in(conversation), words_in(memory), words_in(before.partition(_SO_FAR)[2])
        fields = {
            "history_entry": f"They spoke of {', '.join(sorted(heard)) or 'nothing'}.",
            "memory_update": "# Facts\n" + "".join(f"- {word} counts\n" for word in self._some(heard, known)),
            "memory_reason": "What is older is dropped.",
            "continuity": f"It is about {', '.join(self._some(heard, earlier)[:CONTINUITY_MAX]) or 'nothing'}.",
        }
        return Say(calls=[Call("save_memory", json.dumps(fields))])

    def _some(self, new: set[str], old: set[str]) -> list[str]:
        """At most so many as have room; of both."""
        first = self._dice.sample(sorted(new), min(len(new), MEMORY_MAX // 2 + 1))
        rest = sorted((new | old) - set(first))
        return first + self._dice.sample(rest, min(len(rest), MEMORY_MAX - len(first)))

    def _flush(self, body: Mapping[str, Any]) -> Reply:
        self.flushes += 1
        asked = said(body["messages"][-1]["content"])
        heard, today = sorted(words_in(_conversation(body))), _TODAY.search(asked)
        if not heard or today is None:
            return Say("NO_REPLY")
        kept = self._dice.choice(heard)
        return Say(f"# MEMORY.md\n- {kept} is to be kept\n# {today[1]}.md\n- they said {', '.join(heard[:8])}")


def _conversation(body: Mapping[str, Any]) -> str:
    asked = said(body["messages"][-1]["content"])
    if is_flush(body):
        return asked.partition(_RECENT)[2].partition(_MEMORY)[0]
    return asked.rpartition(_CONVERSATION)[2]


def _spoken(body: Mapping[str, Any]) -> str:
    """What a request shows of the conversation itself, without the memory beside it."""
    if is_flush(body) or is_summary(body):
        return _conversation(body)
    return "\n".join(json.dumps(message) for message in body["messages"] if message["role"] != "system")


def _text(content: Any) -> str:
    return content if isinstance(content, str) else " ".join(str(part.get("text", "")) for part in content or ())


def _where(body: Mapping[str, Any], word: str) -> str:
    """In which of a request's messages it stands, with what is around it."""
    for at, message in enumerate(body["messages"]):
        whole = json.dumps(message, ensure_ascii=False)
        if word in whole:
            place = whole.index(word)
            return f" (message {at}, {message['role']}: …{whole[max(0, place - 80) : place + 40]}…)"
    return ""
