"""``valkey/valkey.conf`` with the users that ``secrets.sh`` makes: it can be started, loses nothing, obeys few."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from daemon.server.engine import find_program
from daemon.server.link import Link, Refusal
from tests.ports import free_port
from tests.servers import old_redis, wait_until

pytestmark = pytest.mark.deploy

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
OF_OTHER_SERVERS = frozenset({"SHUTDOWN", "CLUSTER", "CLIENT", "BGSAVE", "CONFIG", "KEYS"})
"""Said to the embedded server, to a cluster, or to one without an append-only file, or no more than named in a list; of
CLIENT two that are allowed by themselves."""


@dataclass
class Server:
    program: Path
    folder: Path
    port: int
    secrets: Path
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
        with suppress(OSError), Link.tcp("127.0.0.1", self.port, timeout_s=2.0) as link:
            return isinstance(link.call("PING"), Refusal)
        return False

    def link(self) -> Link:
        link = Link.tcp("127.0.0.1", self.port, timeout_s=5.0)
        password = self.url.rpartition("@")[0].rpartition(":")[2]
        assert link.call("AUTH", "millpond", password) == b"OK"
        return link

    @property
    def url(self) -> str:
        """As ``secrets.sh`` wrote it down."""
        return (self.secrets / "redis.url").read_text().strip()


def programs() -> dict[str, Path | None]:
    return {"valkey": find_program("").path, "redis62": old_redis()}


@pytest.fixture(params=["valkey", "redis62"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    program = programs()[request.param]
    assert program is not None, "these tests need the extra servers"
    port = free_port()
    secrets, folder = tmp_path / "secrets", tmp_path / "data"
    folder.mkdir()
    subprocess.run(["sh", DEPLOY / "secrets.sh", secrets, f"127.0.0.1:{port}"], check=True, capture_output=True)
    server = Server(program, folder, port, secrets)
    server.start()
    yield server
    server.kill()


def millpond(server: Server, tmp_path: Path, *args: str, text: str = "") -> str:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("MILLPOND_", "OPENAI_"))},
        "MILLPOND_REDIS__URL_FILE": str(server.secrets / "redis.url"),
        "MILLPOND_DATA_DIR": str(tmp_path / "millpond"),
        "MILLPOND_CHANNELS__WEB__PORT": "0",
    }
    command = [sys.executable, "-c", "from millpond import main; main()", *args]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, input=text, capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_bot_answers_on_it_and_the_doctor_finds_nothing_amiss(server: Server, tmp_path: Path) -> None:
    said = millpond(server, tmp_path, "chat", text="hello out there\n/compact\n/status\n")
    found = millpond(server, tmp_path, "doctor")

    assert "hello out there" in said
    for line in ("persistence: the append-only file is on", "eviction: the server evicts no keys", "errors: 0"):
        assert line in found


def test_all_that_is_kept_there_can_be_backed_up_and_is_as_it_should_be(server: Server, tmp_path: Path) -> None:
    millpond(server, tmp_path, "chat", text="hello out there\n")

    millpond(server, tmp_path, "data", "backup", str(tmp_path / "backup"))
    millpond(server, tmp_path, "data", "check")

    assert any((tmp_path / "backup").iterdir())


def test_what_it_answered_is_there_after_a_power_cut(server: Server) -> None:
    with server.link() as link:
        for number in range(200):
            link.call("RPUSH", "mp:{0}:log:web:kept", str(number))
    server.kill()

    server.start()

    with server.link() as link:
        assert link.call("LLEN", "mp:{0}:log:web:kept") == 200


def test_full_is_full(server: Server) -> None:
    with server.link() as link:
        info = link.call("INFO", "memory").decode()

    assert "maxmemory_policy:noeviction" in info


@pytest.mark.parametrize("words", [("GET", "other:key"), ("SET", "other", "x"), ("CONFIG", "SET", "dir", "/")])
def test_who_has_millponds_password_has_its_keys_and_nothing_else(server: Server, words: tuple[str, ...]) -> None:
    with server.link() as link:
        refused = link.call(*words)

    assert isinstance(refused, Refusal)
    assert "NOPERM" in str(refused)


def test_no_command_that_the_code_calls_is_forbidden_to_millponds_user(server: Server) -> None:
    rooms = ("daemon", "channels", "workers")
    scripts = "".join(path.read_text() for room in rooms for path in (ROOT / room).rglob("*.lua"))
    modules = [path for room in rooms for path in (ROOT / room).rglob("*.py") if path.parent.name != "cli"]
    named = set(re.findall(r"redis\.call\(\s*'([A-Z]+)'", scripts))
    named |= {word for path in modules for word in re.findall(r'"([A-Z]{3,})"', path.read_text())}
    assert named >= {"HSET", "XADD", "RENAME", "HGETALL", "PING", "INFO", "BGREWRITEAOF"}

    with server.link() as link:
        found = {name: link.call("COMMAND", "INFO", name)[0] for name in sorted(named)}
        rewritten = link.call("BGREWRITEAOF")
        of_client = [link.call("CLIENT", "ID"), link.call("CLIENT", "TRACKING", "OFF")]

    commands = {name: str(info[6]) for name, info in found.items() if info}
    forbidden = {name for name, of in commands.items() if "@admin" in of or "@dangerous" in of}
    assert forbidden - OF_OTHER_SERVERS == {"INFO", "BGREWRITEAOF"}
    assert b"rewriting started" in rewritten
    assert not [reply for reply in of_client if isinstance(reply, Refusal)]


@pytest.mark.parametrize("words", [("GET", "mp:meta"), ("INFO",), ("ACL", "LIST"), ("SHUTDOWN",)])
def test_who_has_no_password_has_nothing(server: Server, words: tuple[str, ...]) -> None:
    with Link.tcp("127.0.0.1", server.port, timeout_s=5.0) as link:
        refused = link.call(*words)

    assert isinstance(refused, Refusal)
    assert "NOAUTH" in str(refused)
    assert server.answers()
