"""What bots go without: told by ``millpond doctor``, by each worker's heartbeat, and so by the page."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from daemon.config import BotConfig, Config, McpConfig
from daemon.overview import read_problems
from daemon.process import Process
from daemon.services import EQUIPMENT, load
from daemon.testing import ScriptedModel
from tests.conftest import Lab
from tests.fakes import tool_server
from tests.integration.test_tools_mcp import program
from tests.limits import until
from workers.agent import service

OFFERED = json.dumps(
    [
        {"name": "fine.one", "inputSchema": {"type": "object"}},
        {"name": "text", "inputSchema": {"type": "string"}},
        {"name": "far", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "other.json"}}}},
    ]
)
A_FOLDER = "the path is a folder, not a regular file. Replace the file with a regular file, or remove the file"
TOLD = {
    ("SOUL.md", "the file is not UTF-8. Save it as UTF-8"),
    ("skills/broken/SKILL.md", "the first line of the file must be ---"),
    ("fake_text", "left out: the tool's schema has the type 'string', not object"),
    ("fake_far", "the tool's schema refers to other.json, which cannot be resolved, so any value is allowed there"),
}


def broken(workspace: Path) -> Path:
    """A workspace with files that cannot be read."""
    (workspace / "skills" / "broken").mkdir(parents=True)
    (workspace / "skills" / "broken" / "SKILL.md").write_text("no head")
    (workspace / "SOUL.md").write_bytes(b"\xff")
    (workspace / "memory" / "pond%3aperson").mkdir(parents=True)
    (workspace / "memory" / "MEMORY.md").write_bytes(b"\xff")
    (workspace / "memory" / "pond%3aperson" / "MEMORY.md").mkdir()
    return workspace


def bots(workspace: Path) -> dict[str, BotConfig]:
    gone = McpConfig(command=sys.executable, args=(str(Path(tool_server.__file__)), "gone"))
    return {
        "pond": BotConfig(
            workspace=str(workspace), tools=("time",), mcp={"fake": program(env={"TOOLS": OFFERED}), "gone": gone}
        )
    }


async def test_the_doctor_names_each_file_and_each_tool_that_a_bot_goes_without(tmp_path: Path) -> None:
    folder = broken(tmp_path / "pond")
    config = Config(data_dir=str(tmp_path), bots={**bots(folder), "reed": BotConfig()})

    findings = await load(EQUIPMENT)(config)

    warnings = {(finding.check, finding.text) for finding in findings if finding.state == "warning"}
    gone = {text for check, text in warnings if check == "tool server gone of pond"}
    assert warnings - {("tool server gone of pond", text) for text in gone} == {
        ("files of pond", f"{folder}/SOUL.md cannot be read: the file is not UTF-8. Save it as UTF-8"),
        ("files of pond", f"{folder}/skills/broken/SKILL.md cannot be read: the first line of the file must be ---"),
        ("files of pond", f"{folder}/memory/MEMORY.md cannot be read: the file is not UTF-8. Save it as UTF-8"),
        ("files of pond", f"{folder}/memory/pond%3aperson/MEMORY.md cannot be read: {A_FOLDER}"),
        *(("tool server fake of pond", f"{name}: {why}") for name, why in TOLD if name.startswith("fake")),
    }
    assert len(gone) == 1 and gone.pop().endswith(". The bot answers without this server's tools.")
    fine = {finding.check: finding.text for finding in findings if finding.state == "ok"}
    assert fine.keys() == {"files of reed", "tool server fake of pond"}
    assert fine["tool server fake of pond"] == "2 usable tools"


async def test_workers_say_what_their_bots_go_without_and_when_it_is_mended(
    process: Process, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.heartbeat.EVERY_S", 0.05)
    folder = broken(tmp_path / "pond")

    async def connect(*_: Any, **__: Any) -> ScriptedModel:
        return ScriptedModel("done")

    config = msgspec.structs.replace(process.config, bots=bots(folder))
    process = replace(process, config=config, connect_model=connect)
    await lab.publish("m")

    async def told() -> dict[str, str]:
        return {each.name: each.reason for each in await read_problems(lab.bus, process.clock)}

    async def all_told() -> bool:
        found = await told()
        return found.items() >= TOLD and found.keys() >= {"gone", "memory/MEMORY.md"}

    async def mended() -> bool:
        return "SOUL.md" not in await told()

    async with anyio.create_task_group() as tg:
        await tg.start(lambda *, task_status: service.serve(process, task_status=task_status))
        await until(all_told)
        (folder / "SOUL.md").write_text("fine")
        await until(mended)
        process.stopping.set()

    assert await told() == {}
