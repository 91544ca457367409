"""Consolidation without a model: what people said of themselves is taken out of a rendered conversation.

The form of the requests is that of consolidation and flush: sections ``## Summary So Far``, ``## Current Long-term
Memory``, ``## Conversation to Process`` or ``## Recent Conversation``, and in them lines
``[YYYY-MM-DD HH:MM] ROLE [tools: a, b]: content``.
"""

import re

from daemon.clock import MINUTE
from daemon.model.offline_words import asks_to_remember, is_fact, language_of, sentences
from daemon.wording import Language

MAX_FACTS = 50
"""New facts of one call; a consolidation's range has a few dozen messages."""
MAX_FACT_CHARS = 300
MAX_TOPICS = 12
"""Other sentences that the history entry names."""
MAX_TOPIC_CHARS = 120
MAX_MEMORY_CHARS = 12_000
"""A memory is not made longer than this; what is left out stands in the history entry."""
MAX_CONTINUITY_LINES = 40
MAX_CONTINUITY_CHARS = 1_500
"""Of the summary of where things stand: the newest lines that fit."""

SAID: dict[Language, str] = {"en": "The user said: ", "zh": "用户说："}
NOTHING: dict[Language, str] = {"en": "nothing to note", "zh": "没有要记的"}

_MEMORY = re.compile(
    r"## Current Long-term Memory[^\n]*\n(.*?)(?=\n## (?:Conversation to Process|What to Do))", re.DOTALL
)
_CONVERSATION = re.compile(r"\n## Conversation to Process[^\n]*\n")
_RECENT = re.compile(r"## Recent Conversation[^\n]*\n(.*?)(?=\n## Current Long-term Memory)", re.DOTALL)
_SO_FAR = re.compile(r"\n## Summary So Far[^\n]*\n(.*?)(?=\n## )", re.DOTALL)
_LINE = re.compile(rf"^\[({MINUTE}|\?)\] ([A-Za-z]+)(?: \[tools: [^\]\n]*\])?: ", re.MULTILINE)
_STAMP = re.compile(rf"\[{MINUTE}\]")
_SPEAKER = re.compile(r"^\[([^\]\n]{1,80})\] ")


def consolidation(request: str) -> dict[str, str]:
    """The arguments of ``save_memory`` for the text of a consolidation request."""
    memory = _memory(request)
    conversation = _CONVERSATION.split(request, maxsplit=1)[-1]
    facts, topics = _sorted_out(conversation)
    language = language_of(conversation, "en")
    stamp = stamped[0] if (stamped := _STAMP.search(conversation)) else ""
    told = [*facts[:MAX_FACTS], *topics]
    entry = f"{stamp} {SAID[language]}{' | '.join(told) or NOTHING[language]}".strip()
    return {
        "history_entry": entry,
        "memory_update": _extended(memory, _fresh(facts, memory)),
        "continuity": _continuity(request, told),
    }


def flush(request: str) -> str:
    """The answer to the text of a flush: what people asked to be remembered, and does not stand in the memory yet."""
    recent = found[1] if (found := _RECENT.search(request)) else ""
    asked = [fact for fact in _sorted_out(recent)[0] if asks_to_remember(fact)]
    fresh = _fresh(asked, _memory(request))
    return "\n".join(["# MEMORY.md", *(f"- {fact}" for fact in fresh)]) if fresh else "NO_REPLY"


def _memory(request: str) -> str:
    memory = found[1].strip() if (found := _MEMORY.search(request)) else ""
    return "" if memory == "(empty)" else memory


def _fresh(facts: list[str], memory: str) -> list[str]:
    """The facts that do not stand in ``memory`` and that there is room for."""
    known = {line.lstrip("-* ").strip() for line in memory.splitlines()}
    room = MAX_MEMORY_CHARS - len(memory)
    fresh: list[str] = []
    for fact in facts:
        if fact not in known and len(fresh) < MAX_FACTS and len(fact) < room:
            fresh.append(fact)
            room -= len(fact)
    return fresh


def _extended(memory: str, fresh: list[str]) -> str:
    """``memory`` with a line for each new fact; what stood in it stays."""
    if not fresh:
        return memory
    return "\n".join([memory or "# Memory\n", *(f"- {fact}" for fact in fresh)])


def _continuity(request: str, told: list[str]) -> str:
    """The summary so far and what was told now, a line each, as much of the newest as there is room for."""
    so_far = found[1].strip().splitlines() if (found := _SO_FAR.search(request)) else []
    lines = list(dict.fromkeys([*so_far, *(f"- {each}" for each in told)]))[-MAX_CONTINUITY_LINES:]
    while sum(map(len, lines)) > MAX_CONTINUITY_CHARS:
        del lines[0]
    return "\n".join(lines)


def _sorted_out(conversation: str) -> tuple[list[str], list[str]]:
    """The facts in what users said, each once, and the beginnings of their other sentences."""
    facts: dict[str, None] = {}
    topics: dict[str, None] = {}
    for content in _user_contents(conversation):
        speaker = _SPEAKER.match(content)
        name, words = (f"{speaker[1]}: ", content[speaker.end() :]) if speaker else ("", content)
        for sentence in sentences(words):
            if is_fact(sentence):
                facts[name + sentence[:MAX_FACT_CHARS]] = None
            else:
                topics[name + sentence[:MAX_TOPIC_CHARS]] = None
    return list(facts), list(topics)[:MAX_TOPICS]


def _user_contents(conversation: str) -> list[str]:
    lines = list(_LINE.finditer(conversation))
    ends = (*(line.start() for line in lines[1:]), len(conversation))
    # Without any line there is still one end: the lengths may differ.
    return [conversation[line.end() : end] for line, end in zip(lines, ends, strict=False) if line[2].lower() == "user"]
