"""``valkey/valkey.conf`` with the users that ``secrets.sh`` makes: it can be started, loses nothing, obeys few."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.server.blocking_client import BlockingClient, Refusal
from tests.deploy.served import ROOT, Server, server
from tests.limits import HANG_S

__all__ = ["server"]

pytestmark = pytest.mark.deploy

OF_OTHER_SERVERS = frozenset({"SHUTDOWN", "CLUSTER", "CLIENT", "BGSAVE", "CONFIG", "KEYS"})
"""Said to the embedded server, to a cluster, or to one without an append-only file, or no more than named in a list; of
CLIENT two that are allowed by themselves."""


def millpond(server: Server, tmp_path: Path, *args: str, text: str = "") -> str:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("MILLPOND_", "OPENAI_"))},
        "MILLPOND_REDIS__URL_FILE": str(server.url_file()),
        "MILLPOND_DATA_DIR": str(tmp_path / "millpond"),
        "MILLPOND_CHANNELS__WEB__PORT": "0",
    }
    command = [sys.executable, "-c", "from millpond import main; main()", *args]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, input=text, capture_output=True, text=True, timeout=HANG_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_bot_answers_on_it_and_the_doctor_finds_nothing_amiss(server: Server, tmp_path: Path) -> None:
    said = millpond(server, tmp_path, "chat", text="hello out there\n/compact\n/status\n")
    found = millpond(server, tmp_path, "doctor")

    assert "hello out there" in said
    for line in ("persistence: the append-only file is on", "eviction: the server does not evict keys", "errors: 0"):
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
    with BlockingClient.tcp("127.0.0.1", server.port, timeout_s=5.0) as link:
        refused = link.call(*words)

    assert isinstance(refused, Refusal)
    assert "NOAUTH" in str(refused)
    assert server.answers()
