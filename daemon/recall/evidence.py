"""Tells statements from questions, repeated questions and empty answers: only statements answer a question. Pure."""

import re
from functools import lru_cache
from typing import Literal

from daemon.recall.chinese_characters import simplified
from daemon.recall.search_terms import says_something, terms
from daemon.recall.word_forms import ABOUT_TALKING, CHINESE, CHINESE_ABOUT_TALKING, ENGLISH

# Tells which questions ask for the first time of something. Pure.

_first = re.compile(
    r"""\b(?:(?:for\ the|the\ very)\ first|first\ time|(?:did|do|have|has|was|were|when)\ (?:\w+\ ){1,3}first
    |originally|zum\ ersten\ Mal|première\ fois)\b
    |第一次|首次|最早|最初|当初""",
    re.IGNORECASE | re.VERBOSE,
).search


def asks_for_first(text: str) -> bool:
    """Whether a question asks for the first time of something."""
    return bool(_first(text))


QUESTION_WORTH = 0.35
"""The share of its score that a question keeps: a question seldom holds an answer, but may name a fact."""

NEW_SHARE = 0.25
"""A question repeats another question if at most this share of its terms is new."""

SAME_SHARE = 0.75
"""A statement repeats another statement if the two share at least this share of all their terms."""

STATEMENT_TERMS_MIN = 5
"""A query of fewer terms names a subject. A passage with the same terms is not its repetition."""

TEXT_MAX_CHARS = 400
"""A longer text always holds statements."""

_sentences = re.compile(r"[^.!?。！？\n]+[.!?。！？]*").findall
_CHINESE_QUESTION = (
    "吗|呢$|谁|哪|几[个天次点岁年月号]|(?<!没)什么|多少|怎么|怎样|为何|为什么|是不是|有没有|告诉我|提醒我"
)
_says_all_chinese = re.compile("(?:什么|谁|哪|多少|怎么)[^，,]*[都也]").search
"""“什么都要” means everything."""
_asks_chinese = re.compile(_CHINESE_QUESTION).search
_PRONOUN = "(?:i|you|he|she|it|we|they|there|my|your|our|his|her|their|the|this|that)"
_asks_english = re.compile(
    rf"""(?:(?:hi|hey|hello|so|and|but|ok|okay|well|please|sorry|again)[\s,]+)*(?:
    (?:what|who|whom|whose|when|where|why|how|which)(?:'?s|'?re|'?d)?\b
    |(?:is|are|was|were|do|does|did|can|could|will|would|should|have|has|had|am|isn't|aren't|don't|didn't)
        \ {_PRONOUN}\b
    |(?:tell|remind|show)\ me\b|(?:do\ )?you\ remember\b|any\ idea\b
    )""",
    re.IGNORECASE | re.VERBOSE,
).match
_knows_nothing = re.compile(
    r"""\b(?:
    (?:do|did|can|could|have|has|had)(?:n't|nt|\ not|not)\s(?:\w+\s){0,2}?
        (?:know|have|remember|recall|see|find|found|tell|say|got|locate|confirm|determine|answer|been\ told)\b
    |unable\ to\ (?:find|recall|remember|locate|confirm|determine|answer|say|tell)
    |(?:no|not\ any)\ (?:\w+\ )?
        (?:informations?|records?|mention|memor(?:y|ies)|details?|data|notes?|idea|context|trace)
    |(?:was|were|is|are|has|have|had)(?:n't|\ not|\ never)\ (?:been\ )?
        (?:mentioned|told|said|recorded|noted|stated|specified|provided|discussed)
    |(?:you|we|they)(?:\ have|'ve)?(?:\ not|n't|\ haven't|\ never)\ (?:\w+\ )?
        (?:mentioned|told|said|shared|discussed|talked|specified)
    |(?:not|n't)\ (?:sure|certain|aware|available)|nothing\ (?:about|on|of)|no\ relevant|unknown\ to\ me
    )
    |不知道|不(?:太)?清楚|不确定|不记得|(?:无法|不能)(?:回答|确定|得知|知道|找到)|[查找]不到
    |没有?(?:找到|关于|任何|相关|提到|提过|说过|告诉|记录|记忆|印象|这方面)|未(?:找到|提及|提到|曾提)
    |weiß\ (?:ich\ )?(?:es\ )?(?:leider\ )?nicht|keine\ (?:Information|Angabe|Notiz)|je\ ne\ sais\ pas
    |aucune\ information
    """,
    re.IGNORECASE | re.VERBOSE,
).search
_NEGATIVE = (
    "n't",
    "n’t",
    "not",
    "no ",
    "No ",
    "nothing",
    "Nothing",
    "never",
    "unable",
    "不",
    "没",
    "沒",
    "未",
    "nicht",
    "keine",
    "aucune",
    "sais",
)
"""One of them stands in every such answer; looking for it takes less time."""
_but = re.compile(r"\b(?:but|however|though|although|instead|except)\b|但|不过|可是|然而|只是", re.IGNORECASE).search


