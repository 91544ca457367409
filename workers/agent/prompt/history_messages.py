"""Earlier turns in prompts: valid for the API, with names in groups, and with old tool results cut.

Pure, but for memory.

Most turns are sent as they are stored. Those that have to be encoded anew are remembered by their content: it is done
once and not at every turn, and what was forgotten in the log can never be shown from here.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, groupby
from threading import Lock
from typing import NamedTuple

import msgspec

from daemon.events import LogEntry
from daemon.model import with_own
from workers.agent.prompt.message_shortening import Count, Piece
from workers.agent.prompt.user_messages import spoken
from workers.message_format import (
    ASSISTANT,
    CALLS,
    USER,
    cut_result,
    encode,
    links_of,
    role_of,
    shown_result,
    taken_apart,
    without_refused,
)

REMEMBERED_BYTES = 32 * 1024 * 1024
"""What the turns that were encoded anew may take in a process, for each bot."""
REMEMBERED_COST_BYTES = 300
"""What remembering one takes besides."""
REMEMBERED_S = 600.0
"""For how long a turn is remembered that is shown to nobody: what has left a conversation's window is not asked for
again, and a process that has room for an hour of it would grow for an hour."""
COUNTED_BYTES = 1024 * 1024
"""What the counts of single messages may take, without their words: some 3,500. Nearly all are of one turn alone, and
among the turns they would push out what is shown again and again."""

ENTRY_BYTES = 600
"""What a message takes in a process beside its text."""

RUN_TURNS = 32
"""Turns that a prompt takes in one step where all of them are sent as they are stored: a thousand single steps cost
0.4 ms."""


class ShownTurn(msgspec.Struct, frozen=True, gc=False):
    """A turn as it is sent, or several that follow each other.

    Not tracked by the garbage collector, which a long history's would set off several times in every turn.
    """

    messages: tuple[bytes, ...]
    """Answers with what their own model alone understands, see ``daemon.model.with_own``."""
    tokens: int
    turns: int = 1
    """How many turns these are."""


class HistoryMemo:
    """What was made once, by a digest of what it was made of; the least used goes first. Safe between threads."""

    def __init__(self, most_bytes: int = REMEMBERED_BYTES, *, now: Callable[[], float] = time.monotonic) -> None:
        self._left_bytes = most_bytes
        self._now = now
        self._turns: OrderedDict[bytes, tuple[float, ShownTurn]] = OrderedDict()
        """With the time at which each was used last, the oldest first."""
        self._lock = Lock()

    def get(self, key: bytes, make: Callable[[], ShownTurn]) -> ShownTurn:
        """What belongs to ``key``, made when it is not known."""
        now = self._now()
        with self._lock:
            if found := self._turns.pop(key, None):
                self._turns[key] = (now, found[1])
                return found[1]
        made = make()
        with self._lock:
            if key not in self._turns:
                self._turns[key] = (now, made)
                self._left_bytes -= _size(made)
            while self._turns and (self._left_bytes < 0 or self._oldest_s() < now - REMEMBERED_S):
                self._left_bytes += _size(self._turns.popitem(last=False)[1][1])
        return made

    def _oldest_s(self) -> float:
        return next(iter(self._turns.values()))[0]


class Span(NamedTuple):
    """Where a turn stands in a history."""

    first: int
    end: int
    plain: ShownTurn | None = None
    """A message and its answer as they are sent; None: the messages have to be looked at."""
    own_tokens: int = 0
    """Of ``plain``: what its model alone understands, which is not counted in it."""


class History(list[LogEntry]):
    """Whole turns of a log, oldest first, that know where each turn stands."""

    def __init__(self, entries: Iterable[LogEntry] = (), *, begun: "History | None" = None) -> None:
        """``begun``, and behind it ``entries``, which begin another turn."""
        super().__init__((*(begun or ()), *entries))
        known = len(begun or ())
        self.spans: list[Span] = [*(begun.spans if begun else ()), *_spans(self, known)]
        for span in self.spans[len(begun.spans if begun else ()) :]:
            if span.plain and not self[span.first + 1].own:
                self._share(span.first, span.plain.messages)
        self.size_bytes: int = (begun.size_bytes if begun else 0) + sum(map(_entry_size, self[known:]))
        self.runs: dict[int, ShownTurn] = {**begun.runs} if begun else {}
        """``RUN_TURNS`` turns as one, by the number of turns up to the last of them."""
        for end in range(len(begun.spans if begun else ()) // RUN_TURNS * RUN_TURNS, len(self.spans), RUN_TURNS):
            if run := _run(self.spans[end : end + RUN_TURNS]):
                self.runs[end + RUN_TURNS] = run

    def _share(self, first: int, wires: Sequence[bytes]) -> None:
        """Have messages and their turn use the same bytes: a history of long texts takes half of the memory."""
        for at, wire in enumerate(wires, first):
            self[at] = msgspec.structs.replace(self[at], wire=msgspec.Raw(wire))


def _entry_size(entry: LogEntry) -> int:
    return ENTRY_BYTES + len(bytes(entry.wire)) + len(bytes(entry.own))


def spans_of(history: Sequence[LogEntry]) -> Sequence[Span]:
    """The turns of a history, oldest first."""
    return history.spans if isinstance(history, History) else list(_spans(history, 0))


def _spans(history: Sequence[LogEntry], first: int) -> Iterator[Span]:
    while first < len(history):
        turn, end = history[first].turn, first + 1
        while end < len(history) and history[end].turn == turn:
            end += 1
        yield _plain(first, *history[first:end]) if end - first == 2 else Span(first, end)
        first = end


def _plain(first: int, said: LogEntry, answer: LogEntry) -> Span:
    wires = bytes(said.wire), bytes(answer.wire)
    is_plain = wires[0].startswith(USER) and wires[1].startswith(ASSISTANT) and CALLS not in wires[1]
    if answer.refused or answer.unpaid or not is_plain:
        return Span(first, first + 2)
    shown = ShownTurn((wires[0], _with_own(wires[1], answer)), said.tokens + answer.tokens)
    return Span(first, first + 2, shown, answer.own_tokens)


def _run(spans: Sequence[Span]) -> ShownTurn | None:
    """The turns as one; None: some are missing, or have to be looked at one by one."""
    turns = [span.plain for span in spans if span.plain and not span.own_tokens]
    if len(turns) < RUN_TURNS:
        return None
    return ShownTurn(
        tuple(chain.from_iterable(turn.messages for turn in turns)), sum(turn.tokens for turn in turns), RUN_TURNS
    )


def _size(turn: ShownTurn) -> int:
    return REMEMBERED_COST_BYTES + sum(map(len, turn.messages))


class View(msgspec.Struct, frozen=True, kw_only=True):
    """How a bot's turns are shown."""

    count: Count
    max_chars: int
    """What is kept of an old tool result."""
    remembered: HistoryMemo
    counts: HistoryMemo = msgspec.field(default_factory=lambda: HistoryMemo(COUNTED_BYTES))
    """Of single messages; what is remembered has no words."""

    def turns(
        self, history: Sequence[LogEntry], *, old: int, names: bool, own: bool = False, room: int = 0
    ) -> Iterator[ShownTurn]:
        """The turns, newest first, and several at once where they count at most ``room`` with all newer ones.

        The rest is as for ``shown``, ``old`` counted over all of ``history``.
        """
        spans = spans_of(history)
        runs = history.runs if isinstance(history, History) and not names else {}
        at = len(spans)
        while at:
            found = runs.get(at)
            if found is None or found.tokens > room:
                found = self._turn(history, spans[at - 1], old=old, names=names, own=own)
            yield found
            room, at = room - found.tokens, at - found.turns

    def _turn(self, history: Sequence[LogEntry], span: Span, *, old: int, names: bool, own: bool) -> ShownTurn:
        first, end, plain, own_tokens = span
        if plain is None or names:
            return self.shown(without_refused(history[first:end]), old=max(0, old - first), names=names, own=own)
        return ShownTurn(plain.messages, plain.tokens + own_tokens) if own and own_tokens else plain

    def shown(self, entries: Sequence[LogEntry], *, old: int, names: bool, own: bool = False) -> ShownTurn:
        """A turn of the log.

        Args:
            entries: its messages.
            old: how many of them are old: tool results among them are cut.
            names: whether it is a group's, where each message is shown with who said it.
            own: whether what a model alone understands of its answers counts.
        """
        wires = [_with_own(bytes(entry.wire), entry) for entry in entries]
        senders = [entry.sender for entry in entries] if names else []
        key = _digest([*wires, b"own" if own else b""], senders, min(old, len(wires)))
        return self.remembered.get(key, lambda: _joined(self.pieces(entries, old=old, names=names, own=own)))

    def pieces(self, entries: Sequence[LogEntry], *, old: int, names: bool, own: bool = False) -> list[Piece]:
        """As ``shown``, message by message and not remembered; results count their marks and do not have them yet.

        What is shortened afterwards must keep both of its marks, so ``marked`` comes last.
        """
        found: list[Piece] = []
        for is_user, run in groupby(_legal(entries), key=lambda each: role_of(each.wire) == "user"):
            if is_user:
                found.append(self._said([each.entry for each in run], names=names))
            else:
                found += (self._answered(each, old, own=own) for each in run)
        return found

    def counted(self, wire: bytes) -> Piece:
        """A message with what it counts; counted once, however often it is asked for in a while."""
        return Piece(wire, self.counts.get(_digest([wire], [], 0), lambda: ShownTurn((), self.count(wire))).tokens)

    def count_shown(self, wire: bytes) -> int:
        """What a message counts with the marks that it gets."""
        return self.count(shown_result(wire))

    def _said(self, run: Sequence[LogEntry], *, names: bool) -> Piece:
        if len(run) == 1 and not (names and run[0].sender):
            return Piece(bytes(run[0].wire), run[0].tokens)
        wire = spoken(run, names=names)
        return Piece(wire, self.count(wire))

    def _answered(self, each: "_Kept", old: int, *, own: bool) -> Piece:
        wire = each.wire
        if each.at < old and role_of(wire) == "tool":
            wire = cut_result(wire, self.max_chars)
        if role_of(wire) == "tool":
            # Counted anew, whatever the log says: the result may be older than marks are.
            return Piece(wire, self.counted(shown_result(wire)).tokens)
        tokens = each.entry.tokens if wire == bytes(each.entry.wire) else self.count(wire)
        return Piece(_with_own(wire, each.entry), tokens + (each.entry.own_tokens if own else 0))


