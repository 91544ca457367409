"""Real Millpond processes with a data directory of their own, to be talked to, killed and started again."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from daemon.server.server_files import ServerFiles, try_lock
from tests import forked
from tests.api_token import header_of
from tests.limits import HANG_S

START_LIMIT_S = STOP_LIMIT_S = HANG_S

NO_HEADERS: Mapping[str, str] = {}

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


class Daemon:
    def __init__(self, process: "subprocess.Popen[str] | forked.Process", started: float, folder: Path) -> None:
        self.process = process
        self.folder = folder
        """Its data directory."""
        self.started = started
        """``time.perf_counter()`` just before it was started."""
        self.url = ""
        """Address of its API; empty without the role ``web``."""

    def wait_for_address(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found = ADDRESS.search(line)
            if found:
                self.url = found.group()
                return
        raise RuntimeError(f"millpond run ended with {self.process.wait()} without printing an address")

    def post(self, session: str, text: str, **more: str) -> dict[str, Any]:
        body = json.dumps({"session": session, "text": text, **more}).encode()
        with self.opened("/api/messages", body, {"Content-Type": "application/json"}) as response:
            answer: dict[str, Any] = json.load(response)
            return answer

    def opened(self, path: str, body: bytes | None = None, headers: Mapping[str, str] = NO_HEADERS) -> Any:
        """The response to a request with the token; raises ``HTTPError`` if it is a refusal."""
        sent = {**header_of(self.folder), **headers}
        return urllib.request.urlopen(urllib.request.Request(f"{self.url}{path}", body, sent), timeout=START_LIMIT_S)

    def status_of(self, path: str) -> int:
        try:
            with self.opened(path) as response:
                status: int = response.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        return status

    def get(self, path: str) -> dict[str, Any]:
        with self.opened(path) as response:
            found: dict[str, Any] = json.load(response)
            return found

    def messages(self, session: str, *, limit: int = 1_000) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(f"/api/sessions/{session}/messages?limit={limit}")["messages"]
        return found

    def cpu_s(self) -> float:
        """CPU time it has used so far, user and system (proc(5), fields 14 and 15 of stat)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(STOP_LIMIT_S)
        self._close()

    def stop(self) -> int:
        """SIGTERM, and the exit code of an orderly end."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(STOP_LIMIT_S)
        self._close()
        return code

    def _close(self) -> None:
        if self.process.stdout is not None:
            self.process.stdout.close()


def start(folder: Path, *arguments: str, web: bool = True, **environment: str) -> Daemon:
    """``millpond run`` on the data directory ``folder``; with ``web``, once it prints its address."""
    started = time.perf_counter()
    daemon = Daemon(_begun(("run", *arguments), environment_of(folder, environment)), started, folder)
    if web:
        daemon.wait_for_address()
    return daemon


def _begun(command: Sequence[str], environ: Mapping[str, str]) -> "subprocess.Popen[str] | forked.Process":
    """A process that has imported everything; a fresh one where that is measured."""
    if "pytest" in sys.modules:
        return forked.begin(command, environ)
    return subprocess.Popen(
        [sys.executable, "-m", "millpond", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, env=environ,
    )  # fmt: skip


@contextmanager
def running(folder: Path, *arguments: str, **environment: str) -> Iterator[Daemon]:
    """``millpond run`` for the length of the block, ended in order."""
    daemon = start(folder, *arguments, **environment)
    try:
        yield daemon
    finally:
        daemon.stop()


def environment_of(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without any setting of Millpond's but those given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MILLPOND_", "OPENAI_"))}
    return {**kept, "MILLPOND_DATA_DIR": str(folder), "MILLPOND_CHANNELS__WEB__PORT": "0", **more}


def server_pid(folder: Path) -> int:
    return int((folder / "redis" / "server.pid").read_text())


def shut_down(folder: Path) -> None:
    """End the embedded server of a data directory, if there is one; what is kept stays."""
    layout = ServerFiles(folder.resolve())
    if not layout.folder.is_dir():
        return
    until = time.monotonic() + HANG_S
    while (descriptor := try_lock(layout.alive_lock)) is None:
        with suppress(OSError, ValueError):
            os.kill(server_pid(folder), signal.SIGTERM)
        assert time.monotonic() < until, "the embedded server did not stop"
        time.sleep(0.02)
    os.close(descriptor)


def answered(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """The ids that a log's turns answer, in order."""
    return [message_id for message in messages for message_id in message.get("answers", ())]
