"""Whether what a run's conversations left in memory is whole: nothing missing, twice or otherwise. Pure."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from daemon.events import LogEntry
from daemon.memory import HistoryEntry, Note, Version
from tests.chaos.marks import NONE, Numbers, heard, marked, together
from tests.chaos.shown import Shown

SLACK_TOKENS = 64  # how far our count of a prompt and of what might have been added may be off the bot's own


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A session as it ended."""

    session: str
    scope: str
    cursor: int
    base: int  # where what Redis holds of its log begins
    head: int
    entries: Sequence[LogEntry]  # from the first to the head, those that have left Redis from the archive
    raws: Sequence[bytes]  # the same as they are stored
    archived: Mapping[int, frozenset[bytes]]
    """Index → the message, as the archive's segments have it; one, if all is well."""
    upto: int  # where its memory ends
    is_locked: bool = False
    is_unsettled: bool = False
    name: str = ""  # what its marks begin with; empty: the last part of its key

    @property
    def chat(self) -> str:
        return self.name or self.session.rpartition(":")[2]

    def numbers(self, first: int, upto: int) -> Numbers:
        return together(*(marked(raw.decode()) for raw in self.raws[first:upto])).get(self.chat, NONE)

    def places(self) -> dict[int, int]:
        """Number of each message → where it stands."""
        return {number: at for at in range(len(self.raws)) for number in self.numbers(at, at + 1)}


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A scope's memory as it ended."""

    scope: str
    text: str
    version: int
    history: Sequence[HistoryEntry]
    versions: Sequence[Version]  # oldest first
    notes: Sequence[Note]
    files: Mapping[str, str]  # name → content

    def of(self, session: str) -> list[HistoryEntry]:
        """A session's entries, in the order of its messages, without those that were lost."""
        mine = [entry for entry in self.history if entry.session == session and not entry.lost]
        return sorted(mine, key=lambda entry: (entry.first, entry.upto))


@dataclass(frozen=True, kw_only=True)
class Kept:
    conversations: Sequence[Conversation] = ()
    memories: Mapping[str, Memory] = field(default_factory=dict[str, Memory])
    doomed: Sequence[str] = ()  # chats whose workers were killed over a summary until it was given up

    def each(self) -> Iterator[tuple[Conversation, Memory, list[HistoryEntry]]]:
        """Each conversation, the memory it went to, and its entries there."""
        for conversation in self.conversations:
            memory = self.memories[conversation.scope]
            yield conversation, memory, memory.of(conversation.session)


def untiled(kept: Kept) -> Iterator[str]:
    """Entries that do not follow each other from the first message to the cursor."""
    for conversation, _, entries in kept.each():
        name, at = conversation.session, 0
        for entry in entries:
            if entry.first != at:
                yield f"{name}: an entry begins at {entry.first}, the one before it ends at {at}"
            at = entry.upto
        if not at == conversation.cursor == conversation.upto:
            yield f"{name}: entries end at {at}, the cursor is {conversation.cursor}, its memory at {conversation.upto}"


def unsaid(kept: Kept) -> Iterator[str]:
    """Messages before the cursor that no summary was asked for with, and no raw entry holds."""
    for conversation, _, entries in kept.each():
        for entry in entries:
            # A summary tells of what its request held; what was too large for one stands there as it is.
            read = together(heard(entry.text), marked(entry.text)).get(conversation.chat, NONE)
            if odd := sorted(read ^ conversation.numbers(entry.first, entry.upto)):
                yield f"{conversation.session} [{entry.first}, {entry.upto}), {entry.kind}: not the same {odd}"


def unversioned(kept: Kept) -> Iterator[str]:
    """Where MEMORY.md is not its newest version, or its versions are not what happened to it."""
    for memory in kept.memories.values():
        current = [version for version in memory.versions if version.kind != "rejected"]
        newest = (current[-1].version, current[-1].text) if current else (0, "")
        if newest != (memory.version, memory.text):
            yield f"{memory.scope}: its text is not that of version {newest[0]}"
        if [version.version for version in memory.versions] != list(range(1, len(memory.versions) + 1)):
            yield f"{memory.scope}: its versions are not numbered one by one"
        yield from (f"{memory.scope}: version {each.version} is an edit that nobody made" for each in _edits(current))
        cycles = Counter((each.session, each.first) for each in current if each.kind == "flush")
        yield from (
            f"{memory.scope}: {cycle} was flushed {times} times" for cycle, times in cycles.items() if times > 1
        )


def _edits(versions: Sequence[Version]) -> Iterator[Version]:
    return (version for version in versions if version.kind in ("edit", "restore"))


