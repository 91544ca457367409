"""Choices of the bot's questions over the API: one answer to a question, by somebody who may give it."""

from dataclasses import replace
from typing import Any

import msgspec

from daemon.events import Notice
from daemon.process import Process
from daemon.session import SessionNotice, pending_of, tell
from tests.conftest import Lab
from tests.integration.test_web_access import Web, web_of
from tests.integration.test_web_api import error_of
from workers.choices import choice

ANN = "web:ann"


async def asked(process: Process, *commands: str, who: str = "") -> str:
    """Ask a question with these choices; the ID of its notice."""
    choices = tuple(choice("choice_approve", command, language="en", who=who) for command in commands)
    notice = Notice(kind="message", text="May it run?", time="2026-01-01T00:00:00.000Z", choices=choices)
    await tell(process.bus, process.config.queue, ANN, SessionNotice(notice=notice, reply=None, out_channel=""))
    found: Any = await process.bus.call("XREVRANGE", process.bus.keys.notices(ANN), "+", "-", "COUNT", 1)
    return found[0][0].decode()


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
    bots = {name: msgspec.structs.replace(bot, admins=("web:operator",)) for name, bot in process.config.bots.items()}
    async with web_of(replace(process, config=msgspec.structs.replace(process.config, bots=bots))) as web:
        await web.log_in()

        answered = await choose(web, question, "/deny heron")

    assert (answered.status_code, answered.json()["status"]) == (202, "accepted")
