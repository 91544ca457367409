"""Millpond with one of its checks switched off: a chaos run that does not notice proves nothing.

``python -m tests.chaos.sabotage position run --role agent`` is ``millpond run --role agent`` without that check.
"""

import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import millpond
from daemon.bus import Script
from daemon.bus.publish import PUBLISH
from daemon.bus.wakeups import REAP
from daemon.session.sessions import COMMIT, JOURNAL, RELEASE, RENEW


@dataclass(frozen=True)
class Cut:
    """One change to a script."""

    script: Script
    pattern: str
    """Regular expression that matches once."""
    instead: str

    def make(self) -> None:
        """Change the script, and the hash it is called by, wherever it was imported."""
        text, found = re.subn(self.pattern, self.instead, self.script.text.decode(), flags=re.DOTALL)
        if found != 1:
            raise LookupError(f"{self.script.name}: {self.pattern!r} was found {found} times, not once")
        object.__setattr__(self.script, "text", text.encode())
        object.__setattr__(self.script, "sha", hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest().encode())


_NOT_OURS = r"if redis\.call\('HGET', KEYS\[1\], 'nonce'\) ~= ARGV\[\d\] then return"
_CLAIM_NUMBER = r" or fields\.claims ~= tonumber\(ARGV\[13\]\)"

CHECKS: Mapping[str, Sequence[Cut]] = {
    # Whoever calls counts as the holder. A claim number names a holder as well as a place, so it goes in both.
    "nonce": (
        Cut(COMMIT, r"local held = fields\.nonce == nonce", "local held = true"),
        Cut(COMMIT, _CLAIM_NUMBER, ""),
        Cut(JOURNAL, _NOT_OURS, "if false then return"),
        Cut(RENEW, _NOT_OURS, "if false then return"),
        Cut(RELEASE, _NOT_OURS, "if false then return"),
    ),
    "position": (
        Cut(COMMIT, _CLAIM_NUMBER, ""),
        Cut(COMMIT, r"if fields.head ~= turn or [^\n]* then return \{'stale'\} end", ""),
        Cut(JOURNAL, r"if head ~= tonumber\(ARGV\[2\]\) then return 'stale' end", ""),
        Cut(JOURNAL, r"if step == first \+ count and [^\n]* then return 'done' end", ""),
        Cut(JOURNAL, r"if step ~= first then return 'stale' end", ""),
    ),
    "dedupe": (Cut(PUBLISH, r"if seen then", "if false then"),),
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
