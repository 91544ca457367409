"""What an administrator sees of a scope from the command line."""

import subprocess
import sys
from pathlib import Path

import anyio

from tests.canary.canaries import words_in_bytes
from tests.canary.findings import Findings
from tests.canary.knowledge import Knowledge
from tests.canary.plan import Counts
from tests.canary.scan import contents
from tests.processes import environment_of

LIMIT_S = 60.0
NOTHING, INCOMPLETE = 65, 74
"""Exit codes of a command about a scope that nobody has used yet, and of an export that left out a planted file."""


class Terminal:
    def __init__(self, config: Path, data: Path, knowledge: Knowledge, findings: Findings, counts: Counts) -> None:
        self._config = config
        self._data = data
        self._knowledge = knowledge
        self._findings = findings
        self._counts = counts

    async def look(self, scope: str) -> None:
        """One of the commands that show what a scope holds, the next one every time."""
        self._counts.commands += 1
        export = self._config.with_name(f"export-{self._counts.commands}.zip")
        commands = (
            ("transcript", "search", "cn", "--scope", scope, "--limit", "1000"),
            ("memory", "show", scope),
            ("session", "export", "--scope", scope, "--output", str(export)),
            ("memory", "log", scope),
        )
        before = self._knowledge.may(scope)
        words = commands[self._counts.commands % len(commands)]
        with anyio.move_on_after(LIMIT_S):
            done = await anyio.run_process(
                [sys.executable, "-m", "millpond", "--config", str(self._config), *words],
                env=environment_of(self._data, {}),
                stderr=subprocess.STDOUT,
                check=False,
            )
            found = words_in_bytes(done.stdout) | words_in_bytes(contents(export))
            if done.returncode not in (0, NOTHING, INCOMPLETE):
                self._findings.add("commands", f"{' '.join(words)}: {done.returncode} {done.stdout[-300:]!r}")
            for word in sorted(self._knowledge.foreign(scope, found) - before):
                self._findings.add("commands", f"{' '.join(words)}: {word}")
        export.unlink(missing_ok=True)
