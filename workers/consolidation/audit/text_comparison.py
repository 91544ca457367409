"""Whether texts still contain what was said. Pure."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from daemon.recall.search_terms import folded, terms
from daemon.recall.stopwords import ENGLISH
from daemon.recall.unspaced_terms import SIGNS, content_of, run_terms
from workers.consolidation.audit.fact_extraction import Item, is_whole, sentences_of

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