def marked(pieces: Sequence[Piece]) -> list[Piece]:
    """``pieces`` with tool results between their marks, which they count already."""
    return [Piece(shown_result(piece.wire), piece.tokens) for piece in pieces]


def _with_own(wire: bytes, entry: LogEntry) -> bytes:
    return with_own(wire, bytes(entry.own))


def _digest(wires: Sequence[bytes], senders: Sequence[str], old: int) -> bytes:
    # A line break cannot stand in JSON as it is written here, so that nothing can pass for something else.
    content = b"\n".join((*wires, encode(senders), b"%d" % old))
    return blake2b(content, digest_size=16).digest()


def _joined(pieces: Sequence[Piece]) -> ShownTurn:
    return ShownTurn(tuple(piece.wire for piece in marked(pieces)), sum(piece.tokens for piece in pieces))


class _Kept(NamedTuple):
    """A message that may be sent."""

    at: int
    """Where it stands in its turn."""
    entry: LogEntry
    wire: bytes


def _legal(entries: Sequence[LogEntry]) -> Iterator[_Kept]:
    """The messages without results whose call is missing, and without calls that lack a result.

    Servers refuse both. A log has neither, unless something in it was lost or forgotten.
    """
    at = 0
    while at < len(entries):
        entry, wire, first = entries[at], bytes(entries[at].wire), at
        at += 1
        if role_of(wire) == "tool":
            continue
        if CALLS not in wire:
            yield _Kept(first, entry, wire)
            continue
        calls = links_of(wire)[0]
        results: list[_Kept] = []
        while calls and at < len(entries) and role_of(result := bytes(entries[at].wire)) == "tool":
            results.append(_Kept(at, entries[at], result))
            at += 1
        yield from _answered_calls(_Kept(first, entry, wire), calls, results)


def _answered_calls(said: _Kept, calls: Sequence[str], results: Sequence[_Kept]) -> Iterator[_Kept]:
    missing, fitting = [*calls], list[_Kept]()
    for result in results:
        if (call := links_of(result.wire)[1]) in missing:
            missing.remove(call)
            fitting.append(result)
    if not missing:
        yield said
        yield from fitting
        return
    bare = {name: value for name, value in taken_apart(said.wire).items() if name != "tool_calls"}
    if bare.get("content"):
        yield said._replace(wire=encode(bare))


# Trims the history within a turn, separately for each model call. Pure.

LEAST_TOKENS = 500
"""A smaller ``context_budget_tokens`` counts as this."""


def iteration(current: Sequence[LogEntry]) -> int:
    """Which of its model calls a turn is about to make, from 1; those of a predecessor count."""
    return 1 + sum(role_of(bytes(entry.wire)) == "assistant" for entry in current)


def history_room(room_tokens: int, context_budget_tokens: int, *, iteration: int) -> int:
    """Tokens that history may take of ``room_tokens``: all at the first call, later at most the bot's setting."""
    if iteration == 1 or context_budget_tokens == 0:
        return room_tokens
    return min(room_tokens, max(LEAST_TOKENS, context_budget_tokens))
