"""The built wheel, installed as users install it: in a virtual environment of its own, out of reach of the sources."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.limits import HANG_S
from tests.places import TEMPORARY

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(1_200)]

ROOT = Path(__file__).parents[2]
INSTALL_S = 600.0  # the longest time that a build or an installation may take; only a hang reaches it


def run(*command: str | Path, environment: dict[str, str], said: str = "", limit_s: float = INSTALL_S) -> str:
    options = {"env": environment, "cwd": environment["HOME"], "capture_output": True, "text": True}
    done = subprocess.run(command, input=said, timeout=limit_s, check=False, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    ours = ("MILLPOND_", "OPENAI_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as home:
        folders = {"PIPX_HOME": "pipx", "PIPX_BIN_DIR": "bin", "PIPX_MAN_DIR": "man", "MILLPOND_DATA_DIR": "data"}
        yield kept | {"HOME": home} | {name: f"{home}/{folder}" for name, folder in folders.items()}


def test_the_wheel_that_pipx_installs_answers_in_a_chat(environment: dict[str, str]) -> None:
    home = Path(environment["HOME"])
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", home, ROOT, environment=environment)
    [wheel] = home.glob("millpond-*.whl")
    pins = f"--pip-args=--constraint {ROOT / 'constraints.txt'}"
    pipx = (sys.executable, "-m", "pipx", "install", "--python", sys.executable)
    run(*pipx, pins, wheel, environment=environment)
    millpond = home / "bin" / "millpond"

    try:
        answered = run(millpond, "chat", said="hello\n", environment=environment, limit_s=HANG_S)
    finally:
        stopping = [millpond, "redis-cli", "shutdown"]
        subprocess.run(stopping, env=environment, capture_output=True, timeout=HANG_S, check=False)

    assert "hello" in answered.lower()
    python = home / "pipx" / "venvs" / "millpond" / "bin" / "python"
    assert run(python, "-c", "import daemon; print(daemon.__file__)", environment=environment).startswith(str(home))
