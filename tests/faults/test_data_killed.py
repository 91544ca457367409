"""Backups of a Millpond that answers, and restores, with `kill -9` at any point of both."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests import forked
from tests.limits import HANG_S
from tests.processes import Daemon, answered, environment_of, running, server_pid

SESSIONS = 6

pytestmark = pytest.mark.timeout(900)


def millpond(folder: Path, *words: str, kill_after_s: float = HANG_S) -> subprocess.CompletedProcess[str]:
    """A command on a data directory, killed after a while if wanted."""
    return forked.run(words, environment_of(folder, {}), kill_after_s=kill_after_s)


class Talk:
    """Messages to several sessions, one after the other, until told to stop."""

    def __init__(self, daemon: Daemon) -> None:
        self.said: dict[str, list[str]] = {f"chat{number}": [] for number in range(SESSIONS)}
        self._daemon = daemon
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._talk)

    def __enter__(self) -> "Talk":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _talk(self) -> None:
        number = 0
        while not self._over.is_set():
            session = f"chat{number % SESSIONS}"
            # While the server is away nothing is accepted: the same message again, until it is.
            with suppress(OSError):
                self.said[session].append(self._daemon.post(session, f"message {number}", id=f"m{number}")["id"])
                number += 1
            time.sleep(0.01)

    def wait_for(self, count: int) -> dict[str, list[str]]:
        until = time.monotonic() + HANG_S
        while sum(map(len, self.said.values())) < count:
            assert time.monotonic() < until
            time.sleep(0.02)
        return {session: list(ids) for session, ids in self.said.items()}


def answers(daemon: Daemon) -> dict[str, list[str]]:
    return {name: answered(daemon.messages(f"web:{name}")) for name in (f"chat{each}" for each in range(SESSIONS))}


@pytest.mark.slow
def test_a_backup_under_load_holds_all_that_was_accepted_before_it_and_each_is_answered_once(tmp_path: Path) -> None:
    live, copy, folder = tmp_path / "live", tmp_path / "copy", tmp_path / "backup"
    with running(live) as daemon, Talk(daemon) as talk:
        before = talk.wait_for(60)
        done = millpond(live, "data", "backup", str(folder), "--json")
        after = talk.wait_for(sum(map(len, before.values())) + 5)
        checked = millpond(live, "data", "check", "--deep")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verified"]["flaws"] == []
    assert checked.returncode == 0, checked.stdout
    restored = millpond(copy, "data", "restore", str(folder), "--partitions", "3")
    assert restored.returncode == 0, restored.stderr
    with running(copy) as daemon:
        until = time.monotonic() + HANG_S
        while any(set(ids) - set(answers(daemon)[session]) for session, ids in before.items()):
            assert time.monotonic() < until, "messages of the backup were not answered"
            time.sleep(0.1)
        found = answers(daemon)
        again = millpond(copy, "data", "check", "--deep")
    for session, ids in found.items():
        assert len(ids) == len(set(ids))
        # In the order in which they were accepted, and nothing that was never said.
        assert ids == [each for each in after[session] if each in ids]
    assert again.returncode == 0, again.stdout


@pytest.mark.slow
def test_kill_9_in_a_backup_or_a_restore_leaves_what_can_be_done_again(tmp_path: Path) -> None:
    live, copy, chance = tmp_path / "live", tmp_path / "copy", random.Random(11)
    with running(live) as daemon, Talk(daemon) as talk:
        talk.wait_for(120)
        whole = []
        for number in range(8):
            folder = tmp_path / f"backup{number}"
            killed = millpond(
                *(live, "data", "backup", str(folder), "--no-verify"), kill_after_s=chance.uniform(0.02, 0.6)
            )
            is_backup = (folder / "backup.json").exists()
            assert is_backup or killed.returncode == -signal.SIGKILL
            refused = millpond(copy, "data", "restore", str(folder)) if not is_backup and folder.exists() else None
            assert refused is None or (refused.returncode == 65 and "not a complete backup" in refused.stderr)
            whole += [folder] if is_backup else []
        last = tmp_path / "last"
        assert millpond(live, "data", "backup", str(last)).returncode == 0
        assert millpond(live, "data", "check").returncode == 0

    for _ in range(8):
        millpond(copy, "data", "restore", str(last), "--replace", kill_after_s=chance.uniform(0.02, 0.6))
    done = millpond(copy, "data", "restore", str(last), "--replace")
    assert done.returncode == 0, done.stderr
    checked = millpond(copy, "data", "check", "--deep")
    assert checked.returncode == 0, checked.stdout
    second = millpond(copy, "data", "backup", str(tmp_path / "second"))
    assert second.returncode == 0, second.stderr
    assert lines(tmp_path / "second") == lines(last)


def backup_with_a_killed_server(live: Path, folder: Path, *, after_s: float) -> tuple[bool, int, str]:
    """A backup whose server dies after it has begun: whether it died before the end, the exit code, what was said."""
    command = subprocess.Popen(
        [sys.executable, "-m", "millpond", "data", "backup", str(folder), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment_of(live, {}),
    )
    until = time.monotonic() + HANG_S
    while not list(folder.glob("redis.jsonl.gz")) + list(folder.glob(".*.draft")) and command.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.0005)
    time.sleep(after_s)
    # The backup stands still while its server dies: on a fast machine it might be over between the two.
    command.send_signal(signal.SIGSTOP)
    is_cut = command.poll() is None and not (folder / "backup.json").exists()
    os.kill(server_pid(live), signal.SIGKILL)
    command.send_signal(signal.SIGCONT)
    out, err = command.communicate(timeout=HANG_S)
    return is_cut, command.returncode, out or err


@pytest.mark.slow
def test_kill_9_of_the_server_in_a_backup_leaves_a_whole_one_or_none_and_everything_goes_on(tmp_path: Path) -> None:
    live, copy, cut = tmp_path / "live", tmp_path / "copy", 0
    with running(live) as daemon, Talk(daemon) as talk:
        talk.wait_for(60)
        # The first is killed as soon as something of a backup exists, the fourth when a fast machine has finished it.
        # Further ones are made only if none of these was cut.
        for number, after_s in enumerate((0.0, 0.02, 0.08, 0.3, *[0.0] * 16)):
            if number >= 4 and cut:
                break
            folder = tmp_path / f"backup{number}"
            is_cut, code, said = backup_with_a_killed_server(live, folder, after_s=after_s)
            cut += is_cut
            # What is not whole says so by itself: the manifest is written last, and only of what was read to its end.
            assert (folder / "backup.json").exists() == (code == 0), said
            assert code or json.loads(said)["verified"]["flaws"] == []
            # All goes on: what is said now is accepted, by the server that was started again.
            talk.wait_for(sum(map(len, talk.said.values())) + 10)
        accepted, last = talk.wait_for(0), tmp_path / "last"
        assert millpond(live, "data", "backup", str(last), "--no-verify").returncode == 0
    assert cut, "no server was killed while a backup was being made"
    assert millpond(copy, "data", "restore", str(last)).returncode == 0
    for folder, said in ((live, talk.said), (copy, accepted)):
        with running(folder) as daemon:
            until = time.monotonic() + HANG_S
            while any(set(ids) - set(answers(daemon)[session]) for session, ids in said.items()):
                assert time.monotonic() < until, "what was accepted was not answered"
                time.sleep(0.1)
            found = answers(daemon)
        # Each once, in order; a backup may hold what was accepted after it had begun.
        assert all(found[session][: len(ids)] == ids for session, ids in said.items())
        assert all(len(ids) == len(set(ids)) for ids in found.values())


def lines(folder: Path) -> set[str]:
    with gzip.open(folder / "redis.jsonl.gz", "rt", encoding="utf-8") as found:
        records = [json.loads(line) for line in found]
    kept: dict[str, str] = {}
    for record in records:
        if record["type"] in ("session", "scope"):
            for passing in ("out_upto", "dead_upto", "taken"):
                record.pop(passing, None)
            kept[record["name"]] = json.dumps(record, sort_keys=True)
    return set(kept.values())


def test_a_restore_is_refused_while_processes_run(tmp_path: Path) -> None:
    with running(tmp_path / "live") as daemon:
        daemon.post("ann", "hello")
        assert millpond(tmp_path / "live", "data", "backup", str(tmp_path / "b"), "--no-verify").returncode == 0
        refused = millpond(tmp_path / "live", "data", "restore", str(tmp_path / "b"), "--replace")

    assert refused.returncode == 78 and "Stop the running processes" in refused.stderr
    assert (tmp_path / "b").stat().st_mode & 0o077 == 0
