"""The data folder disappears while Millpond runs: no message is accepted until the folder is back."""

import json
import shutil
import time
import urllib.error
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults.test_data_killed import millpond
from tests.limits import HANG_S
from tests.processes import Daemon, running


def until(condition: Callable[[], Any]) -> None:
    """Processes send no events: look often."""
    deadline = time.monotonic() + HANG_S
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)


def refusal(daemon: Daemon, text: str) -> str:
    """What a message that is not accepted gets."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        daemon.post("ann", text)
    with refused.value as answer:
        assert answer.code == 503
        return str(json.load(answer)["error"]["code"])


def readiness(daemon: Daemon) -> str:
    try:
        daemon.get("/readyz")
    except urllib.error.HTTPError as error:
        with error:
            return str(json.load(error)["reason"])
    return ""


def test_a_data_folder_that_is_moved_away_and_back_loses_no_accepted_message(tmp_path: Path) -> None:
    live = tmp_path / "live"
    away = tmp_path / "away"
    with running(live) as daemon:
        daemon.post("ann", "before")
        until(lambda: len(daemon.messages("ann")) == 2)
        until(lambda: not readiness(daemon))
        (live / "redis").rename(away)
        until(lambda: readiness(daemon))

        assert f"the data folder {live / 'redis'} was removed" in readiness(daemon)
        assert refusal(daemon, "lost?") == "unavailable"
        doctor = millpond(live, "doctor")
        assert doctor.returncode == 1
        assert "is still running" in doctor.stdout
        assert not (live / "redis").exists()

        away.rename(live / "redis")
        until(lambda: not readiness(daemon))
        daemon.post("ann", "after")
        until(lambda: len(daemon.messages("ann")) == 4)


def test_nothing_is_accepted_into_a_folder_that_was_deleted_or_replaced(tmp_path: Path) -> None:
    live = tmp_path / "live"
    with running(live) as daemon:
        daemon.post("ann", "before")
        until(lambda: len(daemon.messages("ann")) == 2)
        until(lambda: not readiness(daemon))
        shutil.rmtree(live / "redis")
        until(lambda: readiness(daemon))
        assert refusal(daemon, "lost?") == "unavailable"

        (live / "redis").mkdir(mode=0o700)
        (live / "redis" / "engine.json").write_text("{}")
        until(lambda: "was replaced by another folder" in readiness(daemon))
        assert refusal(daemon, "lost?") == "unavailable"
