"""Earlier turns in prompts: valid for the API, with names in groups, and with old tool results cut.

Pure, but for memory.

Most turns are sent as they are stored. Those that have to be encoded anew are remembered by their content: it is done
once and not at every turn, and what was forgotten in the log can never be shown from here.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from threading import Lock
from typing import NamedTuple

import msgspec

from daemon.events import LogEntry
from daemon.model import with_own
from workers.agent.shorten import Count, Piece
from workers.agent.spoken import spoken
from workers.micro import cut_result
from workers.refused import without_refused
from workers.wires import ASSISTANT, CALLS, USER, encode, links_of, role_of, shown_result, taken_apart

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


class ShownTurn(msgspec.Struct, frozen=True, gc=False):
    """A turn as it is sent.

    Not tracked by the garbage collector, which a long history's would set off several times in every turn.
    """

    messages: tuple[bytes, ...]
    """Answers with what their own model alone understands, see ``daemon.model.with_own``."""
    tokens: int


class Remembered:
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


def _size(turn: ShownTurn) -> int:
    return REMEMBERED_COST_BYTES + sum(map(len, turn.messages))


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """How a bot's turns are shown."""

    count: Count
    max_chars: int
    """What is kept of an old tool result."""
    remembered: Remembered
    counts: Remembered = field(default_factory=lambda: Remembered(COUNTED_BYTES))
    """Of single messages; what is remembered has no words."""

    def turns(self, history: Sequence[LogEntry], *, old: int, names: bool, own: bool = False) -> Iterator[ShownTurn]:
        """The turns, newest first; the rest is as for ``shown``, ``old`` counted over all of ``history``."""
        end = len(history)
        while end:
            # By hand, and with as few calls as can be: a long history is walked through at every model call.
            two = history[end - 1]
            first, turn = end - 1, two.turn
            while first and history[first - 1].turn == turn:
                first -= 1
            if end - first == 2 and not (names or two.refused or two.unpaid):
                one = history[first]
                said, answer = bytes(one.wire), bytes(two.wire)
                # Most turns are a message and its answer, which nothing has to be done to.
                if said.startswith(USER) and answer.startswith(ASSISTANT) and CALLS not in answer:
                    own_tokens = two.own_tokens if own else 0
                    yield ShownTurn((said, _with_own(answer, two)), one.tokens + two.tokens + own_tokens)
                    end = first
                    continue
            yield self.shown(without_refused(history[first:end]), old=max(0, old - first), names=names, own=own)
            end = first

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
