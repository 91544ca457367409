"""Extraction of the facts, requests, questions and promises in messages, without a model. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import msgspec

from daemon.memory import ItemKind
from daemon.recall import QuotedMessage
from daemon.recall.search_terms import folded, terms
from daemon.recall.word_forms import ENGLISH, SIGNS, content_of, run_terms

STATEMENT_MAX_CHARS = 500
"""Longest statement: a longer text without the end of a sentence is pasted, and nobody's request."""

TEXT_MAX_CHARS = 20_000
"""Of a longer message the beginning is read: the rest is pasted."""

ITEMS_MAX = 500
"""Most items of one consolidation, the newest ones; some 50 ms of comparing."""

# English ends a sentence by a sign and a blank, Chinese by the sign alone.
_SENTENCE = re.compile(r"\S.*?(?:[.!?…]+[\"')\]”’]*(?=\s|\Z)|[。！？；]+[”’」』）]*|\Z)")
_LINE = re.compile(r"[^\n]+")
_IS_QUESTION = re.compile(r"[?？][\"')\]”’」』）]*\Z").search

_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"

_FACTS: tuple[tuple[ItemKind, re.Pattern[str]], ...] = (
    (
        "address",
        re.compile(r"https?://[^\s<>\"'）)，。]+[^\s<>\"'）)，。.,;:!?]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    ),
    ("code", re.compile(r"(?<=`)[^`\n]{2,120}(?=`)")),
    ("quote", re.compile(r"(?<=“)[^“”\n]{3,200}(?=”)|(?<=「)[^「」\n]{2,200}(?=」)|(?<=『)[^『』\n]{2,200}(?=』)")),
    ("quote", re.compile(r"(?<![\w\"])\"[^\"\n]{3,200}\"(?![\w\"])")),
    ("date", re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2})?(?!\d)|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]")),
    ("date", re.compile(rf"\b(?:{_DAY} (?:of )?)?{_MONTH}(?: {_DAY}\b)?(?:,? \d{{4}}\b)?")),
    ("date", re.compile(r"(?<![\d:.])\d{1,2}:\d{2}(?![\d:])")),
    (
        "code",
        re.compile(
            r"(?<![\w/.-])(?:--[a-z][\w-]+|(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]+)*|[\w.-]+(?:/[\w.-]+)*/[\w-]+\.\w+|[A-Za-z]\w*(?:[._]\w+)+(?:\(\))?"
            r"|[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Za-z]+-?\d[\w-]*)"
        ),
    ),
    ("number", re.compile(r"(?<![\w.,])[+-]?\d(?:[\d,. -]*\d)?(?:\.\d+)?%?(?![\w])")),
    (
        "name",
        re.compile(r"(?<=[a-z,;:] )[A-Z][a-zà-ÿ]+(?:[ -][A-Z][a-zà-ÿ]+)*|(?<=名叫|字是|字叫)[\u4e00-\u9fff]{2,4}"),
    ),
)
"""Each kind with its pattern, the earlier ones first: a later match may not overlap an earlier one."""

