"""Choices of the bot's questions over the API: one answer to a question, by somebody who may give it."""

from dataclasses import replace
from typing import Any

import msgspec

from daemon.bus import pairs
from daemon.config import ExecConfig
from daemon.events import Notice
from daemon.operators import Approvals
from daemon.process import Process
from daemon.session import SessionNotice, pending_of, tell
from tests.conftest import Lab
from tests.integration.test_web_access import Web, web_of
from tests.integration.test_web_api import error_of
from tests.limits import HANG_S
from workers.choices import choice

ANN = "web:ann"


async def asked(process: Process, *commands: str, who: str = "") -> str:
    """Ask a question with these choices; the ID of its notice."""
    choices = tuple(choice("choice_approve", command, language="en", who=who) for command in commands)
    notice = Notice(kind="message", text="May it run?", time="2026-01-01T00:00:00.000Z", choices=choices)
    await tell(process.bus, process.config.queue, ANN, SessionNotice(notice=notice, reply=None, out_channel=""))
    found: Any = await process.bus.call("XREVRANGE", process.bus.keys.notices(ANN), "+", "-", "COUNT", 1)
    return found[0][0].decode()


async def waits(lab: Lab, session: str, approval_id: str, *, bot: str = "pond", within_s: float = HANG_S) -> None:
    """Let a command wait for approval in a session with a turn in progress."""
    await lab.publish(f"m-{approval_id}", session=session)
    await lab.claim(session)
    asks = choice("choice_approve", f"/approve {approval_id}", language="en")
    notice = Notice(kind="message", text=f"May {approval_id} run?", time="2026-01-01T00:00:00.000Z", choices=(asks,))
    await tell(lab.bus, lab.queue, session, SessionNotice(notice=notice, reply=None, out_channel=""))
    await Approvals(lab.bus).ask(approval_id, bot=bot, call=f"{session}#0 c", within_s=within_s, asker="a")


def approving(process: Process) -> Process:
    """The same process, whose bot asks the operator for an approval of each command."""
    asks = {"admins": ("web:operator",), "exec": ExecConfig(approval=True)}
    bots = {name: msgspec.structs.replace(bot, **asks) for name, bot in process.config.bots.items()}
    return replace(process, config=msgspec.structs.replace(process.config, bots=bots))


async def test_commands_of_all_conversations_wait_in_one_list_for_an_administrator(process: Process, lab: Lab) -> None:
    await waits(lab, "telegram:7", "0000000a")
    await waits(lab, "web:bob", "0000000b")
    await waits(lab, "telegram:8", "0000000c", bot="otter")
    await waits(lab, "web:late", "0000000d", within_s=0.0)
    async with web_of(process) as web:
        await web.log_in()
        assert (await web.browser.get("/api/approvals")).json() == {"approvals": []}
        assert error_of(await decide(web, "0000000a", "approve"), 403) == "choice_not_yours"
        assert not (await web.browser.get("/api/me")).json()["approves"]
    async with web_of(approving(process)) as web:
        assert error_of(await web.browser.get("/api/approvals"), 401) == "unauthorized"
        await web.log_in()

        listed = (await web.browser.get("/api/approvals")).json()["approvals"]
        assert {(each["session"], each["id"]) for each in listed} == {
            ("telegram:7", "0000000a"),
            ("web:bob", "0000000b"),
        }
        assert all(each["text"] == f"May {each['id']} run?" and each["left_s"] > 0 for each in listed)
        assert (await web.browser.get("/api/me")).json()["approves"]
        for approval_id, decision, status in (
            ("0000000a", "maybe", 400), ("0000000c", "approve", 404), ("0000000d", "approve", 404), ("x", "deny", 404)
        ):  # fmt: skip
            error_of(await decide(web, approval_id, decision), status)
        answers = [await decide(web, "0000000a", "approve"), await decide(web, "0000000b", "deny")]
        again = await decide(web, "0000000b", "approve")

    notice = next(each["notice"] for each in listed if each["id"] == "0000000b")
    assert [(each.status_code, each.json()["session"], each.json()["id"]) for each in answers] == [
        (202, "web:operator", "approval-0000000a"),
        (202, "web:bob", f"choice-{notice}"),
    ]
    assert again.json()["status"] == "duplicate"
    assert await commands_in(lab) == {("/approve 0000000a", "operator"), ("/deny 0000000b", "operator")}


async def commands_in(lab: Lab) -> set[tuple[str, str]]:
    """The text and the sender of each accepted command."""
    found: set[tuple[str, str]] = set()
    for partition in range(lab.bus.keys.partitions):
        entries: Any = await lab.bus.call("XRANGE", lab.bus.keys.inbox(partition), "-", "+")
        read = [msgspec.json.decode(dict(pairs(fields))[b"message"]) for _, fields in entries]
        found |= {(each["text"], each["sender_id"]) for each in read if each["text"].startswith("/")}
    return found


async def decide(web: Web, approval_id: str, decision: str) -> Any:
    body, own = {"decision": decision}, {"Origin": web.address}
    return await web.browser.post(f"/api/approvals/{approval_id}", json=body, headers=own)


async def choose(web: Web, notice: str, command: str) -> Any:
    body, own = {"notice": notice, "command": command}, {"Origin": web.address}
    return await web.browser.post("/api/sessions/web%3Aann/choice", json=body, headers=own)


async def test_a_question_is_answered_once_by_whoever_may_answer_it(process: Process, lab: Lab) -> None:
    async with web_of(process) as web:
        await web.log_in()
        question = await asked(process, "/forget 1 @12345678", "/forget all @12345678", who="operator")
        others = await asked(process, "/forget 1 @12345678", who="bob")
        admins = await asked(process, "/approve heron")

        for notice, command, status, code in (
            (others, "/forget 1 @12345678", 403, "choice_not_yours"),
            (admins, "/approve heron", 403, "choice_not_yours"),
            (question, "/forget 2 @12345678", 409, "choice_old"),
            ("1-0", "/forget 1 @12345678", 409, "choice_old"),
            ("x", "/forget 1 @12345678", 400, "bad_request"),
        ):
            assert error_of(await choose(web, notice, command), status) == code, (notice, command)
        first = await choose(web, question, "/forget all @12345678")
        again = await choose(web, question, "/forget 1 @12345678")

    assert (first.status_code, first.json()["status"], first.json()["id"]) == (202, "accepted", f"choice-{question}")
    assert (again.status_code, again.json()["status"]) == (202, "duplicate")
    assert [each.text for each in await pending_of(lab.bus, ANN, limit=9)] == ["/forget all @12345678"]


async def test_a_refused_press_leaves_the_question_to_an_administrator(process: Process) -> None:
    question = await asked(process, "/approve heron", "/deny heron")
    async with web_of(process) as web:
        await web.log_in()
        assert error_of(await choose(web, question, "/approve heron"), 403) == "choice_not_yours"
    async with web_of(approving(process)) as web:
        await web.log_in()

        answered = await choose(web, question, "/deny heron")

    assert (answered.status_code, answered.json()["status"]) == (202, "accepted")
