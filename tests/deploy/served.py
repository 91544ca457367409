"""A server as ``deploy/`` sets it up: with its configuration, and the users that ``secrets.sh`` makes."""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from daemon.server.blocking_client import BlockingClient, Refusal
from daemon.server.redis_program import find_program
from tests.ports import free_port
from tests.servers import old_redis, wait_until

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
VERSIONS = {"valkey": "7", "redis62": "6.2"}
GREETING = re.compile(r" command client(\|setinfo)?$")
"""By such commands the client library tells its name and asks for extras; Redis 7.0 has no rules about them."""

WATCHER = "user watcher on >watches +@all\n"
"""A user of the tests, who asks the server whom it refused what."""


@dataclass
class Server:
    program: Path
    folder: Path
    port: int
    secrets: Path
    read_only: bool = True
    """Whether it knows rules by which a key may only be read."""
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = [DEPLOY / "valkey/valkey.conf", "--port", self.port, "--aclfile", self.secrets / "server.acl"]
        self.process = subprocess.Popen(
            [str(self.program), *map(str, words)], cwd=self.folder, stdout=subprocess.DEVNULL
        )
        wait_until(self.answers)

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def answers(self) -> bool:
        assert self.process is not None and self.process.poll() is None, "it ended at its start"
        with suppress(OSError), BlockingClient.tcp("127.0.0.1", self.port, timeout_s=2.0) as link:
            return isinstance(link.call("PING"), Refusal)
        return False

    def link(self, role: str = "") -> BlockingClient:
        """A connection as the user of a role; without one as the user of commands."""
        name, _, password = self.url(role).removeprefix("redis://").partition("@")[0].partition(":")
        return self._link(name, password)

    def _link(self, name: str, password: str) -> BlockingClient:
        link = BlockingClient.tcp("127.0.0.1", self.port, timeout_s=5.0)
        assert link.call("AUTH", name, password) == b"OK"
        return link

    def refused(self) -> list[str]:
        """What the server has refused since this was last asked: whom, why, and what."""
        with self._link("watcher", "watches") as link:
            entries: Any = link.call("ACL", "LOG")
            link.call("ACL", "LOG", "RESET")
        found = [dict(zip(each[::2], each[1::2], strict=True)) for each in entries]
        lines = [" ".join(each[key].decode() for key in (b"username", b"reason", b"object")) for each in found]
        return [line for line in lines if not GREETING.search(line)]

    def url_file(self, role: str = "") -> Path:
        return self.secrets / (f"redis.{role}.url" if role else "redis.url")

    def url(self, role: str = "") -> str:
        """As ``secrets.sh`` wrote it down."""
        return self.url_file(role).read_text().strip()


def programs() -> dict[str, Path | None]:
    return {"valkey": find_program("").path, "redis62": old_redis()}


@pytest.fixture(params=["valkey", "redis62"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    program = programs()[request.param]
    assert program is not None, "these tests need the extra servers"
    port = free_port()
    secrets, folder = tmp_path / "secrets", tmp_path / "data"
    folder.mkdir()
    words = ["sh", DEPLOY / "secrets.sh", secrets, f"127.0.0.1:{port}", VERSIONS[request.param]]
    subprocess.run(words, check=True, capture_output=True)
    with (secrets / "server.acl").open("a") as users:
        users.write(WATCHER)
    server = Server(program, folder, port, secrets, read_only=request.param != "redis62")
    server.start()
    yield server
    server.kill()
