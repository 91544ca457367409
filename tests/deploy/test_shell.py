"""``secrets.sh``, and every other script: what a shell would stumble over, and what it makes."""

import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.bus.permissions import users
from daemon.services import ROLES

pytestmark = pytest.mark.deploy

ROOT = Path(__file__).parents[2]
SECRETS = ROOT / "deploy" / "secrets.sh"
SCRIPTS = [SECRETS, ROOT / ".ci" / "run"]
ADDRESSES = {"redis.url", *(f"redis.{role}.url" for role in ROLES)}
MADE = {"server.acl", "web.token", *ADDRESSES}


def shellcheck(path: Path) -> str:
    program = shutil.which("shellcheck", path=str(Path(sys.executable).parent))
    assert program, "these tests need the extra deploy"
    return subprocess.run([program, path], capture_output=True, text=True, timeout=60, check=False).stdout


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_shell_stumbles_over_nothing(path: Path) -> None:
    assert path.stat().st_mode & stat.S_IXUSR
    assert shellcheck(path) == ""


def test_a_mistake_would_be_seen(tmp_path: Path) -> None:
    script = tmp_path / "bad.sh"
    script.write_text("#!/bin/sh\nrm -rf $1/*\n")

    assert "SC2086" in shellcheck(script)


def make(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", SECRETS, folder, *args], capture_output=True, text=True, timeout=20, check=False)


def test_secrets_are_made_once_and_nobody_else_reaches_them(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    first = make(folder, "10.0.0.7:6379")
    before = {path.name: path.read_text() for path in folder.iterdir()}

    again = make(folder)

    assert (first.returncode, again.returncode) == (0, 0)
    assert {path.name: path.read_text() for path in folder.iterdir()} == before
    assert set(before) == MADE
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    passwords = {before["web.token"]}
    for name in ADDRESSES:
        user = "-".join(["millpond", *name.split(".")[1:-1]])
        password = before[name].partition(f"redis://{user}:")[2].partition("@10.0.0.7:6379/0")[0]
        assert f"user {user} on >{password} " in before["server.acl"]
        assert password not in first.stdout + first.stderr + again.stdout
        passwords.add(password)
    assert len(passwords) == len(ADDRESSES) + 1
    assert {len(password) for password in passwords} == {64}


@pytest.mark.parametrize(("version", "read_only"), [("7", True), ("6.2", False)])
def test_the_users_of_the_server_are_those_of_the_code(tmp_path: Path, version: str, read_only: bool) -> None:
    make(tmp_path, "server:6379", version)

    made = re.sub(">[0-9a-f]{64} ", ">PASSWORD ", (tmp_path / "server.acl").read_text())
    assert made == users("mp", read_only=read_only)


@pytest.mark.parametrize("gone", ["server.acl", "redis.agent.url"])
def test_half_of_a_password_is_not_made_anew(tmp_path: Path, gone: str) -> None:
    make(tmp_path)
    (tmp_path / gone).unlink()

    refused = make(tmp_path)

    assert refused.returncode == 1
    assert "some of these files are missing" in refused.stderr
    assert not (tmp_path / gone).exists()
