"""The doctor's check of the search engine for memories."""

import shutil
import subprocess

from anyio import to_thread

from daemon.cli.doctor_finding import Finding, ok, warning
from daemon.config import MemorySearchConfig
from daemon.recall.qmd import INSTALL, PROGRAM, Probed, probed

CHECK = "memory search"
NODE_OLDEST = 22
"""Of QMD 2.8."""

NODE_S = 10.0
SAID_MAX_CHARS = 200


async def examine_search(config: MemorySearchConfig) -> list[Finding]:
    """Whether the engine can do what the configuration requires; QMD is tested with a real search."""
    if config.backend == "builtin":
        return [ok(CHECK, f"the builtin engine, {config.mode_used}")]
    found = await probed(config.qmd or PROGRAM)
    if not found.why:
        return [
            ok(CHECK, f"QMD {found.version} ({found.path}) works; a test search took {found.took_s:.2f} s"),
            *_meaning(config),
        ]
    return [warning(CHECK, await to_thread.run_sync(_wrong, config, found))]


def _meaning(config: MemorySearchConfig) -> list[Finding]:
    if config.mode_used == "search":
        return []
    text = (
        f"mode {config.mode_used} makes QMD download 2 GB of models when it first creates "
        "vectors. The builtin engine answers searches until all vectors exist, and whenever QMD is too slow"
    )
    return [warning(CHECK, text)]


def _wrong(config: MemorySearchConfig, found: Probed) -> str:
    """The problem and the remedy. Blocks."""
    builtin = "Until QMD works, the builtin engine answers searches."
    if not found.path:
        where = (
            f"memory_search.qmd names {config.qmd}, which cannot be started"
            if config.qmd
            else "the program qmd was not found on the PATH"
        )
        return f"{where}. {INSTALL}. {builtin}"
    said = " ".join(found.said.split())[-SAID_MAX_CHARS:]
    why = f"{found.path}: {found.why}{f' ({said})' if said else ''}"
    return f"{why}. {_node()}. {INSTALL}, or set memory_search.backend to builtin. {builtin}"


def _node() -> str:
    """The version of Node.js: under an older one QMD prints its version, but crashes at every search."""
    program = shutil.which("node")
    if program is None:
        return "Node.js was not found on the PATH"
    try:
        asked = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=NODE_S, check=False)  # noqa: S603 - as found
        version = asked.stdout.strip()
        major = int(version.removeprefix("v").partition(".")[0])
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return f"{program} did not report its version"
    if major < NODE_OLDEST:
        return f"Node.js is version {version} ({program}), but QMD needs {NODE_OLDEST} or newer"
    return f"Node.js is {version}"