_NO_NAMES = frozenset({"I", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"})

_REQUEST = re.compile(
    r"\b(?:remember|always|never|from now on|keep in mind|(?:don'?t|do not|don’t) forget|as a rule)\b"
    r"|记住|记得|别忘|不要忘|以后都|以后不要|从现在起|从今以后|永远不要|总是要|一律",
    re.IGNORECASE,
)
_NO_REQUEST = re.compile(r"\bnever ?mind\b|\b(?:i|we|you) (?:can ?not|can'?t|don'?t) remember\b|不记得", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:todo|to-do|tbd|open question|to be decided)\b|待办|待定|未决", re.IGNORECASE)
_PROMISE = re.compile(r"\b(?:I|we)(?:'ll|’ll| will| promise)\b|我会|我们会|我将|我保证|我答应", re.IGNORECASE)
_WHEN = re.compile(
    r"\d|\b(?:promise|tomorrow|tonight|later|next|soon|until|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|保证|答应|明天|今晚|稍后|下次|下周|下个?月|星期|周[一二三四五六日]",
    re.IGNORECASE,
)


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A passage of a message that a memory should still know."""

    kind: ItemKind
    index: int
    """Of its message in the log."""
    begin: int
    """Offset of its first character in the message."""
    text: str
    sentence: str
    """The sentence that contains it."""
    speaker: str

    @property
    def end(self) -> int:
        """Offset one past its last character."""
        return self.begin + len(self.text)

    @property
    def is_statement(self) -> bool:
        """Whether it is a whole sentence, which may be told in other words."""
        return self.kind in ("request", "question", "promise")


def items_of(messages: Sequence[QuotedMessage]) -> list[Item]:
    """The items of a range of messages, each once, in order, at most ``ITEMS_MAX``."""
    found: dict[tuple[str, str], Item] = {}
    for at, message in enumerate(messages):
        is_open = at == len(messages) - 1
        for item in _items(message, is_open=is_open):
            found.setdefault((item.kind, item.text.casefold()), item)
    return list(found.values())[-ITEMS_MAX:]


def requests_of(memory: str) -> list[str]:
    """The sentences of a MEMORY.md that state rules, without the marks of lists."""
    sentences = [sentence.lstrip("-*+# \t") for _, sentence in sentences_of(memory)]
    return [each for each in sentences if len(each) <= STATEMENT_MAX_CHARS and not _IS_QUESTION(each) and _asks(each)]


def sentences_of(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a text with their offsets; a line ends a sentence."""
    for line in _LINE.finditer(text):
        for sentence in _SENTENCE.finditer(line[0]):
            yield line.start() + sentence.start(), sentence[0].rstrip()


def is_whole(text: str, begin: int, end: int) -> bool:
    """Whether a passage is no part of a longer word or number; scripts without blanks have no such words."""
    return not (_joins(text[max(0, begin - 1) : begin + 1]) or _joins(text[end - 1 : end + 1]))


def _joins(two: str) -> bool:
    return len(two) == 2 and two.isascii() and two.isalnum()


def _items(message: QuotedMessage, *, is_open: bool) -> Iterator[Item]:
    is_bot = message.speaker == "assistant"
    for begin, sentence in sentences_of(message.text[:TEXT_MAX_CHARS]):

        def item(kind: ItemKind, at: int, text: str, begin: int = begin, sentence: str = sentence) -> Item:
            return Item(
                kind=kind,
                index=message.index,
                begin=begin + at,
                text=text,
                sentence=sentence,
                speaker=message.speaker,
            )

        kind = _statement_kind(sentence, is_bot=is_bot, is_open=is_open)
        if kind:
            yield item(kind, 0, sentence)
        for fact_kind, at, text in _facts(sentence):
            yield item(fact_kind, at, text)


def _statement_kind(sentence: str, *, is_bot: bool, is_open: bool) -> ItemKind | None:
    if len(sentence) > STATEMENT_MAX_CHARS:
        return None
    if _IS_QUESTION(sentence):
        # The other side has not answered it within the range.
        return "question" if is_open else None
    if not is_bot and _asks(sentence):
        return "request"
    if _OPEN.search(sentence):
        return "question"
    return "promise" if _PROMISE.search(sentence) and _WHEN.search(sentence) else None


def _asks(sentence: str) -> bool:
    return bool(_REQUEST.search(sentence)) and not _NO_REQUEST.search(sentence)


def _facts(sentence: str) -> Iterable[tuple[ItemKind, int, str]]:
    taken: list[tuple[int, int]] = []
    for kind, pattern in _FACTS:
        for match in pattern.finditer(sentence):
            begin, end, text = match.start(), match.end(), match[0]
            is_small = kind == "number" and len(text) < 2  # a single digit stands everywhere
            is_taken = any(begin < upto and end > first for first, upto in taken)
            if is_small or is_taken or text in _NO_NAMES or not is_whole(sentence, begin, end):
                continue
            taken.append((begin, end))
            yield kind, begin, text


# Whether texts still contain what was said. Pure.

_NEGATIONS = frozenset(terms("no not never always without nothing nobody only"))
_NEGATIONS_CHINESE = frozenset("不别没勿")
"""Common words that change what a rule says."""

_ASKING = frozenset(terms("please remember forget keep mind rule note"))
"""Terms that only ask for something to be kept."""

_COMMON = frozenset(term for word in ENGLISH for term in terms(word)) - _NEGATIONS

_RUN = re.compile(f"[{SIGNS}]+")
"""Text of a script without blanks between words."""

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


class Texts:
    """Texts in which items are looked for."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)

    def hold(self, item: Item) -> bool:
        """Whether they contain the item: a fact as it was written, a statement in the same words."""
        return self.hold_statement(item.text) if item.is_statement else stands_in(item.text, self._whole)

    @cached_property
    def _whole(self) -> str:
        return _plain("\n".join(self._texts))

    @cached_property
    def _sentences(self) -> Sequence[frozenset[str]]:
        return [frozenset(terms(each)) for text in self._texts for _, each in sentences_of(text)]

    def hold_statement(self, text: str) -> bool:
        """Whether one of their sentences has all words of ``text`` but common ones, in any form and order.

        Rules about several things differ by one word.
        """
        wanted = needed(text)
        if not wanted:
            return _plain(text) in self._whole
        return any(wanted <= found for found in self._sentences)


def stands_in(fact: str, whole: str) -> bool:
    """Whether a fact stands in a plain text, and not within a longer word or number."""
    plain = _plain(fact).strip("\"'.,")
    at = whole.find(plain)
    while plain and at >= 0:
        if is_whole(whole, at, at + len(plain)):
            return True
        at = whole.find(plain, at + 1)
    return False


def needed(statement: str) -> frozenset[str]:
    """The terms of a statement that must be kept."""
    plain = folded(statement)
    runs = _RUN.findall(plain)
    content = {term for run in runs for piece in content_of(run) for term in run_terms(piece)}
    content |= _NEGATIONS_CHINESE & set("".join(runs))
    return frozenset(content).union(term for term in terms(_RUN.sub(" ", plain)) if term not in _ASKING | _COMMON)


def _plain(text: str) -> str:
    return _THOUSANDS.sub("", " ".join(folded(text).casefold().split()))


def lines_not_in(lines: Sequence[str], texts: Texts) -> list[str]:
    """Those of ``lines`` that no sentence of ``texts`` keeps."""
    return [line for line in lines if not texts.hold_statement(line)]
