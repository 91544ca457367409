"""Consolidation without a model: what people said of themselves is taken out of a rendered conversation.

English by words without stop words and endings, Chinese by pairs of characters between function words.

The form of the requests is that of consolidation and flush: sections ``## Summary So Far``, ``## Current Long-term
Memory``, ``## Conversation to Process`` or ``## Recent Conversation``, and in them lines
``[YYYY-MM-DD HH:MM] ROLE [tools: a, b]: content``.
"""

import re
from collections.abc import Iterable, Iterator

from daemon.clock import MINUTE
from daemon.wording import Language

# Words of a text, as far as the offline model understands them: its language, its sentences, what they are about.

_CJK = "\u3400-\u9fff\uf900-\ufaff"
_HAS_CJK = re.compile(f"[{_CJK}]")
_LATIN = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?", re.IGNORECASE)
_RUN = re.compile(f"[{_CJK}]+")
_LISTED = re.compile(r"^\s*(?:[-*#>]+\s+)*")

_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a about again all am an and any are as at be been but by can could did do does for from had has have he her "
        "his how i if im in into is it its ive just like me my no not now of on or our please remember said say she so "
        "some tell than that the their them then there they this to told us was we were what when where which who "
        "whom whose why will with would you your",
    )
)
_STOP_RUNS = re.compile(
    "记住|刚才|刚刚|之前|以前|告诉|请问|什么|怎么|为什么|哪里|哪个|多少|是不是|有没有|知道|记得|还|我们|你们|他们|"
    "[我你您他她它的了吗呢吧啊呀是在有和也都就说叫谁几请把被给让对那这个不很用哪]"
)
_QUESTION = re.compile(
    r"[?？]\s*$|^\W*(?:what|who|whom|whose|where|when|which|why|how|do|does|did|is|are|am|was|were|can|could|will|"
    r"would|should|have|has)\b|什么|怎么|多少|哪[里个儿些]|[吗呢]\W*$|是不是|有没有|谁|第?几",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"\b(?:I|I'm|I’m|I've|I’ve|my|mine|we|our)\b|\bremember\b|我|咱|记住|记一下|名字|叫做",
    re.IGNORECASE,
)
_REMEMBER = re.compile(
    r"\bremember\b|\b(?:don't|don’t|do not|never) forget\b|\bkeep in mind\b|\bnote (?:that|down)\b|"
    "记住|记一下|记下|记得|别忘|不要忘",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?<=\w{3})(?:'s|’s|ing|ies|ied|ed|es|s|e|y)$")


def language_of(text: str, default: Language) -> Language:
    """Chinese where a Chinese character stands, English where a letter does, else ``default``."""
    if _HAS_CJK.search(text):
        return "zh"
    return "en" if _LATIN.search(text) else default


def sentences(text: str) -> Iterator[str]:
    """The sentences of ``text``, without list marks; a line ends one, and so does a full stop before a space."""
    start = 0
    for match in re.finditer(r"[。！？；!?;]+[”」’\"]*|\.(?=\s)|\n", text):
        yield from _cleaned(text[start : match.end()])
        start = match.end()
    yield from _cleaned(text[start:])


def _cleaned(sentence: str) -> Iterator[str]:
    sentence = _LISTED.sub("", sentence).strip()
    if sentence:
        yield sentence


def is_question(sentence: str) -> bool:
    """Whether ``sentence`` asks something, by its mark or its words."""
    return bool(_QUESTION.search(sentence))


def is_fact(sentence: str) -> bool:
    """Whether ``sentence`` is a person's statement about themselves, or a request to remember something."""
    return bool(_FACT.search(sentence) or _REMEMBER.search(sentence)) and not is_question(sentence)


def asks_to_remember(sentence: str) -> bool:
    """Whether ``sentence`` asks outright that something be remembered."""
    return bool(_REMEMBER.search(sentence)) and not is_question(sentence)


def terms(text: str) -> frozenset[str]:
    """What ``text`` is about: stems of its English words, pairs of characters of its Chinese ones.

    Every term stands in the text in small letters, so that texts without any of them need not be taken apart.
    """
    text = text.lower()
    stems = (_stem(word) for word in _WORD.findall(_RUN.sub(" ", text)) if word not in _STOP_WORDS)
    pairs = (pair for run in _RUN.findall(text) for part in _STOP_RUNS.split(run) for pair in _pairs(part))
    return frozenset((*stems, *pairs))


def _stem(word: str) -> str:
    previous = ""
    while word != previous:  # "daughter's", then the "s" of a plural
        previous, word = word, _ENDING.sub("", word)
    return word


def _pairs(part: str) -> Iterable[str]:
    return (part[i : i + 2] for i in range(len(part) - 1)) if len(part) > 1 else (part,) if part else ()


def best(question: str, texts: Iterable[str]) -> str:
    """The sentence of ``texts`` (oldest first) that shares most terms with ``question``; the newest of equals.

    Questions are no answers; nothing shared gives an empty text.
    """
    wanted = terms(question)
    found, found_score = "", 0
    for text in texts:
        lowered = text.lower()
        if not any(term in lowered for term in wanted):
            continue
        for sentence in sentences(text):
            score = len(wanted & terms(sentence))
            if score and score >= found_score and not is_question(sentence):
                found, found_score = sentence, score
    return found


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
