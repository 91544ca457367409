"""Consolidation without a model: what people said of themselves is taken out of a rendered conversation.

The form of the request is the consolidation's: ``## Current Long-term Memory``, ``## Conversation to Process``, lines
``[YYYY-MM-DD HH:MM] ROLE [tools: a, b]: content``.
"""

import re

from daemon.model.words import is_fact, sentences

MAX_FACTS = 50
"""New facts of one call; a consolidation's range has a few dozen messages."""
MAX_FACT_CHARS = 300
MAX_TOPICS = 12
"""Other sentences that the history entry names."""
MAX_TOPIC_CHARS = 120

_MEMORY = re.compile(r"## Current Long-term Memory[^\n]*\n(.*?)(?=\n## Conversation to Process)", re.DOTALL)
_CONVERSATION = re.compile(r"\n## Conversation to Process[^\n]*\n")
_LINE = re.compile(r"^\[(\d{4}-\d{2}-\d{2} \d{2}:\d{2}|\?)\] ([A-Za-z]+)(?: \[tools: [^\]\n]*\])?: ", re.MULTILINE)
_STAMP = re.compile(r"\[\d{4}-\d{2}-\d{2} \d{2}:\d{2}\]")
_SPEAKER = re.compile(r"^\[([^\]\n]{1,80})\] ")


def consolidation(request: str) -> dict[str, str]:
    """The arguments of ``save_memory`` for the text of a consolidation request."""
    memory = found[1].strip() if (found := _MEMORY.search(request)) else ""
    memory = "" if memory == "(empty)" else memory
    conversation = _CONVERSATION.split(request, maxsplit=1)[-1]
    facts, topics = _sorted_out(conversation)
    known = {line.lstrip("-* ").strip() for line in memory.splitlines()}
    fresh = [fact for fact in facts if fact not in known][:MAX_FACTS]
    stamp = stamped[0] if (stamped := _STAMP.search(conversation)) else ""
    entry = f"{stamp} The user said: {' | '.join([*facts[:MAX_FACTS], *topics]) or 'nothing to note'}".strip()
    return {"history_entry": entry, "memory_update": _extended(memory, fresh)}


def _extended(memory: str, fresh: list[str]) -> str:
    """``memory`` with a line for each new fact; what stood in it stays."""
    if not fresh:
        return memory
    return "\n".join([memory or "# Memory\n", *(f"- {fact}" for fact in fresh)])


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
