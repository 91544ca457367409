"""The worst habits of ``docs/style.md``, as patterns. Code between backticks and placeholders are not looked at."""

import re
from typing import NamedTuple

from tests.style.texts import Sentence


class Rule(NamedTuple):
    habit: re.Pattern[str]
    advice: str


def _rule(pattern: str, advice: str) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), advice)


RULES = (
    _rule(r"^\W*(what(?! to\b)|whatever|who|whoever)\b(?!.*\?\W*$)", "begin with a noun, not with What or Who"),
    _rule(r"\bthe ones? of\b", "name the thing again"),
    _rule(r"\b(is|are|was|were) none\b|\bdo(es)? not stand\b", "not found"),
    _rule(r"\b(is|are|was|were|be|stays?) away\b|\b(redis|server|model|database) (is|was) gone\b", "unavailable"),
    _rule(r"\bby (itself|themselves)\b", "automatically, on its own, alone"),
    _rule(r"\b(hears?|heard)\b", "accepts messages from, accepted"),
    _rule(r"\blet(s|ting)? (\w+ )?in\b(?! to)", "allowed, approved"),
    _rule(r"\boverheard\b", "group context"),
    _rule(r"\b(?<!set )(?<!set it )(?<!put )aside\b(?! from)", "out-of-band reply"),
    _rule(r"\bresting\b|\brests?\b(?= (it|them|the \w+|a|until|after)\b)", "parked, backing off"),
    _rule(r"\b(un)?settle[sd]?\b|\bsettling\b", "consolidated, unconsolidated, saved"),
    _rule(r"\bsum(s|med|ming)? up\b", "summarizes, summary"),
    _rule(r"\bseldom\b", "throttled, rate-limited"),
    _rule(r"\bparts (it|them|the two)\b|\bparted\b", "separates, unlinks"),
    _rule(r"\b(pass(es)? again|tr(y|ies|ied) once more)\b", "retries"),
    _rule(r"\bwhat waits\b|\bwhat is waiting\b", "pending, queued"),
    _rule(r"\bnames? no\b", "returned no"),
    _rule(r"\btells? an id\b", "shows your ID"),
    _rule(r"\breach(es)? out of here\b", "calls external services"),
    _rule(r"\b(everybody|everything|nobody|nothing|none|anything|anybody) but\b", "except"),
    _rule(r"\bjust now\b", "right now"),
    _rule(r"\bbrought\b", "delivered, sent"),
    _rule(r"\bwhoever\b", "user, sender, person"),
    _rule(r"\b(takes?|taking|in) the place of\b", "replaces, instead of"),
    _rule(r"\bwhat stands\b|\bstands? (there|here|in)\b", "contains, holds"),
    _rule(r"\b(has|have|had) run out\b|\bran out\b|\bis over\b", "expired"),
    _rule(r"\bdown for a while\b", "temporary failure, outage"),
    _rule(r"\bwhat is there without\b", "the default"),
)

QUOTING = frozenset({"docs/style.md", "daemon/recall/word_forms.py"})
"""A page that quotes the habits to warn of them, and a list of words."""

ALLOWED: tuple[tuple[str, str], ...] = (
    # The table of old names in the glossary: cells have no full stop.
    ("docs/glossary.md", r"[^.]$"),
    # Names of scripts.
    ("docs/redis-session.md", r"^(\w+, )*settle\b(, \w+)*($|;)"),
)
"""A file, and a pattern of sentences in it that may keep a habit."""


def broken(sentence: Sentence) -> list[Rule]:
    if sentence.path in QUOTING:
        return []
    if any(sentence.path == path and re.search(pattern, sentence.text, re.IGNORECASE) for path, pattern in ALLOWED):
        return []
    text = re.sub(r"\{[^{}]*\}", "{value}", re.sub(r"`[^`]*`", "`code`", sentence.text))
    return [rule for rule in RULES if rule.habit.search(text)]
