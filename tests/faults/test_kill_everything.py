"""Promise 1 with real processes and real signals: an accepted message is answered by exactly one committed turn."""

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.limits import HANG_S
from tests.processes import Daemon, answered, running, server_pid, shut_down, start

SHORT_LEASE = {"MILLPOND_QUEUE__LEASE_S": "1", "MILLPOND_QUEUE__RENEW_S": "0.25", "MILLPOND_QUEUE__WAKEUP_S": "0.5"}


def wait_until_answered(daemon: Daemon, ids: dict[str, list[str]]) -> None:
    """Wait for every session's messages, and see that each is answered once and in order."""
    until = time.monotonic() + HANG_S
    for session, expected in ids.items():
        while len(found := answered(daemon.messages(session))) < len(expected):
            assert time.monotonic() < until, f"{session}: only {found} of {expected} answered"
            time.sleep(0.02)
        assert found == expected


def said_by_users(daemon: Daemon, session: str) -> list[str]:
    return [message["id"] for message in daemon.messages(session) if message["role"] == "user"]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "data"
    shut_down(tmp_path / "data")


def test_twenty_accepted_messages_survive_the_death_of_every_process_at_once(folder: Path) -> None:
    daemon = start(folder, **SHORT_LEASE)
    ids = [daemon.post("web:ann", "count to 3" if n < 2 else "hello", id=f"m{n:02}")["id"] for n in range(20)]
    while not answered(daemon.messages("web:ann")):
        time.sleep(0.02)
    os.kill(server_pid(folder), signal.SIGKILL)
    daemon.kill()

    with running(folder, **SHORT_LEASE) as again:
        wait_until_answered(again, {"web:ann": ids})

        assert said_by_users(again, "web:ann") == ids
        assert again.post("web:ann", "count to 1", id="m00")["status"] == "duplicate"


def test_a_killed_worker_loses_nothing_and_the_others_go_on(folder: Path) -> None:
    with running(folder, "--role", "web", **SHORT_LEASE) as web:
        workers = [start(folder, "--role", "agent", web=False, **SHORT_LEASE) for _ in range(3)]
        ids = {f"web:s{n}": [web.post(f"s{n}", "count to 2", id=f"s{n}-{m}")["id"] for m in range(2)] for n in range(6)}
        while not any(answered(web.messages(session)) for session in ids):
            time.sleep(0.01)
        workers[0].kill()

        wait_until_answered(web, ids)

        assert [worker.stop() for worker in workers[1:]] == [0, 0]


@pytest.mark.slow
@pytest.mark.long
def test_sixty_seconds_of_killing_workers_and_servers_lose_double_and_reorder_nothing(folder: Path) -> None:
    dice = random.Random(20261120)
    ids: dict[str, list[str]] = {f"web:c{n}": [] for n in range(10)}
    kills = {"worker": 0, "server": 0}
    with running(folder, "--role", "web", **SHORT_LEASE) as web:
        workers = [start(folder, "--role", "agent", web=False, **SHORT_LEASE) for _ in range(3)]
        until = time.monotonic() + 60
        while time.monotonic() < until:
            session = dice.choice(list(ids))
            number = len(ids[session])
            text = dice.choice(["hello", "count to 3", "what time is it?", "我叫小明"])
            ids[session].append(web.post(session, text, id=f"{session}-{number}")["id"])
            if dice.random() < 0.06:
                victim = dice.randrange(len(workers))
                workers[victim].kill()
                workers[victim] = start(folder, "--role", "agent", web=False, **SHORT_LEASE)
                kills["worker"] += 1
            if dice.random() < 0.015:
                os.kill(server_pid(folder), signal.SIGKILL)
                kills["server"] += 1
            time.sleep(dice.random() * 0.1)
        wait_until_answered(web, ids)

        for session, expected in ids.items():
            assert said_by_users(web, session) == expected
        assert [worker.stop() for worker in workers] == [0, 0, 0]
    assert min(kills.values()) > 5, kills
