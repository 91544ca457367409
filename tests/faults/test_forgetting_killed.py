"""Forgetting with real processes: killed again and again, and at the end no byte of it is on the disk."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import forked
from tests.forgetlab import files_with
from tests.limits import HANG_S
from tests.processes import Daemon, answered, environment_of, running, shut_down

CANARY, KEPT = "Kanarienvogel-7f3a", "Rotkehlchen-91bc"
SMALL = {
    "MILLPOND_BOTS__POND__MODEL__CONTEXT_WINDOW_TOKENS": "4096",
    "MILLPOND_BOTS__POND__TOOLS": "time",
    "MILLPOND_QUEUE__LEASE_S": "1",
    "MILLPOND_QUEUE__RENEW_S": "0.25",
    "MILLPOND_QUEUE__WAKEUP_S": "1",
}
CHATTER = "今天池塘的水位比昨天高了一点，北边的水泵晚上又有奇怪的声音，大家都觉得应该等到秋天再说。" * 4


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    shut_down(tmp_path / "data")


def told(folder: Path, *arguments: str) -> str:
    done = forked.run(arguments, environment_of(folder, SMALL))
    assert done.returncode == 0, done.stderr
    return done.stdout


def say(daemon: Daemon, session: str, text: str) -> None:
    message_id = daemon.post(session, text)["id"]
    until = time.monotonic() + HANG_S
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
        say(daemon, "web:bob", f"I have a {KEPT}.")
        number, until = 0, time.monotonic() + HANG_S
        while not {"transcripts", "memory", "redis"} <= {
            part for path in on_disk(folder, CANARY) for part in Path(path).parts
        }:
            assert time.monotonic() < until, "nothing was consolidated"
            say(daemon, "web:ann", f"{number}: I have a {CANARY}. {CHATTER}")
            number += 1

        for kill_after_s in (0.02, 0.05, 0.1, 0.2):
            words = ("memory", "forget", "web:ann", CANARY, "--yes")
            forked.run(words, environment_of(folder, SMALL), kill_after_s=kill_after_s)
        last = forked.run(("memory", "forget", "web:ann", "I have a", "--yes"), environment_of(folder, SMALL))
        report = last.stdout + last.stderr
        # Where the daemon was quick, the killed commands have left nothing to do.
        assert "Deleted" in report or "no matching data was found" in report, report
        until = time.monotonic() + HANG_S
        while told(folder, "redis-cli", "ZCARD", "mp:jobs:{jobs}").split() != ["0"]:
            assert time.monotonic() < until, "the jobs do not end"
            time.sleep(0.02)

        assert on_disk(folder, CANARY) == []
        say(daemon, "web:ann", "hello")
        assert any(KEPT in str(message["content"]) for message in daemon.messages("web:bob"))
    assert on_disk(folder, CANARY) == []
    assert on_disk(folder, KEPT)


def test_a_whole_person_is_forgotten_while_he_talks(folder: Path) -> None:
    with running(folder, **SMALL) as daemon:
        told(folder, "redis-cli", "CONFIG", "SET", "rdbcompression", "no")
        for number in range(4):
            say(daemon, "web:ann", f"{number}: I have a {CANARY}. {CHATTER}")
        say(daemon, "web:bob", f"I have a {KEPT}.")
        head = len(daemon.messages("web:ann"))
        forgetting = forked.begin(("person", "forget", "web:ann", "--yes"), environment_of(folder, SMALL))
        for _ in range(20):
            daemon.post("web:ann", f"I have a {CANARY}.")  # what comes while it is forgotten may be forgotten too
            time.sleep(0.02)
        forgetting.wait(HANG_S)
        assert forgetting.stdout is not None
        with forgetting.stdout as output:
            assert forgetting.returncode == 0, output.read()

        say(daemon, "web:ann", f"I have a {CANARY}.")
        told(folder, "person", "forget", "web:ann", "--yes")
        say(daemon, "web:ann", "hello")
        messages = daemon.messages("web:ann")
        assert [message["content"] for message in messages][:1] == ["hello"]
        assert messages[0]["index"] > head
        assert on_disk(folder, CANARY) == []
        assert on_disk(folder, KEPT)
