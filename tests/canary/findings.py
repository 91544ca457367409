"""What is wrong with a run."""

import datetime as dt
import sys
from collections.abc import Mapping

from tests.chaos.ends import End, end_of

SHOWN = 8  # findings of each kind that a report names
KEPT = 1_000

KINDS: Mapping[str, str] = {
    "prompts": "canaries of others in prompts",
    "files": "canaries of others in files",
    "answers": "canaries of others in answers of the API",
    "strangers": "answers of the API to clients without its token",
    "deliveries": "canaries of others in what was sent to a platform",
    "commands": "canaries of others in what commands print",
    "unattributed": "prompts of nobody, or of several",
    "on_disk": "forgotten canaries on the disk",
    "in_keys": "forgotten canaries in keys of the server",
    "logged": "canaries in logs of processes",
    "linked": "links that not both have confirmed",
    "unanswered": "messages and commands without an answer",
    "stopped": "work that has stopped before its end",
    "lost": "canaries that their own chat does not show",
}
"""What each kind is for people. A forgotten canary is nobody's, and everybody's foreign."""


class Findings:
    """Some of each kind; none at all when nothing is wrong. Each is told on stderr at once: a run may take an hour."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}

    def end(self, undecided: str) -> End:
        """How the run ended; ``undecided`` as for ``end_of``."""
        return end_of({kind: list(found) for kind, found in self._found.items()}, undecided)

    def add(self, kind: str, finding: str) -> None:
        found = self._found[kind]
        if finding in found or len(found) == KEPT:
            return
        found[finding] = time = f"{dt.datetime.now(dt.UTC):%H:%M:%S.%f}"[:-3]
        print(f"{time} {kind}: {finding}", file=sys.stderr)

    def report(self) -> str:
        lines: list[str] = []
        for kind, text in KINDS.items():
            found = self._found[kind]
            lines.append(f"{len(found):6}  {text}")
            lines += [f"          {time} {finding}" for finding, time in list(found.items())[:SHOWN]]
        return "\n".join(lines)
