"""Names of a query in the other script, as far as the index contains them. All functions block."""

import sqlite3
from collections.abc import Iterator, Sequence

from daemon.recall.person_names import NAMES_MAX, is_pronounced, surnames_of
from daemon.recall.search_terms import Query, match_expression
from daemon.recall.unspaced_terms import run_terms


def name_terms(connection: sqlite3.Connection, asked: Query) -> list[str]:
    """The terms of the query's names in the other script: Chinese characters for pinyin, and pinyin for characters."""
    found = [term for name in asked.pinyin for term in _in_characters(connection, name)]
    for name in asked.names[:NAMES_MAX]:
        together = " AND ".join(match_expression([term]) for term in name)
        if connection.execute("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (together,)).fetchone():
            found += name
    return list(dict.fromkeys(found))


def _in_characters(connection: sqlite3.Connection, name: Sequence[str]) -> Iterator[str]:
    """The terms of the names in Chinese characters that are pronounced like ``name``."""
    names = [*surnames_of(name[0])]
    for syllable in name[1:]:
        names = [begun + pair[1] for begun in names for pair in _pairs(connection, begun[-1], syllable)]
    return (term for each in names for term in run_terms(each))


def _pairs(connection: sqlite3.Connection, sign: str, syllable: str) -> list[str]:
    """The pairs of the index that begin with a character, and continue with this pronunciation."""
    rows = connection.execute("SELECT term FROM term WHERE term >= ? AND term < ?", (sign, chr(ord(sign) + 1)))
    return [term for (term,) in rows if len(term) == 2 and is_pronounced(term[1], syllable)]
