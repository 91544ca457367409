"""Tests with a real search whether QMD works.

Asking for its version says nothing: under an older Node.js that is answered, and every search crashes.
"""

import re
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread

from daemon.recall.qmd import qmd_commands
from daemon.recall.qmd.qmd_program import PROGRAM, Failed, Qmd

PROBE_S = 20.0
"""How long the search may take; it takes 0.2 s, and much longer on a machine that has just started."""

INDEX, NAME, TEXT = "probe", "zqprobe", "Millpond checks whether a search finds this sentence.\n"

_VERSION = re.compile(rb"\d+(?:\.\d+)+[\w.-]*")


@dataclass(frozen=True, kw_only=True)
class Probed:
    """The result of the test."""

    path: str = ""
    """Of the program; empty: it is not installed."""
    version: str = ""
    """Empty: it does not say."""
    took_s: float = 0.0
    """Of the search alone."""
    why: str = ""
    """Why it does not work; empty: it does."""
    said: str = ""
    """The end of what it complained of, about nothing but the probe."""


async def probed(program: str = PROGRAM) -> Probed:
    """Search a temporary folder with QMD."""
    folder = Path(await to_thread.run_sync(tempfile.mkdtemp, None, "millpond-qmd-"))
    try:
        return await _probed(Qmd(folder, program))
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


async def _probed(qmd: Qmd) -> Probed:
    path, version = await to_thread.run_sync(qmd.found), ""
    try:
        said = _VERSION.search(await qmd.run(INDEX, "--version", within_s=PROBE_S))
        version = said[0].decode() if said else ""
        await to_thread.run_sync(_write, qmd.root / "documents")
        await qmd_commands.begin(qmd, INDEX, qmd.root / "documents")
        began = time.monotonic()
        found = await qmd_commands.search(qmd, INDEX, "lex: millpond", mode="search", limit=1, within_s=PROBE_S)
        took_s = time.monotonic() - began
    except Failed as error:
        return Probed(path=path, version=version, why=str(error), said=error.said)
    except OSError as error:
        return Probed(path=path, version=version, why=f"the test file cannot be written: {error.strerror}")
    if [each.name for each in found] != [NAME]:
        return Probed(path=path, version=version, why="qmd did not find the test file")
    return Probed(path=path, version=version, took_s=took_s)


def _write(folder: Path) -> None:
    folder.mkdir()
    (folder / f"{NAME}.md").write_text(TEXT)
