"""Words of a text, as far as the offline model understands them: its language, its sentences, what they are about.

English by words without stop words and endings, Chinese by pairs of characters between function words.
"""

import re
from collections.abc import Iterable, Iterator

from daemon.wording import Language

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
