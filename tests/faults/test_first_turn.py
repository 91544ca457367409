"""A worker loads what turns need before it says that it has started, and the rest in a thread at once afterwards."""

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
import gc
import sys
import threading
from types import SimpleNamespace

import daemon.run
import workers.agent.service
from daemon.cli import main

is_started, is_loaded, info = False, False, daemon.run._log.info

def tell():
    if is_started and is_loaded:
        print("ready", flush=True)

def note(event, **fields):
    global is_started
    if event == "process.started":
        is_started = True
        tell()
    info(event, **fields)

def freeze():
    global is_loaded
    gc.freeze()
    is_loaded = True
    tell()

def look(event, args):
    # Of a file: a vocabulary, a list of words, a template.
    loads = event == "import" or (event == "open" and "/site-packages/" in str(args[0]))
    if loads and is_started and (is_loaded or threading.current_thread() is threading.main_thread()):
        print("late:", event, args[0], flush=True)

daemon.run._log = daemon.run._log.bind()
daemon.run._log.info = note
workers.agent.service.gc = SimpleNamespace(freeze=freeze)
sys.addaudithook(look)
sys.argv[1:] = ["run", "--role", "agent"]
main()
"""


async def test_a_first_turn_imports_no_module_and_reads_no_file_of_a_package(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with fake_openai() as server, open_bus(RedisConfig(), folder) as bus:
        there = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-1234567890", "OPENAI_MODEL": "m"}
        worker = await to_thread.run_sync(_start, folder, there)
        try:
            assert worker.stdout is not None
            late = ""
            while (line := await to_thread.run_sync(worker.stdout.readline)) != "ready\n":
                assert worker.poll() is None
                late += line
            lab = Lab(bus, QUEUE)
            await lab.publish("a")
            await until(lab.is_idle)
        finally:
            os.kill(worker.pid, signal.SIGTERM)
            rest, _ = await to_thread.run_sync(worker.communicate, None, HANG_S)
        assert [entry.answers for entry in await lab.log()][-1] == ("a",)
    shut_down(folder)

    assert "\n".join(line for line in (late + rest).splitlines() if line.startswith("late:")) == ""


def _start(folder: Path, environment: dict[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WATCHED],
        env=environment_of(folder, environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
