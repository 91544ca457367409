"""Approval of a command by the buttons of a question on Telegram, from the question to the end of the command."""

from pathlib import Path

import anyio
import pytest

from daemon.config import BotConfig, ExecConfig
from daemon.process import Process
from daemon.testing import ScriptedModel
from tests.fakes.telegram import FakeTelegram
from tests.integration.test_exec import DENIED, RAN, stand_in
from tests.integration.test_telegram_walk import NAME, QUEUE, hasty, telegram, walking
from tests.integration.test_tools import calls, results
from tests.limits import HANG_S
from tests.speaking import Speaking, Walk

__all__ = ["QUEUE", "hasty", "telegram"]

NOT_YOURS = "You are not allowed to use this button."


class _Commanding(ScriptedModel, Speaking):
    """Runs one command, and says that it is done."""

    def __init__(self, *script: object) -> None:
        ScriptedModel.__init__(self, *script, then="done")  # type: ignore[arg-type]


COMMAND = calls(("c", "exec", {"command": "echo heron"}))


@pytest.mark.parametrize("row", ["Approve group", "Approve own restarted", "Deny own"])
async def test_an_administrator_decides_by_a_button_once_and_nobody_else_does(
    process: Process,
    telegram: FakeTelegram,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    row: str,
) -> None:
    """By the button in the group or in the administrator's own chat, also one from before a restart."""
    label, where, *restarted = row.split()
    runs = tmp_path / "runs"
    stand_in(tmp_path, monkeypatch, f"echo x >> {runs}; echo heron")
    group, ann, bob = telegram.group(), telegram.direct(telegram.person("Ann")), telegram.person("Bob")
    assert ann.person is not None
    bot = BotConfig(
        tools=("exec",),
        admins=(f"{NAME}:{ann.id}",),
        exec=ExecConfig(allow="everyone", approval=True, approval_s=HANG_S, timeout_s=HANG_S),
    )

    async def told(query: str, text: str) -> None:
        await telegram.until(lambda: telegram.world.queries[query] == text, within_s=HANG_S)

    async def decided(walk: Walk) -> None:
        asked = await walk.answered(group, "/approve")
        own = await walk.answered(ann, "/approve")
        assert asked.labels == own.labels == ["Approve", "Deny"]
        pressed, other = (own, asked) if where == "own" else (asked, own)
        await told(group.press(asked, label, by=bob), NOT_YOURS)
        group.press(asked, label, by=bob, data="|/help")  # no button of this question, which it does not answer
        assert not runs.exists()
        for _ in range(2):
            await told(pressed.chat.press(pressed, label, by=ann.person), "")
        await told(other.chat.press(other, "Approve", by=ann.person), "")
        await telegram.until(lambda: not asked.labels and not own.labels, within_s=HANG_S)
        await walk.answered(other.chat, "already been")

    if restarted:
        with anyio.CancelScope() as killed:
            async with walking(process, telegram, model=_Commanding(COMMAND), bot=bot) as walk:
                group.say("@pond_bot run it", by=bob)
                await walk.answered(group, "/approve")
                killed.cancel()
    with anyio.fail_after(2 * HANG_S):
        async with walking(process, telegram, model=_Commanding(*([] if restarted else [COMMAND])), bot=bot) as walk:
            if not restarted:
                group.say("@pond_bot run it", by=bob)
            await decided(walk)
            await walk.answered(group, "done")
            found = results(await walk.log(f"{NAME}:{group.id}"))["c"]

    assert found.startswith(RAN if label == "Approve" else DENIED)
    assert (runs.read_text() if runs.exists() else "") == ("x\n" if label == "Approve" else "")