def is_question(text: str) -> bool:
    """Whether ``text`` only asks. A text that also states something is no question."""
    if len(text) > TEXT_MAX_CHARS:
        return False
    if "?" not in text and "？" not in text and not _is_asking(simplified(text)):
        return False
    asks = False
    for sentence in _sentences(simplified(text)):
        if _is_asking(sentence.strip()):
            asks = True
        elif says_something(sentence):
            return False
    return asks


def _is_asking(sentence: str) -> bool:
    if sentence.endswith(("?", "？")) or _asks_english(sentence):
        return True
    return not sentence.isascii() and bool(_asks_chinese(sentence)) and not _says_all_chinese(sentence)


def is_empty_answer(text: str) -> bool:
    """Whether an answer says that nothing is known, and nothing else."""
    if len(text) > TEXT_MAX_CHARS or not any(sign in text for sign in _NEGATIVE):
        return False
    plain = simplified(text)
    return bool(_knows_nothing(plain)) and not _but(plain)


@lru_cache(maxsize=1)
def common_terms() -> frozenset[str]:
    """The terms of words that say nothing by themselves."""
    words = ENGLISH | ABOUT_TALKING | CHINESE | CHINESE_ABOUT_TALKING
    return frozenset(terms(" ".join(words)))


Form = Literal["states", "asks too", "asks", "empty"]
"""Of a passage: a statement, a statement with a question, a question, or a text that is no evidence."""


def form_of(text: str, its_terms: str, speaker: str) -> Form:
    """The form of a passage.

    Args:
        text: of the passage.
        its_terms: its search terms, separated by blanks.
        speaker: as of a chunk; ``assistant`` for the bot.
    """
    has_question = "?" in text or "？" in text
    if speaker == "assistant" and is_empty_answer(text):
        return "asks" if has_question else "empty"
    if is_question(text):
        return "asks"
    if not frozenset(its_terms.split()) - common_terms():
        return "empty"
    return "asks too" if has_question else "states"


class Evidence:
    """Tells how much the passages that were found for one query are worth as evidence."""

    def __init__(self, query: str, *, in_turn: bool) -> None:
        """Nothing is compared yet.

        Args:
            query: the question or message for which passages are found.
            in_turn: whether a prompt contains ``query``, so that a passage with the same statement adds nothing.
        """
        self._asks = is_question(query)
        self._terms = frozenset(terms(query))
        self._is_told = in_turn and not self._asks and len(self._terms) >= STATEMENT_TERMS_MIN
        self._common = common_terms()

    def worth(self, form: Form, its_terms: str) -> float:
        """The share of its score that a passage keeps; 0 for a repetition of the query or a form without evidence."""
        if form == "empty":
            return 0.0
        if form != "asks" and not self._is_told:
            return 1.0
        its = frozenset(its_terms.split())
        if self._is_told and len(its & self._terms) >= SAME_SHARE * len(its | self._terms):
            return 0.0
        if form != "asks":
            return 1.0
        content = its - self._common
        return 0.0 if self._asks and len(content - self._terms) <= NEW_SHARE * len(content) else QUESTION_WORTH
