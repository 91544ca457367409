"""Searches hard and real conversations, and repeats questions, against FTS5 and BM25 in the same run.

``RECALL_DATA`` names a folder with real conversations (``recall_files``). Without it only generated ones are searched.
Every second question is for tuning. The figures are those of the others.
"""

import datetime as dt
import os
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from statistics import median

import msgspec

from benchmarks.recall_baseline import BM25, Baseline
from benchmarks.recall_corpus import Life, lives
from benchmarks.recall_files import Conversation, Message, Question, conversations
from benchmarks.recall_hard import hard_conversations
from benchmarks.recall_measure import Ground
from benchmarks.result import Result
from daemon import log
from daemon.clock import stamp
from daemon.config import MemorySearchConfig
from daemon.recall.index.index_rows import add_messages
from daemon.recall.index.index_store import NOWHERE, FeedPosition, Index
from daemon.recall.index.passages import hits_of, places_of
from daemon.recall.index.ranking import expanded, ranked
from daemon.recall.recall import LOOKED_AT, SHORT, above, distinct, enough
from daemon.recall.search_results import Hit, InPrompt
from daemon.recall.search_terms import query_terms, terms

DATA = "RECALL_DATA"
FEW, MANY = 5, 10
"""Hits."""
NOT_BELOW = 0.95
"""Times the better of the plain searches: with 80 questions one of them is more than a point."""
SHOWN_SHARE = 0.8
"""A message is shown if so much of its beginning stands in a snippet, of at most ``SHOWN_CHARS``."""
SHOWN_CHARS = 320
PEOPLE = 4
"""Of each language whose questions are repeated."""
REPEATED = 3
"""Times."""
EMPTY_ANSWERS = {"en": "I don't know that.", "zh": "我不知道。"}
LOST_LIMIT = 4.0
"""Points that the repetitions may cost: 2 of 50 questions."""
_no_letters = re.compile(r"\W+").sub
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """The results for one question: shares of its evidence, as percentages."""

    kind: str
    found: tuple[float, float]
    """Among the first ``FEW`` and ``MANY`` hits."""
    shown: float
    """100 if the snippets of a turn contain all of it."""
    within_reach: float
    """The messages that share a word with the question: a keyword search finds no others."""
    plain: tuple[float, float]
    """Found by FTS5, any word."""
    bm25: tuple[float, float]
    cpu_ms: float


def measure() -> list[Result]:
    """One value for each set and measure."""
    log.configure("error")
    folder = os.environ.get(DATA)
    sets = dict[str, list[_Outcome]]()
    for told in (*hard_conversations(), *(conversations(Path(folder)) if folder else ())):
        sets.setdefault(f"{told.set_name}, {told.language}", []).extend(_asked(told))
    return [
        *(result for name, outcomes in sets.items() for result in _results(name, outcomes)),
        *(result for name, outcomes in sets.items() for result in _kinds(name, outcomes)),
        *_repetitions(),
    ]


def _results(name: str, told: Sequence[_Outcome]) -> Iterable[Result]:
    for at, most in enumerate((FEW, MANY)):
        plain, bm25 = _mean(one.plain[at] for one in told), _mean(one.bm25[at] for one in told)
        yield Result(
            name=f"{name}: found among {most}",
            unit="%",
            values=(_mean(one.found[at] for one in told),),
            floor=max(plain, bm25),
            floor_is=f"FTS5 by OR {plain:.1f}, BM25 {bm25:.1f}",
            limit=NOT_BELOW,
            limit_is="ratio, at least",
        )
    yield _for_people(f"{name}: shown in a turn", _mean(one.shown for one in told))
    yield _for_people(f"{name}: share a word with the question", _mean(one.within_reach for one in told))
    cpu = median(one.cpu_ms for one in told)
    yield Result(name=f"{name}: CPU of a query", unit="ms", values=(cpu,), floor=0, floor_is="-", limit=20)


def _for_people(name: str, value: float) -> Result:
    """A result to read, without a limit."""
    return Result(name=name, unit="%", values=(value,), floor=0, floor_is="-", limit=0, limit_is="at least")


def _kinds(name: str, told: Sequence[_Outcome]) -> Iterable[Result]:
    """By kind of question, for people to read: a kind may have too few questions for a limit."""
    kinds = sorted({one.kind for one in told})
    for kind in kinds if len(kinds) > 1 else ():
        of_kind = [one for one in told if one.kind == kind]
        plain, bm25 = _mean(one.plain[0] for one in of_kind), _mean(one.bm25[0] for one in of_kind)
        yield Result(
            name=f"{name}, {kind}: found among {FEW}",
            unit="%",
            values=tuple(_mean(each) for each in zip(*(one.found[:1] for one in of_kind), strict=True)),
            floor=max(plain, bm25),
            floor_is=f"FTS5 by OR {plain:.1f}, BM25 {bm25:.1f}",
            limit=0,
            limit_is="at least",
        )


