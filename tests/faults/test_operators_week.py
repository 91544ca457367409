"""A week of an operator: the nightly backup of the documentation, while disks, archives and mounts fail."""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from tests.faults.test_data_killed import millpond
from tests.faults.test_folder_gone import readiness, refusal, until
from tests.limits import HANG_S
from tests.processes import Daemon, answered, environment_of, running, shut_down

ROOT = Path(__file__).resolve().parents[2]

CONFIG = """
[bots.pond]
workspace = "{workspace}"
tools = ["time"]
[bots.pond.model]
context_window_tokens = 4096
"""
"""A small window, so that messages are archived after a few turns."""

CHATTER = "The pond is deep, and the heron waits. " * 20
CHATS = ("ann", "bob")

NIGHT_DAYS = 4
"""Age that each night adds to the backups: the documented line deletes backups after 14 days."""

FILE_BLOCKS = 8
"""Limit of a file's size, in blocks of 512 bytes (ulimit -f), that a backup does not fit into."""


def documented_line() -> str:
    """The command of the cron line in docs/data.md."""
    (line,) = re.findall(r"^    0 3 \* \* \*  (.+)$", (ROOT / "docs" / "data.md").read_text(), re.MULTILINE)
    # cron turns an escaped percent sign into a plain one, crontab(5).
    return line.replace("\\%", "%")


def answers(daemon: Daemon, chat: str) -> list[str]:
    """The answered messages of a chat; none while the archive cannot be read."""
    try:
        return answered(daemon.messages(f"web:{chat}"))
    except HTTPError as error:
        if error.code != 503:
            raise
        return []


