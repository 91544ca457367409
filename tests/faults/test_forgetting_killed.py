"""Forgetting with real processes: killed again and again, and at the end no byte of it is on the disk."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forgetlab import files_with
from tests.processes import Daemon, answered, environment_of, running, shut_down

CANARY, KEPT = "Kanarienvogel-7f3a", "Rotkehlchen-91bc"
SMALL = {
    "MILLPOND_BOTS__POND__MODEL__CONTEXT_WINDOW_TOKENS": "4096",
    "MILLPOND_QUEUE__LEASE_S": "2",
    "MILLPOND_QUEUE__RENEW_S": "0.5",
    "MILLPOND_QUEUE__WAKEUP_S": "1",
}
CHATTER = "今天池塘的水位比昨天高了一点，北边的水泵晚上又有奇怪的声音，大家都觉得应该等到秋天再说。" * 4
LIMIT_S = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    shut_down(tmp_path / "data")


def millpond(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A command of a person's."""
    command = [sys.executable, "-m", "millpond", *arguments]
    return subprocess.Popen(
        command, env=environment_of(folder, SMALL), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def told(folder: Path, *arguments: str) -> str:
    """What a command prints."""
    process = millpond(folder, *arguments)
    output, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, output
    return output


def say(daemon: Daemon, session: str, text: str) -> None:
    """Say it, and wait for the answer."""
    message_id = daemon.post(session, text)["id"]
    until = time.monotonic() + LIMIT_S
    while message_id not in answered(daemon.messages(session)):
        assert time.monotonic() < until, f"no answer to {text[:40]!r}"
        time.sleep(0.02)


def on_disk(folder: Path, canary: str) -> list[str]:
    """Files that hold it, packed ones too, and those of the server."""
    return sorted(str(path) for path in files_with(canary, folder))


def test_what_was_forgotten_is_nowhere_on_the_disk_whoever_is_killed_meanwhile(folder: Path) -> None:
    with running(folder, **SMALL) as daemon:
        # What the server writes anew is not packed, so that all of it can be searched.
        told(folder, "redis-cli", "CONFIG", "SET", "rdbcompression", "no")
        for number in range(30):
            say(daemon, "web:ann", f"{number}: I have a {CANARY}. {CHATTER}")
            say(daemon, "web:bob", f"{number}: I have a {KEPT}.")
        before = on_disk(folder, CANARY)
        assert {"transcripts", "memory", "redis"} <= {part for path in before for part in Path(path).parts}

        for wait_s in (0.4, 0.5, 0.6, 0.7):
            killed = millpond(folder, "memory", "forget", "web:ann", CANARY, "--yes")
            time.sleep(wait_s)
            killed.send_signal(signal.SIGKILL)
            killed.communicate()
        last = millpond(folder, "memory", "forget", "web:ann", "I have a", "--yes")
        report, _ = last.communicate(timeout=LIMIT_S)
        # Where the daemon was quick, the killed commands have left nothing to do.
        assert "Removed" in report or "there is nothing of that to be forgotten" in report, report
        until = time.monotonic() + LIMIT_S
        while told(folder, "redis-cli", "ZCARD", "mp:jobs:{jobs}").split() != ["0"]:
            assert time.monotonic() < until, "the jobs do not end"
            time.sleep(0.2)

        assert on_disk(folder, CANARY) == []
        say(daemon, "web:ann", "hello")
        assert any(KEPT in str(message["content"]) for message in daemon.messages("web:bob"))
    assert on_disk(folder, CANARY) == []
    assert on_disk(folder, KEPT)


def test_a_whole_person_is_forgotten_while_he_talks(folder: Path) -> None:
    with running(folder, **SMALL) as daemon:
        told(folder, "redis-cli", "CONFIG", "SET", "rdbcompression", "no")
        for number in range(12):
            say(daemon, "web:ann", f"{number}: I have a {CANARY}. {CHATTER}")
        say(daemon, "web:bob", f"I have a {KEPT}.")
        head = len(daemon.messages("web:ann"))
        forgetting = millpond(folder, "person", "forget", "web:ann", "--yes")
        while forgetting.poll() is None:
            daemon.post("web:ann", f"I have a {CANARY}.")  # what comes while it is forgotten may be forgotten too
            time.sleep(0.05)
        output, _ = forgetting.communicate()
        assert forgetting.returncode == 0, output

        told(folder, "person", "forget", "web:ann", "--yes")
        say(daemon, "web:ann", "hello")
        messages = daemon.messages("web:ann")
        assert [message["content"] for message in messages][:1] == ["hello"]
        assert messages[0]["index"] > head
        assert on_disk(folder, CANARY) == []
        assert on_disk(folder, KEPT)
