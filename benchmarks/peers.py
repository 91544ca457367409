"""Other bots and engines beside Millpond, with the same model, the same server and the same messages, in one run.

They come from the package registry, each into an environment of its own in ``.peers``, with the
versions below: ``make bench PEERS=1``.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from benchmarks import engine, turn
from benchmarks.folder import data_dir
from benchmarks.model_server import model_server
from benchmarks.result import Result
from daemon.server import EmbeddedServer

NANOBOT = "nanobot-ai==0.3.5"
ENGINES = {
    "arq": ("arq==0.28.0", "redis==5.3.1"),
    "dramatiq": ("dramatiq==2.2.1", "redis==8.1.0"),
    "faststream": ("faststream==0.7.8", "redis==8.1.0"),
    "taskiq": ("taskiq==0.13.0", "taskiq-redis==1.2.4", "redis==8.1.0"),
}
"""What is installed for each: the engine, and the client of Redis that it was measured with."""

HERE = Path(__file__).parent
FOLDER = HERE.parent / ".peers"

TURN_GOALS = {turn.SHORT: 20.0, turn.LONG: 90.0}
"""Times the CPU time of Millpond's turn, by older messages."""
TURNS = 20
ROUNDS = 3
MESSAGES = 1_000
"""Of one round of an engine; some of them handle fewer than a hundred a second."""
INSTALL_S, RUN_S = 600.0, 300.0
"""Longest installation, and longest run of a script."""


def measure() -> list[Result]:
    """CPU of a turn against nanobot's; messages a second of the engine against other engines."""
    return [*_turns(), *_engines()]


def _turns() -> list[Result]:
    python = _environment("nanobot", [NANOBOT])
    ours = turn.whole_turns()
    results: list[Result] = []
    with model_server(words=turn.CHUNKS) as model:
        for messages, goal in TURN_GOALS.items():
            with tempfile.TemporaryDirectory() as home:
                arguments = [home, model["OPENAI_BASE_URL"], str(messages), str(TURNS)]
                took = [1_000 * _run(python, "peer_nanobot.py", arguments, {"HOME": home}) for _ in range(ROUNDS)]
            results.append(
                Result(
                    name=f"CPU of a turn of nanobot at {messages:,} messages",
                    unit="ms",
                    values=tuple(took),
                    floor=statistics.median(ours[messages]),
                    floor_is="the same turn of Millpond",
                    limit=goal,
                    limit_is="ratio, at least",
                )
            )
    return results


def _engines() -> list[Result]:
    [millpond] = engine.measure()
    with data_dir() as folder:
        return anyio.run(_each_engine, folder, millpond.values)


async def _each_engine(folder: Path, millpond: Sequence[float]) -> list[Result]:
    # Before the server starts, which stops when nobody uses it for a while.
    pythons = {name: _environment(name, packages) for name, packages in ENGINES.items()}
    server = await EmbeddedServer(folder).ensure()
    url = f"redis://:{server.password.reveal()}@127.0.0.1:{server.port}/0"
    results: list[Result] = []
    for name, packages in ENGINES.items():
        rates = [_run(pythons[name], "peer_engines.py", [name, url, str(MESSAGES)], {}) for _ in range(ROUNDS)]
        results.append(
            Result(
                name=f"engine beside {name}",
                unit="messages/s",
                values=tuple(millpond),
                floor=statistics.median(rates),
                floor_is=f"{packages[0]}, a handler that does nothing, no order, log or reply",
                limit=0.0,
                limit_is="ratio, at least",
            )
        )
    return results


def _environment(name: str, packages: Sequence[str]) -> Path:
    """The interpreter of an environment that has ``packages``, made on first use."""
    folder = FOLDER / name
    python = folder / "bin" / "python"
    made = folder / "made.txt"
    if not made.is_file() or made.read_text() != "\n".join(packages):
        print(f"installing {', '.join(packages)} into {folder}", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", *packages]
        subprocess.run(command, check=True, timeout=INSTALL_S, stdout=sys.stderr)
        made.write_text("\n".join(packages))
    return python


def _run(python: Path, script: str, arguments: Sequence[str], more: Mapping[str, str]) -> float:
    """The figure that a script prints last."""
    done = subprocess.run(
        [str(python), str(HERE / script), *arguments],
        check=False,
        timeout=RUN_S,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{script} failed:\n{done.stderr[-2_000:]}")
    return float(done.stdout.split()[-1])
