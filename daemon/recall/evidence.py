"""Tells statements from questions, repeated questions and empty answers: only statements answer a question. Pure."""

import re
from functools import lru_cache

from daemon.recall.words import query_terms, says_something, terms

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
_may_ask = re.compile(rf"[?？]|[A-Za-z]{{2}}|{_CHINESE_QUESTION}").search
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
_but = re.compile(r"\b(?:but|however|though|although|instead|except)\b|但|不过|可是|然而|只是", re.IGNORECASE).search


@lru_cache(maxsize=4_096)
def is_question(text: str) -> bool:
    """Whether ``text`` only asks. A text that also states something is no question."""
    if len(text) > TEXT_MAX_CHARS or not _may_ask(text):
        return False
    asks = False
    for sentence in _sentences(text):
        if _is_asking(sentence.strip()):
            asks = True
        elif says_something(sentence):
            return False
    return asks


def asks(text: str) -> bool:
    """Whether ``text`` contains a question, beside statements or not."""
    return "?" in text or "？" in text or is_question(text)


def _is_asking(sentence: str) -> bool:
    return sentence.endswith(("?", "？")) or bool(
        _asks_english(sentence) or (_asks_chinese(sentence) and not _says_all_chinese(sentence))
    )


def is_empty_answer(text: str) -> bool:
    """Whether an answer says that nothing is known, and nothing else."""
    return len(text) <= TEXT_MAX_CHARS and bool(_knows_nothing(text)) and not _but(text)


@lru_cache(maxsize=4_096)
def says_nothing(text: str) -> bool:
    """Whether a text consists of very common words."""
    return len(text) <= TEXT_MAX_CHARS // 4 and not says_something(text)


class Evidence:
    """Tells how much the passages that were found for one query are worth as evidence."""

    def __init__(self, query: str, *, in_turn: bool) -> None:
        """Nothing is compared yet.

        Args:
            query: the question or message for which passages are found.
            in_turn: whether a prompt contains ``query``, so that a passage with the same statement adds nothing.
        """
        self._asks = is_question(query)
        self._content = frozenset(query_terms(query).terms)
        all_terms = terms(query) if in_turn and not self._asks else []
        self._longest = 2 * len(all_terms)
        self._terms = frozenset(all_terms if len(all_terms) >= STATEMENT_TERMS_MIN else ())

    def worth(self, text: str, its_terms: str, speaker: str) -> float:
        """The share of its score that a passage keeps: 0 for a repetition of the query or an empty answer.

        Args:
            text: of the passage.
            its_terms: its search terms, separated by blanks.
            speaker: as of a chunk; ``assistant`` for the bot.
        """
        if self._is_repetition(text, its_terms) or (speaker == "assistant" and is_empty_answer(text)):
            return 0.0
        if says_nothing(text):
            return 0.0
        return QUESTION_WORTH if is_question(text) else 1.0

    def _is_repetition(self, text: str, its_terms: str) -> bool:
        if self._terms:
            if not SAME_SHARE * len(self._terms) <= its_terms.count(" ") + 1 <= self._longest:
                return False
            its = frozenset(its_terms.split())
            return len(its & self._terms) >= SAME_SHARE * len(its | self._terms)
        if not self._asks or not is_question(text):
            return False
        content = frozenset(query_terms(text).terms)
        return len(content - self._content) <= NEW_SHARE * len(content)
