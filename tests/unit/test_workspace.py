"""A bot's workspace: read when it changes, and whatever lies in it."""

import os
import threading
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from tests.limits import HANG_S
from tests.tables import each_row
from workers.agent.prompt import workspace as module
from workers.agent.prompt.workspace import FILE_MAX_BYTES, Workspace


@pytest.fixture(autouse=True)
def checked_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECK_S", 0.0)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def skill(description: str = "d", more: str = "") -> str:
    return f"---\ndescription: {description}\n{more}---\nhow\n"


async def test_a_folder_that_is_not_there_is_an_empty_one(tmp_path):
    with capture_logs() as logs:
        files = await Workspace(tmp_path / "nowhere").files()

    assert (files.bootstrap, files.skills, logs) == ((), (), [])


async def test_files_and_skills_are_found_in_order_and_blank_ones_left_out(tmp_path):
    put(tmp_path / "SOUL.md", "\ufeffsoul")
    put(tmp_path / "AGENTS.md", "agents\r\n")
    put(tmp_path / "USER.md", " \n")
    put(tmp_path / "OTHER.md", "no")
    put(tmp_path / "skills" / "b" / "SKILL.md", skill())
    put(tmp_path / "skills" / "a" / "SKILL.md", skill())
    put(tmp_path / "skills" / "no-skill" / "README.md", "x")

    files = await Workspace(tmp_path).files()

    assert files.bootstrap == (("AGENTS.md", "agents\r\n"), ("SOUL.md", "soul"))
    assert [each.name for each in files.skills] == ["a", "b"]


async def test_nothing_is_read_again_until_it_changes(tmp_path, monkeypatch):
    put(tmp_path / "AGENTS.md", "one")
    workspace = Workspace(tmp_path)
    reads: list[object] = []
    original = module._read
    monkeypatch.setattr(module, "_read", lambda *args: reads.append(args) or original(*args))

    first, same = await workspace.files(), await workspace.files()
    put(tmp_path / "AGENTS.md", "other")
    second = await workspace.files()
    put(tmp_path / "skills" / "x" / "SKILL.md", skill())
    third = await workspace.files()
    (tmp_path / "AGENTS.md").unlink()
    fourth = await workspace.files()

    assert first is same
    assert second.bootstrap == (("AGENTS.md", "other"),)
    assert len(third.skills) == 1
    assert fourth.bootstrap == ()
    assert len(reads) == 4


async def test_within_the_pause_nothing_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHECK_S", 60.0)
    workspace = Workspace(tmp_path)
    first = await workspace.files()
    put(tmp_path / "AGENTS.md", "one")

    assert await workspace.files() is first


async def test_many_turns_at_once_look_once(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHECK_S", 60.0)
    workspace, looks = Workspace(tmp_path), []
    original = workspace._look
    monkeypatch.setattr(workspace, "_look", lambda: looks.append(1) or original())

    async with anyio.create_task_group() as tg:
        for _ in range(20):
            tg.start_soon(workspace.files)

    assert len(looks) == 1


@each_row("content", [b"\xff\xfe\x00", b"x" * (FILE_MAX_BYTES + 1)])
async def test_a_file_that_is_no_text_or_too_large_is_left_out_and_logged_once(tmp_path, content):
    (tmp_path / "SOUL.md").write_bytes(content)
    put(tmp_path / "USER.md", "ann")
    workspace = Workspace(tmp_path)

    with capture_logs() as logs:
        files = [await workspace.files() for _ in range(3)][-1]

    assert files.bootstrap == (("USER.md", "ann"),)
    assert [line["event"] for line in logs] == ["workspace.unreadable"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are POSIX")
async def test_a_pipe_holds_nobody_up(tmp_path):
    os.mkfifo(tmp_path / "AGENTS.md")
    (tmp_path / "SOUL.md").mkdir()

    with anyio.fail_after(HANG_S), capture_logs() as logs:
        files = await Workspace(tmp_path).files()

    assert files.bootstrap == ()
    assert {line["event"] for line in logs} == {"workspace.unreadable"}


async def test_a_broken_skill_is_left_out_and_logged_the_others_stay(tmp_path):
    put(tmp_path / "skills" / "broken" / "SKILL.md", "no head")
    put(tmp_path / "skills" / "fine" / "SKILL.md", skill())

    with capture_logs() as logs:
        files = await Workspace(tmp_path).files()

    assert [each.name for each in files.skills] == ["fine"]
    assert [(line["event"], line["path"]) for line in logs] == [("skill.broken", "skills/broken/SKILL.md")]


async def test_links_among_the_skills_are_not_followed(tmp_path):
    put(tmp_path / "elsewhere" / "SKILL.md", skill())
    put(tmp_path / "skills" / "mine" / "SKILL.md", skill())
    (tmp_path / "skills" / "theirs").symlink_to(tmp_path / "elsewhere")

    files = await Workspace(tmp_path).files()

    assert [each.name for each in files.skills] == ["mine"]


@each_row("name", [b"\xff\xfe", b"a\nb", b".hidden"])
async def test_a_folder_whose_name_no_prompt_could_hold_is_no_skill(tmp_path, name):
    put(tmp_path / "skills" / os.fsdecode(name) / "SKILL.md", skill())

    assert (await Workspace(tmp_path).files()).skills == ()


async def test_what_a_skill_lacks_is_seen_as_it_comes_and_goes(tmp_path, monkeypatch):
    more = "requires:\n  bins: [surely-no-such-program]\n  env: [SURELY_NOT_SET]\n"
    put(tmp_path / "skills" / "x" / "SKILL.md", skill(more=more))
    workspace = Workspace(tmp_path)

    (lacking,) = (await workspace.files()).skills
    program = tmp_path / "bin" / "surely-no-such-program"
    put(program, "#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.setenv("SURELY_NOT_SET", "1")
    (complete,) = (await workspace.files()).skills

    assert (lacking.missing_bins, lacking.missing_env) == (("surely-no-such-program",), ("SURELY_NOT_SET",))
    assert complete.is_available


async def test_what_was_given_up_for_a_slow_disk_is_read_by_the_next(tmp_path, monkeypatch):
    put(tmp_path / "AGENTS.md", "agents")
    workspace, original, begun, goes_on = Workspace(tmp_path), module._read, list[int](), threading.Event()

    def slow(*args):
        begun.append(1)
        assert goes_on.wait(10)
        return original(*args)

    monkeypatch.setattr(module, "_read", slow)
    monkeypatch.setattr(module, "CHECK_TIMEOUT_S", 0.1)
    with capture_logs() as logs:
        meanwhile = [await workspace.files() for _ in range(3)]
    at_once = len(begun)

    goes_on.set()
    monkeypatch.setattr(module, "CHECK_TIMEOUT_S", 10)
    files = await workspace.files()

    assert [each.bootstrap for each in meanwhile] == [()] * 3
    assert [line["event"] for line in logs] == ["workspace.slow"] * 3
    assert files.bootstrap == (("AGENTS.md", "agents"),)
    # A disk that hangs has one thread, however often it is looked at.
    assert at_once == 1
