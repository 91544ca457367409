"""The audit of a consolidation: where the facts and statements of its messages are left."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import anyio
import msgspec
import structlog
from anyio import to_thread

from daemon import metrics
from daemon.errors import MillpondError, brief
from daemon.memory import Audit, AuditPlace, HistoryEntry, Opened, RequestPlace, Version
from daemon.recall import QuotedMessage, said_of
from workers.consolidation.audit.fact_extraction import Item, Texts, items_of
from workers.consolidation.audit.pinned_statements import (
    REQUESTS_MAX,
    Request,
    asked_lines,
    merged_lines,
    told,
    with_pinned,
)
from workers.consolidation.log_part import LogPart
from workers.consolidation.summary.quiz import QuizRange, Recalls, Score

SEARCH_S = 1.0
"""Longest that all searches of an audit take: a turn may wait for the consolidation."""

LISTED_MAX = 50
"""Items in the archive alone that a record lists: 2 kB."""

NO_SCORE = Score(questions=0, correct=0)

Examines = Callable[[Sequence[QuotedMessage], QuizRange], Awaitable[Score | None]]

_log = structlog.get_logger()


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """The messages that are audited."""

    said: Sequence[QuotedMessage] = ()
    """Those of people and the bot; the results of tools are not remembered."""
    items: Sequence[Item] = ()
    requests: Sequence[Request] = ()
    """Those of the items that people asked to be kept."""

    @classmethod
    def of(cls, session: str, part: LogPart | None, *, names: bool) -> "Range":
        """The range of a part of a session's log; with ``names`` several people speak."""
        found = [said_of(session, index, entry) for index, entry in enumerate(part.entries, part.first)] if part else []
        said = [each for each in found if each is not None]
        items = items_of(said)
        requests = [
            Request(
                place=RequestPlace(session, item.index, item.begin, item.end),
                text=told(item.sentence, item.speaker, names=names),
            )
            for item in items
            if item.kind == "request"
        ]
        return cls(said=said, items=items, requests=requests)


class Auditor:
    """Audits one range of messages, perhaps several times while its MEMORY.md changes."""

    def __init__(
        self,
        audited: Range,
        *,
        earlier: Sequence[Request],
        recalls: Recalls,
        fits: Callable[[str], bool],
        quiz: Examines | None = None,
    ) -> None:
        """Nothing is searched yet.

        Args:
            audited: the range.
            earlier: what people asked to be kept before the range, and MEMORY.md still contained.
            recalls: gives the passages that recall finds for words.
            fits: whether the part ``## Pinned`` may be so long.
            quiz: gives the result of a quiz about messages; None: there is none.
        """
        self._range = audited
        self._earlier = earlier
        self._recalls = recalls
        self._fits = fits
        self._quiz = quiz
        self._found: dict[str, Texts | None] = {}
        self._score: Score | None = None
        self._is_counted = False

    async def audited(
        self, opened: Opened, entry: HistoryEntry, update: Version | None
    ) -> tuple[HistoryEntry, Version | None]:
        """The entry and the version with the audit, and the version with what has to be pinned. Never raises.

        Args:
            opened: the memory before.
            entry: of the range.
            update: the new MEMORY.md; None: it stays, unless something has to be pinned.
        """
        changed, pinned = self.pinned(opened.text, update or _unchanged(opened, entry))
        new = changed if update or pinned else None
        audit = await self._audit(opened, new.text if new else opened.text, entry, pinned=len(pinned))
        entry = msgspec.structs.replace(entry, audit=audit)
        return entry, msgspec.structs.replace(new, audit=audit) if new else None

    def pinned(self, before: str, update: Version) -> tuple[Version, list[str]]:
        """``update`` with the statements pinned that it lacks, and these statements.

        Rules, pinned lines and earlier requests in the memory ``before`` are pinned again, unless the update says why
        it leaves out parts of this memory.
        """
        earlier = [] if update.reason else [*asked_lines(before, but_of=update.text), *_held(self._earlier, before)]
        requests = [request.text for request in self._range.requests]
        text, pinned = with_pinned(update.text, [*earlier, *requests], fits=self._fits)
        return msgspec.structs.replace(update, text=text), pinned

    async def _audit(self, opened: Opened, memory: str, entry: HistoryEntry, *, pinned: int) -> Audit:
        places = dict.fromkeys(self._range.items, "")
        texts = Texts([memory])
        await to_thread.run_sync(_compare, places, texts, Texts([entry.text]))
        with anyio.move_on_after(SEARCH_S):
            for item in [item for item, place in places.items() if not place]:
                places[item] = await self._place(item)
        counts = Counter(place or "unsearched" for place in places.values())
        if not self._is_counted:
            self._is_counted = True
            for place, count in counts.items():
                metrics.AUDITED.labels(place).inc(count)
            await self._examine(memory, entry)
        score = self._score or NO_SCORE
        lost = [item for item, place in places.items() if place == "archive"][:LISTED_MAX]
        found = tuple(AuditPlace(item.kind, item.index, item.begin, item.end) for item in lost)
        requests = [*self._earlier, *self._range.requests, *merged_lines(opened, memory)]
        # All texts hold the empty one, of a request that could not be read.
        kept = dict.fromkeys(each.place for each in requests if texts.hold_statement(each.text))
        return Audit(
            **counts,
            pinned=pinned,
            questions=score.questions,
            correct=score.correct,
            lost=found,
            requests=tuple(kept)[-REQUESTS_MAX:],
        )

    async def _examine(self, memory: str, entry: HistoryEntry) -> None:
        # While the model fails there is no summary to examine.
        if self._quiz and self._range.said and entry.kind == "summary":
            left = QuizRange(memory=memory, history=entry.text, recalls=self._recalls)
            self._score = await self._quiz(self._range.said, left)
        if self._score:
            metrics.QUIZZED.labels("correct").inc(self._score.correct)
            metrics.QUIZZED.labels("wrong").inc(self._score.questions - self._score.correct)

    async def _place(self, item: Item) -> str:
        """``recall``, ``archive``, or empty if nothing could be searched."""
        if item.sentence not in self._found:
            self._found[item.sentence] = await self._search(item.sentence)
        found = self._found[item.sentence]
        return "" if found is None else "recall" if found.hold(item) else "archive"

    async def _search(self, words: str) -> Texts | None:
        try:
            return Texts(await self._recalls(words))
        except MillpondError as error:
            _log.warning("audit.failed", reason=brief(error))
        except Exception as error:  # noqa: BLE001 - a bug in the search must not fail a summary that was paid for
            _log.exception("audit.failed", reason=type(error).__name__)
        return None


def _held(requests: Sequence[Request], memory: str) -> list[str]:
    texts = Texts([memory])
    return [each.text for each in requests if each.text and texts.hold_statement(each.text)]


def _unchanged(opened: Opened, entry: HistoryEntry) -> Version:
    return Version(
        kind="consolidation",
        time=entry.time,
        session=entry.session,
        first=entry.first,
        upto=entry.upto,
        text=opened.text,
    )


def _compare(places: dict[Item, str], memory: Texts, history: Texts) -> None:
    for item in places:
        places[item] = "memory" if memory.hold(item) else "history" if history.hold(item) else ""
