"""Millpond with one of its checks switched off: a chaos run that does not notice proves nothing.

``python -m tests.chaos.sabotage position run --role agent`` is ``millpond run --role agent`` without that check.
"""

import hashlib
import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

import millpond
from channels.leader_election import Lease
from channels.outbox.delivery_state import MARKS
from daemon.bus import Script
from daemon.bus.publish import PUBLISH
from daemon.bus.wakeups import REAP
from daemon.events import LogEntry
from daemon.memory import Recall
from daemon.memory.current_memory import CurrentMemory
from daemon.memory.memories import APPEND, APPLY, DIGEST, OPEN, SET_BACK
from daemon.session import ConsolidationLock, ConsolidationLocks
from daemon.session.claim import RELEASE
from daemon.session.consolidation_locks import SETTLE
from daemon.session.sessions import COMMIT, JOURNAL, RENEW
from workers.agent.tool_loop import ToolLoop


@dataclass(frozen=True)
class Cut:
    script: Script
    pattern: str  # regular expression that matches once
    instead: str

    def cut(self) -> str:
        """The script as it is to be. Raises LookupError: what is to be cut is not there, or not only once."""
        text, found = re.subn(self.pattern, self.instead, self.script.text.decode(), flags=re.DOTALL)
        if found != 1:
            raise LookupError(f"{self.script.name}: {self.pattern!r} was found {found} times, not once")
        return text

    def make(self) -> None:
        """Change the script, and the hash it is called by, wherever it was imported."""
        text = self.cut()
        object.__setattr__(self.script, "text", text.encode())
        object.__setattr__(self.script, "sha", hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest().encode())


@dataclass(frozen=True)
class Swap:
    owner: Any
    name: str
    instead: Any

    def make(self) -> None:
        """Put something else into the class's place of that name."""
        if self.name not in vars(self.owner):
            raise LookupError(f"{self.owner.__name__} has no {self.name}")
        setattr(self.owner, self.name, self.instead)


async def _never_end(_lease: Lease) -> None:
    await anyio.sleep_forever()


async def _only_remember(loop: ToolLoop, entry: LogEntry) -> None:
    loop._progress.entries.append(entry)


async def _never_lost(_locks: ConsolidationLocks, _lock: ConsolidationLock) -> None:
    pass


_recall = CurrentMemory.recall


async def _as_once_read(current: CurrentMemory, scope: str) -> Recall:
    known = current._cached.get(scope)
    return known[1] if known else await _recall(current, scope)


_NOT_OURS = r"if redis\.call\('HGET', KEYS\[1\], 'nonce'\) ~= ARGV\[\d\] then return"
_CLAIM_NUMBER = r" or claims ~= claim"

# Who has once been the leader thinks that it is for ever: the lease runs out, and another takes it.
_BLIND = (
    Swap(Lease, "keep", _never_end),
    Swap(Lease, "left_s", property(lambda lease: math.inf if lease._held_until else 0.0)),
)

_MEMORY_SCRIPTS = (OPEN, APPLY, APPEND, DIGEST, SET_BACK)

CHECKS: Mapping[str, Sequence[Cut | Swap]] = {
    # Whoever calls counts as the holder. A claim number names a holder as well as a place, so it goes in both.
    "nonce": (
        Cut(COMMIT, r"local held = holder == nonce", "local held = true"),
        Cut(COMMIT, _CLAIM_NUMBER, ""),
        Cut(JOURNAL, _NOT_OURS, "if false then return"),
        Cut(RENEW, _NOT_OURS, "if false then return"),
        Cut(RELEASE, _NOT_OURS, "if false then return"),
    ),
    "position": (
        Cut(COMMIT, _CLAIM_NUMBER, ""),
        Cut(COMMIT, r"if tonumber\(head or 0\) ~= turn or [^\n]* then return \{'stale'\} end", ""),
        Cut(JOURNAL, r"if head ~= tonumber\(ARGV\[2\]\) then return 'stale' end", ""),
        Cut(JOURNAL, r"if step == first \+ count and [^\n]* then return 'done' end", ""),
        Cut(JOURNAL, r"if step ~= first then return 'stale' end", ""),
    ),
    # Nothing is on record before the commit: neither what was asked of tools nor what they gave.
    "journal": (Swap(ToolLoop, "_record", _only_remember),),
    "dedupe": (Cut(PUBLISH, r"if seen then", "if false then"),),
    # A leader looks at its own clock before each part, the script at the nonce. Without the clock alone no promise is
    # broken; that is a run, too.
    "lead": (
        *_BLIND,
        Cut(MARKS, r"local leads = redis\.call\('HGET', KEYS\[1\], 'nonce'\) == ARGV\[1\]", "local leads = true"),
    ),
    "lead-by-clock": _BLIND,
    # Parts are sent without being marked before; what was sent is noted all the same.
    "mark": (
        Cut(MARKS, r"keep\(sent_key, step\.part, 'sending ' [^\n]*\)", ""),
        Cut(
            MARKS,
            r"if word == 'sending' and tonumber\(attempt\) == step\.attempt and [^\n]* then",
            "if step.what == 'sent' then",
        ),
    ),
    "list": (Cut(MARKS, r"\n    list_unknown\([^\n]*\)", ""),),
    "list-known": (
        Cut(
            MARKS,
            r"(?=\n  if word == 'sending' then)",
            "\n  if word == 'refused' then list_unknown(sent_key, step, last, 'resent') end",
        ),
    ),
    # Who has once held a consolidation lock thinks that it is for ever, and the memory takes what he writes.
    "fence": (
        Swap(ConsolidationLocks, "renew", _never_lost),
        *(Cut(script, r"if highest > fence or [^\n]* then", "if false then") for script in _MEMORY_SCRIPTS),
    ),
    "fence-by-renewal": (Swap(ConsolidationLocks, "renew", _never_lost),),
    # Late copies are kept out by the nonce of a lock, by the place that they name, and by the message before it, which
    # has left Redis by then: so all three go.
    "cursor": (
        Cut(SETTLE, r"if redis\.call\('HGET', KEYS\[2\], 'nonce'\) ~= ARGV\[2\] then", "if false then"),
        Cut(SETTLE, r"tonumber\(fields\[1\] or 0\) ~= from or ", ""),
        Cut(SETTLE, r"if not last or [^\n]*", ""),
    ),
    # So they are by the name of the call, and by the version of MEMORY.md where they write another.
    "entry": (
        Cut(APPLY, r" or fields\.upto ~= tonumber\(ARGV\[5\]\)", ""),
        Cut(APPLY, r"if fields\.applied == name then[^\n]*", ""),
        Cut(APPLY, r"if [^\n]* and \(fields\.version ~= [^\n]* then", "if false then"),
    ),
    "recall": (Swap(CurrentMemory, "recall", _as_once_read),),
    "reaper": (Cut(REAP, r"\A.*\Z", "return {0, -1}"),),
}
"""What can be switched off, and how."""


def switch_off(check: str) -> None:
    """Switch off a check in this process; an empty name switches off nothing."""
    for cut in CHECKS[check] if check else ():
        cut.make()


if __name__ == "__main__":
    switch_off(sys.argv.pop(1))
    millpond.main()
