"""The tools of a bot over the API: built-in ones, tool servers as workers see them, and skills."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from daemon.config import BotConfig, ExecConfig
from daemon.process import Process
from daemon.testing import ScriptedModel
from tests.conftest import Lab
from tests.integration.test_problems import bots
from tests.integration.test_tools_mcp import desk, program
from tests.limits import until
from tests.weblab import Page, page_of
from workers.agent import service
from workers.tools.mcp import tool_server_connection

SKILL = "---\nname: publish\ndescription: Publish a page. Ask first.\nrequires: {bins: [no-such-program]}\n---\n"


def equipped(process: Process, **configured: BotConfig) -> Process:
    return replace(process, config=msgspec.structs.replace(process.config, bots=configured))


async def test_operators_see_which_builtin_tools_a_bot_has_and_which_need_approval(
    process: Process, tmp_path: Path
) -> None:
    bot = BotConfig(workspace=str(tmp_path), tools=("time", "exec"), exec=ExecConfig(approval=True))
    (tmp_path / "skills" / "publish").mkdir(parents=True)
    (tmp_path / "skills" / "publish" / "SKILL.md").write_text(SKILL)

    async with page_of(equipped(process, pond=bot, heron=BotConfig(mcp={"fake": program()}))) as page:
        found = await page.get("/api/tools")
        heron = await page.get("/api/tools", bot="heron")
        assert await page.refused("/api/tools?bot=nobody", 404) == "not_found"
        assert (await page.stranger.get("/api/tools")).status_code == 401

    builtin = {tool.pop("name"): tool for tool in found["builtin"]}
    text = "Returns the current date and time"
    assert builtin["time"] == {"description": text, "enabled": True, "approval": False, "admins_only": False}
    assert (builtin["exec"]["approval"], builtin["exec"]["admins_only"]) == (True, True)
    assert [name for name, tool in builtin.items() if tool["enabled"]] == ["time", "exec"]
    assert [(skill["name"], skill["description"]) for skill in found["skills"]] == [("publish", "Publish a page")]
    assert found["skills"][0]["missing"] == ["no-such-program"]
    assert (found["bot"], found["bots"], found["servers"]) == ("pond", ["pond", "heron"], [])
    assert heron["servers"] == [{"name": "fake", "state": "unknown", "since": None, "reason": "", "tools": {}}]


async def test_a_worker_tells_the_page_which_tool_servers_answer(
    process: Process, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.heartbeat.EVERY_S", 0.05)

    async def connect(*_: Any, **__: Any) -> ScriptedModel:
        return ScriptedModel("done")

    process = replace(equipped(process, **bots(tmp_path)), connect_model=connect)
    await lab.publish("m")

    async def states(page: Page) -> dict[str, Any]:
        return {each.pop("name"): each for each in (await page.get("/api/tools"))["servers"]}

    found: dict[str, Any] = {}
    async with anyio.create_task_group() as tg, page_of(process) as page:
        await tg.start(service.serve, process)

        async def told() -> bool:
            return {each["state"] for each in (await states(page)).values()} == {"available", "failing"}

        await until(told)
        found.update(await states(page))
        process.stopping.set()

    assert found["fake"]["tools"] == {"fake_fine.one": "fine.one", "fake_far": "far"}
    assert (found["fake"]["reason"], found["gone"]["tools"]) == ("", {})
    assert found["gone"]["reason"] and found["gone"]["since"]


async def test_a_tool_server_fails_from_its_death_until_it_is_connected_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_server_connection, "BACK_OFF_MIN_S", 0.0)
    async with desk(tmp_path, fake=program()) as at:
        [before] = at.servers.states()
        await at.tools()
        [listed] = at.servers.states()
        await at.act("die")
        [died] = at.servers.states()
        await at.act("error")
        [again] = at.servers.states()

    assert [each.state for each in (before, listed, died, again)] == ["unknown", "available", "failing", "available"]
    assert died.reason and died.tools == listed.tools


async def test_the_time_of_a_state_is_when_it_was_seen_first(tmp_path: Path) -> None:
    async with desk(tmp_path, fake=program()) as at:
        [first] = at.servers.states()
        at.clock.advance(60)
        [same] = at.servers.states()
        await at.tools()
        [other] = at.servers.states()

    assert first.since == same.since < other.since


async def test_an_operator_can_contact_the_tool_servers_of_a_bot(process: Process, tmp_path: Path) -> None:
    async with page_of(equipped(process, **bots(tmp_path))) as page:
        response = await page.client.post("/api/tools/check", json={"bot": "pond"})
        assert await page.refused("/api/tools/check", 404, method="POST", json={"bot": "nobody"}) == "not_found"
        audit = (await page.get("/api/audit"))["audit"]

    states = {(each["check"], each["state"]) for each in response.json()["findings"]}
    assert states >= {("tool server fake of pond", "ok"), ("tool server gone of pond", "warning")}
    assert ("tools.check", "pond") in {(each["action"], each["target"]) for each in audit}