def unfiled(kept: Kept) -> Iterator[str]:
    """Files that do not hold what memory does."""
    for memory in kept.memories.values():
        expected = {"MEMORY.md": memory.text} if memory.version else {}
        if memory.history:
            expected["HISTORY.md"] = _paragraphs([entry.text for entry in memory.history])
        for day in sorted({note.date for note in memory.notes}):
            expected[f"{day}.md"] = _paragraphs([note.text for note in memory.notes if note.date == day])
        for name in sorted(expected.keys() | memory.files.keys()):
            if expected.get(name) != memory.files.get(name):
                yield f"{memory.scope}: {name} is not what is kept"


def _paragraphs(texts: Sequence[str]) -> str:
    return "\n".join(f"{text}\n" for text in texts)


def unarchived(kept: Kept) -> Iterator[str]:
    """Consolidated messages that the archive does not hold, or holds otherwise."""
    for conversation in kept.conversations:
        for at, raw in enumerate(conversation.raws[: conversation.cursor]):
            if conversation.archived.get(at, frozenset()) != {raw}:
                copies = len(conversation.archived.get(at, ()))
                yield f"{conversation.session}: message {at} is archived {copies} times, or not as it was"


def untrimmed(kept: Kept) -> Iterator[str]:
    """Sessions of which Redis still holds what the archive has, or of which messages are nowhere."""
    for conversation in kept.conversations:
        name = conversation.session
        if conversation.base != conversation.cursor:
            yield f"{name}: consolidated up to {conversation.cursor}, and Redis holds it from {conversation.base} on"
        if not len(conversation.entries) == len(conversation.raws) == conversation.head:
            yield f"{name}: of {conversation.head} messages {len(conversation.raws)} can be read"


def unreleased(kept: Kept) -> Iterator[str]:
    """Sessions that somebody still holds, or that should still be consolidated."""
    for conversation in kept.conversations:
        if conversation.is_locked:
            yield f"{conversation.session}: its lock is held"
        if conversation.is_unsettled:
            yield f"{conversation.session}: nobody came to consolidate it"


def unraw(kept: Kept) -> Iterator[str]:
    """Doomed chats whose first messages did not go in as they were."""
    for conversation, _, entries in kept.each():
        if conversation.chat in kept.doomed and not (entries and entries[0].kind == "raw"):
            yield f"{conversation.session}: its workers were killed over and over, and there is no raw entry"


class Accounts:
    def __init__(self, conversation: Conversation, memory: Memory) -> None:
        self._places = conversation.places()
        self._entries = conversation.entries
        self._by_place = {at: each for each in memory.of(conversation.session) for at in range(each.first, each.upto)}
        self._told = {
            (version.first, version.upto): heard(version.text).get(conversation.chat, NONE)
            for version in memory.versions
            if version.session == conversation.session and version.kind == "consolidation"
        }
        """Ranges → the messages that MEMORY.md told of once they were taken in."""

    def missing(self, call: Shown, budget_tokens: int) -> list[int]:
        """The numbers of the messages that a call should have shown in one way or another, and did not."""
        first, last = min(call.messages), max(call.messages)
        between = () if call.is_shortened else range(first, last)
        gaps = [number for number in between if number not in call.messages]
        before = [number for number in range(first) if number not in call.memory]
        # What has no room is left out turn by turn, the newest first and with it all before it.
        if before and self._turn_tokens(first - 1) + call.tokens + SLACK_TOKENS > budget_tokens:
            before = []
        return gaps + [number for number in before if not self._is_settled(number, call)]

    def _turn_tokens(self, number: int) -> int:
        turn = self._entries[self._places[number]].turn
        return sum(entry.tokens for entry in self._entries if entry.turn == turn)

    def _is_settled(self, number: int, call: Shown) -> bool:
        """Whether a message was consolidated then, and need not stand in the memory that the call showed."""
        entry = self._by_place.get(self._places[number])
        if entry is None or _seconds(entry.time) > call.time:
            return False
        if number in self._told.get((entry.first, entry.upto), NONE):
            return False
        return entry.kind == "raw" or number in call.continuity


def missing(kept: Kept, calls: Sequence[Shown], *, budget_tokens: int) -> Iterator[str]:
    """Calls that showed a message neither as it was, nor what became of it."""
    accounts = {each.chat: Accounts(each, memory) for each, memory, _ in kept.each()}
    for call in calls:
        if numbers := accounts[call.chat].missing(call, budget_tokens):
            at = time.strftime("%H:%M:%S", time.gmtime(call.time))
            shown = f"{min(call.messages)} to {max(call.messages)}, {call.tokens} tokens"
            yield f"{call.chat} at {at}, shown {shown}: without {numbers}"


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()
