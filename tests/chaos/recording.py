"""What a run left, read from the logs, the memories, the platform, the model, the tools and the witnesses."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daemon.bus import Bus, pairs
from daemon.overview import UnknownDelivery, read_unknown
from daemon.process import Process
from tests.chaos import runs
from tests.chaos.cursors import Cursors
from tests.chaos.ends import Drain
from tests.chaos.fleet import NOTES_FILE
from tests.chaos.keeper import DEADLY
from tests.chaos.models import Models
from tests.chaos.outcomes import Attempt, Book, Outcome, Place, doubled, listed_doubled
from tests.chaos.plan import Counts
from tests.chaos.remains import kept_of
from tests.chaos.setting import PART_MAX_CHARS, PUSH, SEND_TIMEOUT_S, TURN_WAIT_S
from tests.chaos.tally import Record, Watched
from tests.chaos.waits import Halt, impatient, waits
from tests.chaos.witness import Witness
from tests.fakes.sink import Attempt as SeenAttempt
from tests.fakes.sink import Sink

UNKNOWN_ALL = 10_000
LOG_ALL = 100_000

WAIT_MAX_S = TURN_WAIT_S + 1.5
"""A turn's longest wait for a consolidation: what it may wait, and noticing that late on a busy machine."""


@dataclass(frozen=True, kw_only=True)
class Sources:
    folder: Path
    process: Process
    platform: Sink
    witness: Witness
    models: Models
    cursors: Cursors
    halts: Sequence[Halt]
    drain: Drain


async def waiting_in(bus: Bus) -> frozenset[tuple[str, str]]:
    """Session and id of each message that is queued for an answer."""
    entries: Any = await bus.call("XRANGE", bus.keys.inbox(0), "-", "+")
    fields = [dict(pairs(each)) for _, each in entries]
    return frozenset((each[b"session"].decode(), each[b"id"].decode()) for each in fields)


async def recorded(accepted: Mapping[str, list[str]], sources: Sources) -> Record:
    process, witness, attempts = sources.process, sources.witness, sources.platform.attempts
    waiting = await waiting_in(process.bus)  # first: what is answered meanwhile is seen twice, and not missed
    transcripts, book = process.transcripts, witness.book
    # What has left Redis is read from the archive.
    logs = {name: [entry for _, entry in await transcripts.committed(name, limit=LOG_ALL)] for name in accepted}
    deaths = sources.models.keeper.deaths
    return Record(
        accepted=accepted,
        logs=logs,
        waiting=waiting,
        stopped=sources.drain.stopped,
        attempts=[_attempt(each, book) for each in attempts if each.post["attempt"] in book.asked],
        unmarked=[each.post["reply"] for each in attempts if each.post["attempt"] not in book.asked],
        unknown=[_outcome(each) for each in await read_unknown(process.bus, limit=UNKNOWN_ALL)],
        book=book,
        push=frozenset(name for name in accepted if name.startswith(f"{PUSH}:")),
        part_max_chars=PART_MAX_CHARS,
        stale=witness.stale,
        runs=runs.read(sources.folder / NOTES_FILE),
        told=sources.models.talker.told,
        kept=await kept_of(process, list(accepted), doomed=[chat for chat in deaths if deaths[chat] == DEADLY]),
        watched=_watched(sources),
    )


def _watched(sources: Sources) -> Watched:
    gallery = sources.models.gallery
    return Watched(
        calls=gallery.calls,
        budget_tokens=gallery.budget_tokens,
        overfull=gallery.overfull,
        orphaned=gallery.orphaned,
        backward=sources.cursors.back,
        impatient=impatient(list(waits(sources.folder)), sources.halts, most_s=WAIT_MAX_S),
    )


def counted(record: Record, sources: Sources, counts: Counts) -> None:
    """Add what a record and its sources can tell to what was counted under way."""
    answered = {attempt.place: attempt.answered for attempt in record.attempts}
    kinds = Counter(answered.get(outcome.place) for outcome in record.unknown)
    counts.bursts = sum(len(entry.answers) > 1 for log in record.logs.values() for entry in log)
    counts.doubled = doubled(record.attempts)
    counts.listed_doubled = listed_doubled(record.attempts, record.unknown)
    counts.tools, counts.interrupted = len(record.runs.began), runs.interrupted(record.logs)
    counts.listed_cut, counts.listed_answered, counts.listed_unseen = kinds[False], kinds[True], kinds[None]
    _count_memory(record, counts)
    keeper, gallery = sources.models.keeper, sources.models.gallery
    counts.deaths, counts.summaries, counts.wrong = (
        keeper.deaths.total(),
        keeper.asked["summaries"],
        keeper.asked["wrong"],
    )
    counts.prompts, counts.most_tokens, counts.looks = len(gallery.calls), gallery.most_tokens, sources.cursors.looks
    waited = [wait.own_s(sources.halts) for wait in waits(sources.folder)]
    counts.waits, counts.longest_wait_s = len(waited), max(waited, default=0.0)


def _count_memory(record: Record, counts: Counts) -> None:
    found = [entries for _, _, entries in record.kept.each()]
    versions = Counter(version.kind for memory in record.kept.memories.values() for version in memory.versions)
    counts.consolidated = sum(map(len, found))
    counts.raw = sum(entry.kind == "raw" for entries in found for entry in entries)
    counts.least = min(map(len, found), default=0)
    counts.versions, counts.flushes, counts.rejected = versions.total(), versions["flush"], versions["rejected"]


def _attempt(seen: SeenAttempt, book: Book) -> Attempt:
    mark: str = seen.post["attempt"]
    return Attempt(
        place=book.asked[mark],
        leader=mark.rpartition("-")[0],
        taken=seen.delivered,
        answered=seen.answered,
        in_time=seen.took_s < SEND_TIMEOUT_S / 2,
    )


def _outcome(listed: UnknownDelivery) -> Outcome:
    return Outcome(place=Place(reply=listed.reply, part=listed.part, number=listed.attempt), action=listed.action)
