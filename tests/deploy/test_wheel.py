"""The built wheel, installed as users install it: in a virtual environment of its own, out of reach of the sources."""

import os
import re
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
PIPX = (sys.executable, "-m", "pipx")
PINS = f"--pip-args=--constraint {ROOT / 'constraints.txt'}"
INSTALL_S = 600.0  # the longest time that a build or an installation may take; only a hang reaches it


def run(*command: str | Path, environment: dict[str, str], said: str = "", limit_s: float = INSTALL_S) -> str:
    options = {"env": environment, "cwd": environment["HOME"], "capture_output": True, "text": True}
    done = subprocess.run(command, input=said, timeout=limit_s, check=False, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """Where pipx has installed the wheel."""
    ours = ("MILLPOND_", "OPENAI_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as home:
        folders = {"PIPX_HOME": "pipx", "PIPX_BIN_DIR": "bin", "PIPX_MAN_DIR": "man", "MILLPOND_DATA_DIR": "data"}
        made = kept | {"HOME": home} | {name: f"{home}/{folder}" for name, folder in folders.items()}
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", home, ROOT, environment=made)
        [wheel] = Path(home).glob("millpond-*.whl")
        run(*PIPX, "install", "--python", sys.executable, PINS, wheel, environment=made)
        yield made


def test_the_wheel_that_pipx_installs_answers_in_a_chat(environment: dict[str, str]) -> None:
    home = Path(environment["HOME"])
    millpond = home / "bin" / "millpond"

    try:
        answered = run(millpond, "chat", said="hello\n", environment=environment, limit_s=HANG_S)
    finally:
        stopping = [millpond, "redis-cli", "shutdown"]
        subprocess.run(stopping, env=environment, capture_output=True, timeout=HANG_S, check=False)

    assert "hello" in answered.lower()
    python = home / "pipx" / "venvs" / "millpond" / "bin" / "python"
    assert run(python, "-c", "import daemon; print(daemon.__file__)", environment=environment).startswith(str(home))


def test_an_adapter_outside_of_this_repository_runs_the_contract_tests_of_the_wheel(
    environment: dict[str, str],
) -> None:
    """With the files of docs/channels-example.md and docs/channels.md, the fake platform, and nothing else of ours."""
    home = Path(environment["HOME"])
    pages = [(ROOT / "docs" / page).read_text() for page in ("channels-example.md", "channels.md")]
    author = home / "author"
    files = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", "\n".join(pages), re.MULTILINE | re.DOTALL))
    files |= {
        f"tests/{each}": (ROOT / "tests" / each).read_text() for each in ("contract/lines_lab.py", "fakes/lines.py")
    }
    files |= dict.fromkeys(("tests/__init__.py", "tests/contract/__init__.py", "tests/fakes/__init__.py"), "")
    for name, content in files.items():
        (author / name).parent.mkdir(parents=True, exist_ok=True)
        (author / name).write_text(content)
    run(
        *PIPX,
        "runpip",
        "millpond",
        "install",
        "--constraint",
        ROOT / "constraints.txt",
        "pytest",
        author,
        environment=environment,
    )
    python = home / "pipx" / "venvs" / "millpond" / "bin" / "python"

    said = run(python, "-m", "pytest", "-q", "-o", "anyio_mode=auto", author / "tests", environment=environment)

    assert re.search(r"^\d{2,} passed in ", said, re.MULTILINE), said
