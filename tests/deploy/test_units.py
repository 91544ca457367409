"""The units of systemd: they can be loaded, their sandbox is tight, and they wait for what is under way."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from daemon.config import Config
from daemon.run import LAST_S
from daemon.services import ROLES

pytestmark = pytest.mark.deploy

ROOT = Path(__file__).parents[2]
SYSTEM = ROOT / "deploy" / "systemd" / "system"
USER = ROOT / "deploy" / "systemd" / "millpond.service"
UNITS = sorted(path.name for path in SYSTEM.iterdir() if path.is_file())
OTHERS = ("millpond.target", "millpond-server.service", "millpond-backup.service", "millpond-backup.timer")
OF_ROLES = [name for name in UNITS if name not in OTHERS]
EXPOSURE_MAX = 1.5  # of 10, as ``systemd-analyze security`` counts; what is left is that they talk to the network


def instance(name: str) -> str:
    return name.replace("@.", "@1.")


def analyze(folder: Path, *args: str) -> str:
    """What it says; fails when it finds anything wrong."""
    # The colon at its end: the machine's own units are there too.
    environment = {"SYSTEMD_UNIT_PATH": f"{folder}:", "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    environment["XDG_RUNTIME_DIR"] = str(folder)
    done = subprocess.run(
        ["systemd-analyze", *args], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The units in a folder of their own, with programs that are there on every machine in the place of ours."""
    assert shutil.which("systemd-analyze"), "these tests need Debian's package systemd"
    folder = tmp_path / "units"
    shutil.copytree(SYSTEM, folder)
    for unit in folder.glob("*.service"):
        text = unit.read_text()
        unit.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.MULTILINE))
    return folder


def test_every_unit_can_be_loaded(installed: Path) -> None:
    said = analyze(installed, "verify", "--man=no", *map(instance, UNITS))

    assert said == ""


def test_a_unit_with_a_mistake_cannot(installed: Path) -> None:
    unit = installed / "millpond-web.service"
    unit.write_text(unit.read_text().replace("TimeoutStopSec=40", "TimeoutStopSec=soon"))

    assert "Failed to parse time value" in analyze(installed, "verify", "--man=no", unit.name)


def test_the_unit_of_one_person_can_be_loaded(tmp_path: Path) -> None:
    text = USER.read_text().replace("%h/millpond/.venv/bin/millpond", "/bin/true")
    (tmp_path / USER.name).write_text(text)

    assert analyze(tmp_path, "verify", "--man=no", "--user", str(tmp_path / USER.name)) == ""


@pytest.mark.parametrize("name", [name for name in UNITS if name.endswith(".service")])
def test_a_unit_is_in_a_sandbox(installed: Path, name: str) -> None:
    said = analyze(installed, "security", "--offline=true", "--no-pager", instance(name))

    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", said)
    assert found, said
    assert float(found[1]) <= EXPOSURE_MAX


def test_there_is_a_unit_for_each_role_and_the_target_starts_it() -> None:
    target = (SYSTEM / "millpond.target").read_text()
    roles = {}
    for name in OF_ROLES:
        found = re.search(r"^ExecStart=/opt/millpond/bin/millpond run --role (\w+)$", (SYSTEM / name).read_text(), re.M)
        assert found, name
        roles[found[1]] = name
        assert f" {instance(name)}" in target.replace("=", " ")

    assert set(roles) == set(ROLES)


@pytest.mark.parametrize("path", [*(SYSTEM / name for name in OF_ROLES), USER], ids=lambda path: path.name)
def test_a_unit_waits_until_everything_is_handed_over(path: Path) -> None:
    found = re.search(r"^TimeoutStopSec=(\d+)$", path.read_text(), re.MULTILINE)

    assert found
    assert int(found[1]) >= Config().run.grace_s + LAST_S + 5


def test_a_backup_is_made_each_night_and_old_ones_go(installed: Path) -> None:
    service = (SYSTEM / "millpond-backup.service").read_text()
    words = re.search(r"^ExecStart=/bin/sh -c '(.*)'$", service, re.MULTILINE)

    assert words
    assert "/opt/millpond/bin/millpond data backup" in words[1].replace("%%", "%")
    assert "millpond-backup.timer" in (SYSTEM / "millpond.target").read_text()
    assert "03:00:00" in analyze(installed, "calendar", "*-*-* 03:00:00")
    for unit in ("millpond-agent@.service", "millpond-backup.service"):
        told = set(re.findall(r"^Environment=(MILLPOND_\w+)=", (SYSTEM / unit).read_text(), re.MULTILINE))
        assert told - {"MILLPOND_HEALTH__PORT"} == {
            *("MILLPOND_CONFIG", "MILLPOND_DATA_DIR", "MILLPOND_REDIS__URL_FILE")
        }


def test_no_two_units_have_one_health_port() -> None:
    ports = [
        re.search(r"^Environment=MILLPOND_HEALTH__PORT=(\d+)(%i)?$", (SYSTEM / name).read_text(), re.MULTILINE)
        for name in OF_ROLES
    ]

    assert all(ports)
    numbers = [f"{port[1]}{'1' if port[2] else ''}" for port in ports if port]
    assert len(set(numbers)) == len(numbers)
    assert all(1_024 < int(number) < 65_536 for number in numbers)