def _mean(values: Iterable[float]) -> float:
    listed = [*values]
    return sum(listed) / len(listed)


def _asked(told: Conversation) -> list[_Outcome]:
    index = _index_of(told.messages)
    texts = [message.text for message in told.messages]
    plain, bm25 = Baseline(texts), BM25(texts)
    outcomes = [_outcome(told, index, question, plain, bm25) for question in told.questions[1::2]]
    index.close()
    return outcomes


def _outcome(told: Conversation, index: Index, question: Question, plain: Baseline, bm25: BM25) -> _Outcome:
    began = time.process_time()
    hits = found(index, question.text, told.now, limit=MANY)
    cpu_ms = 1_000 * (time.process_time() - began)
    places = index.ask(lambda connection: places_of(connection, [hit.docid for hit in hits]))
    at = [places[hit.docid].first for hit in hits]
    looked_at = distinct(found(index, question.text, told.now, limit=LOOKED_AT))
    wanted = above(looked_at, MemorySearchConfig().min_score, relative=True)[: SHORT * FEW]
    snippets = [bare(hit.snippet) for hit in enough(wanted, FEW)]
    evidence = [told.messages[index].text for index in question.evidence]
    shown = all(is_shown(text, snippets) for text in evidence)
    return _Outcome(
        kind=question.kind,
        found=_shares(question, at),
        shown=100.0 * shown,
        within_reach=_share_with(query_terms(question.text, told.now).terms, evidence),
        plain=_shares(question, plain.search(question.text, MANY)),
        bm25=_shares(question, bm25.search(question.text, MANY)),
        cpu_ms=cpu_ms,
    )


def _shares(question: Question, at: Sequence[int]) -> tuple[float, float]:
    few, many = (100 * len(question.evidence & {*at[:most]}) / len(question.evidence) for most in (FEW, MANY))
    return few, many


def _share_with(words: Sequence[str], texts: Sequence[str]) -> float:
    return _mean(100.0 * any(term in words for term in terms(text)) for text in texts)


def bare(text: str) -> str:
    """The letters and digits of ``text``."""
    return _no_letters("", text)


def is_shown(text: str, snippets: Sequence[str]) -> bool:
    """Whether one of ``snippets``, which are ``bare``, contains nearly all of the beginning of ``text``."""
    whole = bare(text)[:SHOWN_CHARS]
    begin = whole[: max(20, int(SHOWN_SHARE * len(whole)))]
    return any(begin in snippet for snippet in snippets)


def _index_of(messages: Sequence[Message]) -> Index:
    index = Index.in_memory(forgets=0)
    records = [
        _encode({"time": stamp(each.time), "sender": each.speaker, "wire": {"role": "user", "content": each.text}})
        for each in messages
    ]
    index.feed(
        "log", NOWHERE, FeedPosition(len(records), "last"), lambda _, write: add_messages(write, "told", 0, records)
    )
    return index


def found(index: Index, query: str, now: dt.datetime, *, limit: int) -> tuple[Hit, ...]:
    """Hits as a turn of another session gets them."""
    prompt = InPrompt(file="transcript/other", first=0)
    asked = query_terms(query, now)

    def look(connection: Connection) -> tuple[Hit, ...]:
        scored = ranked(connection, asked, limit=2 * limit, prompt=prompt)
        scored = expanded(connection, asked, scored, limit=2 * limit, prompt=prompt)
        return hits_of(connection, scored, limit=limit, prompt=prompt, query=query)

    return index.ask(look)


# Repeated questions


def _repetitions() -> Iterable[Result]:
    for language in EMPTY_ANSWERS:
        some = [life for life in lives(3, people=PEOPLE) if life.language == language]
        yield Result(
            name=f"found among {FEW} after {REPEATED} repetitions of every question, {language}",
            unit="points fewer",
            values=tuple(_share_found(life, times=0) - _share_found(life, times=REPEATED) for life in some),
            floor=0,
            floor_is="-",
            limit=LOST_LIMIT,
        )


def _share_found(life: Life, *, times: int) -> float:
    ground = Ground(life)
    index = Index.in_memory(forgets=0)
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(ground.chunks))
    for number in range(times):
        records, at = list[bytes](), life.now + dt.timedelta(hours=number)
        for question in life.questions:
            at += dt.timedelta(seconds=30)
            for role, text in (("user", question.text), ("assistant", EMPTY_ANSWERS[life.language])):
                records.append(_encode({"time": stamp(at), "wire": {"role": role, "content": text}}))
        _feed(index, f"again{number}", records)
    shares = [
        ground.asked(question, ground.numbers(hit.docid for hit in found(index, question.text, life.now, limit=FEW)))
        for question in life.questions
    ]
    index.close()
    return _mean(100 * one.shares[0] for one in shares)


def _feed(index: Index, session: str, records: Sequence[bytes]) -> None:
    index.feed(
        f"log {session}", NOWHERE, FeedPosition(1, session), lambda _, write: add_messages(write, session, 0, records)
    )