class Operator:
    """A machine with cron: a data directory, a folder of backups, and a workspace on a disk of its own."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.workspace = folder / "disk" / "pond"
        self.backups = folder / "backups"
        self.accepted: dict[str, list[str]] = {chat: [] for chat in CHATS}
        self.good: dict[str, dict[str, list[str]]] = {}
        """By name of each backup that succeeded: the messages that were accepted before it began."""
        self._tools = folder / "bin"
        self._number = 0
        for made in (self.data, self.workspace, self.backups, self._tools):
            made.mkdir(parents=True)
        (self.data / "millpond.toml").write_text(CONFIG.format(workspace=self.workspace))
        self._tool("millpond", f'cd "{ROOT}" && exec "{sys.executable}" -m millpond "$@"')

    def _tool(self, name: str, script: str) -> None:
        (self._tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (self._tools / name).chmod(0o755)

    def chat(self, daemon: Daemon, turns: int = 2) -> None:
        for _ in range(turns):
            for chat in CHATS:
                self._number += 1
                name = f"m{self._number}"
                daemon.post(chat, f"{self._number} {CHATTER}", id=name)
                self.accepted[chat].append(name)
        until(lambda: all(answers(daemon, chat) == self.accepted[chat] for chat in CHATS))

    def night(self, number: int, *, limits: str = "") -> subprocess.CompletedProcess[str]:
        """Run the documented line, as cron does, with a shell, in the night of a day."""
        before = {chat: list(names) for chat, names in self.accepted.items()}
        for backup in self.backups.iterdir():
            os.utime(backup, (backup.stat().st_atime, backup.stat().st_mtime - NIGHT_DAYS * 86_400))
        day = f"2026-11-{number:02}"
        self._tool("date", f"echo {day}")
        environ = environment_of(self.data, {"PATH": f"{self._tools}:{os.environ['PATH']}"})
        line = documented_line().replace("/backups", str(self.backups))
        done = subprocess.run(
            ["sh", "-c", limits + line], env=environ, capture_output=True, text=True, timeout=HANG_S, check=False
        )
        if done.returncode == 0:
            self.good[day] = before
        return done


@contextmanager
def quiet(_: Operator) -> Iterator[None]:
    yield


@contextmanager
def moved_away(path: Path) -> Iterator[None]:
    """As if the mount of the folder were lost, for the length of the block."""
    away = path.with_name(f"{path.name}.away")
    path.rename(away)
    try:
        yield
    finally:
        shutil.rmtree(path, ignore_errors=True)  # a folder below a lost mount can be written to
        away.rename(path)


@contextmanager
def odd_names(operator: Operator) -> Iterator[None]:
    """Files that people and tools leave in a workspace; they stay."""
    folder = operator.workspace / "files"
    folder.mkdir()
    for name in ODD:
        (folder / os.fsdecode(name)).write_bytes(name)
    os.link(folder / "hard", folder / "linked")
    (folder / "out").symlink_to(operator.data.parent)
    (folder / "gone").symlink_to("/nowhere")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as left:
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket is short
        left.bind("socket")
        os.chdir(here)
    yield


ODD = (b"hard", b"caf\xe9", b"two\nlines", b" spaces ", b"n" * 255, b"\xff" * 255, "小.txt".encode())


def archive_lost(operator: Operator) -> Any:
    return moved_away(operator.data / "transcripts")


@contextmanager
def workspace_lost(operator: Operator) -> Iterator[None]:
    with moved_away(operator.workspace.parent):
        operator.workspace.parent.write_text("so that the running bot makes no other folder")
        yield
        operator.workspace.parent.unlink()


def data_lost(operator: Operator) -> Any:
    return moved_away(operator.data / "redis")


def segment_lost(operator: Operator) -> Any:
    return moved_away(min((operator.data / "transcripts").rglob("transcript_*")))


def archive_fails(operator: Operator) -> Any:
    @contextmanager
    def failing() -> Iterator[None]:
        with moved_away(operator.data / "transcripts"):
            (operator.data / "transcripts").write_text("a file where a folder should be")
            yield
            (operator.data / "transcripts").unlink()

    return failing()


@contextmanager
def spoilt_key(operator: Operator) -> Iterator[None]:
    key = "mp:{0}:log:web:carl"
    assert millpond(operator.data, "redis-cli", "SET", key, "x").returncode == 0
    yield
    assert millpond(operator.data, "redis-cli", "DEL", key).returncode == 0


NIGHTS: list[tuple[Callable[[Operator], Any], str, str]] = [
    # trouble, limits of the shell, a part of the complaint of a backup that fails
    (quiet, "", ""),
    (odd_names, "", ""),
    (archive_lost, "", "messages are missing from the backup"),
    (archive_fails, "", "the archive in"),
    (segment_lost, "", "messages are missing from the backup"),
    (quiet, f"ulimit -f {FILE_BLOCKS}; ", "was not written: File too large"),
    (workspace_lost, "", "bots/pond: Not a directory"),
    (data_lost, "", "does not contain Millpond data yet"),
    (spoilt_key, "", "web:carl: session web:carl cannot be read"),
    (quiet, "", ""),
]
FIVE = [NIGHTS[0], NIGHTS[1], NIGHTS[2], NIGHTS[6], NIGHTS[9]]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "nights", [pytest.param(FIVE, id="five"), pytest.param(NIGHTS, id="all", marks=pytest.mark.slow)]
)
def test_the_newest_backup_that_succeeded_holds_every_message_accepted_before_it(
    tmp_path: Path, nights: list[tuple[Callable[[Operator], Any], str, str]]
) -> None:
    operator, kept = Operator(tmp_path), set[str]()
    with running(operator.data) as daemon:
        operator.chat(daemon, 6)
        for number, (trouble, limits, complaint) in enumerate(nights, 1):
            operator.chat(daemon, 1)
            with trouble(operator):
                done = operator.night(number, limits=limits)
                if trouble is data_lost:
                    until(lambda: readiness(daemon))
                    assert refusal(daemon, "lost?") == "unavailable"
            assert (done.returncode == 0, complaint in done.stderr) == (not complaint, True), done.stderr
            until(lambda: not readiness(daemon))
            assert complaint == "" or kept <= {backup.name for backup in operator.backups.iterdir()}
            kept = set(operator.good)
        operator.chat(daemon, 1)

    newest = operator.backups / max(operator.good)
    assert newest.name == f"2026-11-{len(nights):02}"
    assert not (operator.backups / "2026-11-01").exists(), "a backup of four weeks ago is deleted after a good one"
    restored = Operator(tmp_path / "restored")
    assert millpond(restored.data, "data", "restore", str(newest)).returncode == 0
    with running(restored.data) as daemon:
        for chat, names in operator.good[newest.name].items():
            until(lambda chat=chat, names=names: set(names) <= set(answers(daemon, chat)))  # type: ignore[misc]
            assert answers(daemon, chat) == names
    found = {path.read_bytes() for path in (restored.workspace / "files").iterdir() if path.is_file()}
    assert found == set(ODD)
    assert millpond(restored.data, "data", "check", "--deep").returncode == 0
    for each in (operator, restored):
        shut_down(each.data)
