"""The contents of the queues for operators: every message without its text, the text on request, and log lines."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from daemon.events import Attachment, Reply
from daemon.operators import OperatorAudit
from daemon.overview import Contents
from daemon.process import Process
from daemon.session import Sessions
from tests.conftest import Lab
from tests.integration.test_dead_letters import die
from tests.weblab import Page, page_of

SECRET = "My PIN is 4711."


@pytest.fixture
async def page(process: Process) -> AsyncIterator[Page]:
    async with page_of(process) as page:
        yield page


async def reply_to(lab: Lab, text: str) -> None:
    reply = Reply(id="support:eve#4", session="support:eve", turn=4, text=text, correlation="c-4")
    await lab.bus.call("XADD", lab.bus.keys.out(0, "support"), "*", "reply", msgspec.json.encode(reply))


async def test_queues_list_their_messages_without_texts(page: Page, lab: Lab) -> None:
    picture = Attachment(kind="image", path="a.png")
    await lab.publish("a", text=SECRET, attachments=(picture,))
    await lab.publish("b", session="web:bob", text="/status", command="new")
    await lab.bus.call("XADD", lab.bus.keys.inbox(0), "*", "session", "web:odd", "id", "c", "message", "{}")

    found = await page.get("/api/queues/backlog")
    [ann, bob, odd] = found["entries"]
    [one] = (await page.get("/api/queues/backlog", session="bob"))["entries"]
    await lab.bus.call("DEL", lab.bus.keys.inbox(0))

    assert (ann["message"], ann["session"], ann["kind"]) == ("a", "web:ann", "message")
    assert (ann["chars"], ann["attachments"]) == (len(SECRET), 1)
    assert (bob["kind"], one) == ("command", bob)
    assert (odd["session"], odd["kind"], odd["chars"]) == ("web:odd", "unreadable", 0)
    assert ann["time"] <= bob["time"]
    assert SECRET not in json.dumps(found)


async def test_replies_are_listed_for_their_channel(process: Process, lab: Lab) -> None:
    await reply_to(lab, SECRET)
    contents = Contents(lab.bus, lab.queue, ["support"])

    [reply] = await contents.messages("replies", limit=10)
    shown = await contents.text("replies", reply.id)
    elsewhere = await Contents(lab.bus, lab.queue, []).text("replies", reply.id)

    assert (reply.session, reply.message, reply.kind) == ("support:eve", "support:eve#4", "reply")
    assert (reply.sender, reply.chars, reply.correlation) == ("", len(SECRET), "c-4")
    assert reply.id.startswith("support:")
    assert (shown, elsewhere) == (("support:eve", SECRET), None)


async def test_queues_of_sessions_name_times_holders_and_reasons(page: Page, lab: Lab) -> None:
    for name in ("held", "parked", "ready"):
        await lab.publish("a", session=f"web:{name}")
    await lab.publish("b", session="web:ready")
    await Sessions(lab.bus, msgspec.structs.replace(lab.queue, lease_s=60.0), worker="w-1").claim("web:held")
    await lab.sessions.park(await lab.claim("web:parked"), delay_s=60.0, reason="setup: no key")
    await lab.bus.call("ZADD", lab.bus.keys.unsettled(0), 5_000, "web:old")

    found = {
        queue: (await page.get(f"/api/queues/{queue}"))["entries"]
        for queue in ("ready", "in_flight", "due", "parked", "unsettled")
    }
    await lab.bus.call("ZREM", lab.bus.keys.unsettled(0), "web:old")

    names = {queue: [row["session"] for row in rows] for queue, rows in found.items()}
    assert names == {
        "ready": ["web:ready"], "in_flight": ["web:held"], "parked": ["web:parked"], "unsettled": ["web:old"],
        "due": names["due"],
    }  # fmt: skip
    assert sorted(names["due"]) == ["web:held", "web:parked", "web:ready"]
    assert (found["ready"][0]["waiting"], found["in_flight"][0]["worker"]) == (2, "w-1")
    assert (found["parked"][0]["reason"], found["ready"][0]["reason"]) == ("setup: no key", "")
    assert found["unsettled"][0]["time"] == "1970-01-01T00:00:05.000Z"
    assert all(row["time"] for rows in found.values() for row in rows)


async def test_a_text_is_shown_on_request_and_the_request_is_audited(page: Page, lab: Lab) -> None:
    await die(lab, "dead")
    await lab.publish("a", text=SECRET)
    [waiting] = (await page.get("/api/queues/backlog"))["entries"]
    [letter] = (await page.get("/api/dead"))["dead"]

    shown = await page.get(f"/api/queues/backlog/{quote(waiting['id'])}")
    dead = await page.get(f"/api/queues/dead/{quote(letter['id'])}")
    await page.refused("/api/queues/backlog/1-1", 404)
    await page.refused("/api/queues/backlog/nonsense", 404)
    await page.refused("/api/queues/due/1-1", 404)
    await page.refused("/api/queues/nowhere", 404)

    assert (shown["session"], shown["text"]) == ("web:ann", SECRET)
    assert dead["text"] == "text of dead"
    actions = [(deed.action, deed.target, deed.outcome) for deed in await OperatorAudit(lab.bus).newest(limit=4)]
    assert actions == [
        ("queue.text", "backlog nonsense", "rejected: 404"),
        ("queue.text", "backlog 1-1", "rejected: 404"),
        ("queue.text", f"dead {letter['id']}", "shown: web:ann"),
        ("queue.text", f"backlog {waiting['id']}", "shown: web:ann"),
    ]
    assert SECRET not in repr(actions)


def log_line(event: str, correlation: str) -> str:
    return f'{{"event":"{event}","level":"info","timestamp":"2026-11-20T09:00:00Z","correlation":"{correlation}"}}\n'


@pytest.fixture
def logs(process: Process) -> Path:
    """A folder of log files; the last line of the newest one is incomplete."""
    folder = process.data_dir / "logs"
    folder.mkdir(parents=True)
    lines = [log_line("turn.claimed", "c-1"), log_line("turn.done", "c-10"), log_line("turn.done", "c-1")]
    (folder / "millpond.log").write_text("".join(lines) + '{"correlation":"c-1","event')
    (folder / "millpond.log.1").write_text(log_line("message.accepted", "c-1"))
    return folder


async def test_log_lines_are_found_by_their_correlation_id(page: Page, logs: Path) -> None:
    found = await page.get("/api/logs/c-1")
    newest = await page.get("/api/logs/c-1", limit=1)

    assert [line["event"] for line in found["lines"]] == ["message.accepted", "turn.claimed", "turn.done"]
    assert [line["event"] for line in newest["lines"]] == ["turn.done"]
    assert found["files"] == [str(logs / "millpond.log"), str(logs / "millpond.log.1")]
    await page.refused(f"/api/logs/{'x' * 501}", 400)


async def test_a_link_in_place_of_a_log_file_is_not_followed(page: Page, logs: Path) -> None:
    (logs / "millpond.log").rename(logs / "elsewhere")
    (logs / "millpond.log").symlink_to(logs / "elsewhere")

    assert await page.get("/api/logs/c-1") == {"files": [], "lines": []}
