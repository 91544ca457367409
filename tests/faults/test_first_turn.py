"""A worker has loaded everything when it says that it has started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from anyio import to_thread

from daemon.bus import open_bus
from daemon.config import RedisConfig
from tests.conftest import QUEUE, Lab
from tests.fakes.openai_server import fake_openai
from tests.limits import HANG_S, until
from tests.processes import environment_of, shut_down

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

WATCHED = """
import re
import sys

import daemon.run
from daemon.cli import main

is_started, info = False, daemon.run._log.info

def note(event, **fields):
    global is_started
    if event == "process.started":
        is_started = True
        print("ready", flush=True)
    info(event, **fields)

def look(event, args):
    # Of a file: a vocabulary, a list of words, a template.
    if is_started and (event == "import" or (event == "open" and "/site-packages/" in str(args[0]))):
        print("late:", event, args[0], flush=True)

def compile_expression(pattern, flags):
    if is_started:
        print("late: compile", pattern, flush=True)
    return compiled(pattern, flags)

compiled, re._compiler.compile = re._compiler.compile, compile_expression
daemon.run._log = daemon.run._log.bind()
daemon.run._log.info = note
sys.addaudithook(look)
sys.argv[1:] = ["run", "--role", "agent"]
main()
"""


async def test_a_first_turn_imports_nothing_compiles_nothing_and_reads_no_file_of_a_package(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with fake_openai() as server, open_bus(RedisConfig(), folder) as bus:
        there = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-1234567890", "OPENAI_MODEL": "m"}
        worker = await to_thread.run_sync(_start, folder, there)
        try:
            assert worker.stdout is not None
            while await to_thread.run_sync(worker.stdout.readline) != "ready\n":
                assert worker.poll() is None
            lab = Lab(bus, QUEUE)
            await lab.publish("a")
            await until(lab.is_idle)
        finally:
            os.kill(worker.pid, signal.SIGTERM)
            rest, _ = await to_thread.run_sync(worker.communicate, None, HANG_S)
        assert [entry.answers for entry in await lab.log()][-1] == ("a",)
    shut_down(folder)

    assert "\n".join(line for line in rest.splitlines() if line.startswith("late:")) == ""


def _start(folder: Path, environment: dict[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WATCHED],
        env=environment_of(folder, environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
