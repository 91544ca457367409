"""A full disk pauses Millpond: it says so, accepts nothing it cannot keep, and goes on when there is room."""

import subprocess
import time
import urllib.error
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.limits import HANG_S
from tests.processes import answered, running, shut_down

ROOM = "60m"  # the embedded server wants 16 MiB free to start


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mount needs root with CAP_SYS_ADMIN: no disk can be made full here")
    yield folder
    shut_down(folder / "data")
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_pauses_and_loses_nothing(small_disk: Path) -> None:
    with running(small_disk / "data") as daemon:
        accepted = [daemon.post("web:ann", "before", id=f"before-{n}")["id"] for n in range(20)]
        ballast = small_disk / "ballast"
        fill(ballast)

        refused, until = 0, time.monotonic() + HANG_S
        while not refused:
            assert time.monotonic() < until, "a full disk was not noticed"
            number = len(accepted)
            try:
                accepted.append(daemon.post("web:ann", "x" * 100_000, id=f"while-{number}")["id"])
            except urllib.error.HTTPError as error:
                with error:
                    refused = error.code
        assert refused == 503
        assert daemon.status_of("/healthz") == daemon.status_of("/readyz") == 503

        ballast.unlink()
        until = time.monotonic() + HANG_S
        while daemon.status_of("/healthz") != 200:
            assert time.monotonic() < until, "it did not go on when there was room"
            time.sleep(0.1)
        # The one that was refused may have been kept all the same: sending it again with its id is safe.
        accepted.append(daemon.post("web:ann", "x" * 100_000, id=f"while-{len(accepted)}")["id"])
        accepted.append(daemon.post("web:ann", "after", id="after")["id"])
        while len(found := answered(daemon.messages("web:ann"))) < len(accepted):
            assert time.monotonic() < until + HANG_S, f"{len(found)} of {len(accepted)} answered"
            time.sleep(0.1)

        assert found == accepted


def fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"0" * 65_536)
        except OSError:
            return
