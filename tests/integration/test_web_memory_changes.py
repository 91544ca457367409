"""What operators change of memories over the API: edits, older versions, what is forgotten; and who may not."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from channels.web import ordered_jobs
from daemon.job_handlers import job_runner
from daemon.memory import Memories
from daemon.memory.memory_file import MAX_BYTES
from daemon.process import Process
from tests.conftest import Lab
from tests.forgetlab import ANN, BOB, BOBS, CANARY, SCOPE, Pond, pond
from tests.limits import HANG_S
from tests.weblab import Page, at, page_of

ORIGIN = "https://elsewhere.example"


@pytest.fixture
def here(process: Process, tmp_path: Path) -> Process:
    return pond(process, tmp_path)


@pytest.fixture
async def page(here: Process) -> AsyncGenerator[Page]:
    async with page_of(here) as page:
        yield page


@pytest.fixture
def memories(here: Process) -> Memories:
    return Memories(here.bus, here.archive)


async def write(memories: Memories, text: str, *, scope: str = SCOPE) -> int:
    of = (await memories.current(scope)).version
    return await memories.edit(scope, of=of, text=text, by="test", time="2026-11-20T09:00:00.000Z")


async def put(page: Page, text: str, expect: int, *, scope: str = SCOPE) -> Any:
    return await page.client.put(at(scope), json={"text": text, "expect": expect})


async def audit(page: Page) -> list[tuple[str, str, str]]:
    """Action, target and outcome of what was done, oldest first."""
    found = (await page.get("/api/audit"))["audit"]
    return [(each["action"], each["target"], each["outcome"]) for each in found][::-1]


async def test_an_edit_becomes_a_version_and_a_file(page: Page, memories: Memories, here: Process) -> None:
    await write(memories, "- old\n")

    answer = await put(page, "- new\n", 1)

    assert (answer.status_code, answer.json()) == (200, {"scope": SCOPE, "version": 2, "changed": True})
    version = await memories.version(SCOPE, 2)
    assert (version.kind, version.of, version.text, version.by) == ("edit", 1, "- new\n", "operator token")
    files = [path.read_text() for path in here.workspace("pond").rglob("MEMORY.md")]
    assert files == ["- new\n"]
    assert await audit(page) == [("memory.edit", SCOPE, "version 2")]


async def test_the_first_version_may_be_an_edit(page: Page, lab: Lab, memories: Memories, here: Process) -> None:
    await Pond(here, lab).inbound(ANN, "hello")

    answer = await put(page, "- said by hand\n", 0)

    assert answer.json()["version"] == 1
    assert (await memories.current(SCOPE)).text == "- said by hand\n"


async def test_an_edit_of_another_version_than_the_current_one_is_refused(page: Page, memories: Memories) -> None:
    await write(memories, "- one\n")
    await write(memories, "- two\n")

    answer = await put(page, "- of one\n", 1)

    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "changed")
    assert (await memories.current(SCOPE)).text == "- two\n"
    assert await audit(page) == [("memory.edit", SCOPE, "failed: VersionMoved")]


async def test_an_edit_of_the_file_counts_as_a_newer_version(page: Page, memories: Memories, here: Process) -> None:
    await write(memories, "- one\n")
    assert (await put(page, "- two\n", 1)).status_code == 200
    [file] = here.workspace("pond").rglob("MEMORY.md")
    file.write_text("- in the file\n")

    answer = await put(page, "- three\n", 2)

    assert answer.status_code == 409
    assert (await memories.current(SCOPE)).text == "- in the file\n"


async def test_nothing_of_two_edits_at_once_is_lost(page: Page, memories: Memories) -> None:
    await write(memories, "- old\n")
    answers: list[Any] = []

    async def edit(text: str) -> None:
        answers.append(await put(page, text, 1))

    async with anyio.create_task_group() as tg:
        tg.start_soon(edit, "- old\n- a\n")
        tg.start_soon(edit, "- old\n- b\n")

    text = (await memories.current(SCOPE)).text
    done = [answer for answer in answers if answer.status_code == 200]
    assert done and all(answer.status_code in (200, 409) for answer in answers)
    assert sum(line in text for line in ("- a", "- b")) == len(done)


async def test_what_is_no_edit_is_refused(page: Page, memories: Memories) -> None:
    await write(memories, "- old\n")

    for body in (
        {}, {"text": "x"}, {"text": "x", "expect": -1}, {"text": 1, "expect": 1}, {"text": "x", "expect": 1, "y": 2},
    ):  # fmt: skip
        assert await page.refused(at(SCOPE), 400, method="PUT", json=body) == "bad_request"
    large = {"text": "x" * (MAX_BYTES + 1), "expect": 1}
    assert await page.refused(at(SCOPE), 413, method="PUT", json=large) == "message_too_large"
    kind = {"Content-Type": "text/plain"}
    assert (
        await page.refused(at(SCOPE), 415, method="PUT", content=b'{"text":"x","expect":1}', headers=kind) == "not_json"
    )
    assert await page.refused(at("pond:person:web:nobody"), 404, method="PUT", json={"text": "x", "expect": 0})
    assert (await memories.current(SCOPE)).text == "- old\n"
    assert await audit(page) == []


async def test_an_older_version_is_restored_as_a_new_one(page: Page, memories: Memories) -> None:
    await write(memories, "- one\n")
    await write(memories, "- two\n")

    answer = await page.client.post(at(SCOPE, "/restore"), json={"version": 1, "expect": 2})

    assert answer.json() == {"scope": SCOPE, "version": 3, "changed": True}
    assert (await memories.current(SCOPE)).text == "- one\n"
    assert (await memories.version(SCOPE, 3)).kind == "restore"
    assert await page.refused(at(SCOPE, "/restore"), 409, method="POST", json={"version": 1, "expect": 2}) == "changed"
    assert (
        await page.refused(at(SCOPE, "/restore"), 404, method="POST", json={"version": 9, "expect": 3}) == "no_version"
    )
    assert await page.refused(at(SCOPE, "/restore"), 400, method="POST", json={"version": 1}) == "bad_request"
    assert await audit(page) == [
        ("memory.restore", SCOPE, "version 3"),
        ("memory.restore", SCOPE, "failed: VersionMoved"),
        ("memory.restore", SCOPE, "failed: NoSuchVersion"),
    ]


async def looked(page: Page, words: str = CANARY, *, scope: str = SCOPE) -> dict[str, Any]:
    answer = await page.client.post(at(scope, "/forget"), json={"words": words})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def chosen(page: Page, token: str, choose: Any, *, scope: str = SCOPE) -> Any:
    return await page.client.post(at(scope, "/forget"), json={"token": token, "choose": choose})


@pytest.fixture
async def said(here: Process, lab: Lab) -> Pond:
    """Ann and Bob said the same word, and it settled into their memories."""
    place = Pond(here, lab)
    for session in (ANN, BOB):
        await place.turn(session, f"My {CANARY} blooms.", answer="I see.")
        await place.turn(session, f"The {CANARY} is white, and the cat is black.")
    await write(place.memories, f"- a {CANARY}\n- a cat\n")
    await write(place.memories, f"- a {CANARY}\n", scope=BOBS)
    return place


async def test_what_is_chosen_is_forgotten_in_this_scope_alone(page: Page, said: Pond, here: Process) -> None:
    found = await looked(page)
    assert found["found"] and {each["where"] for each in found["found"]} >= {"memory", "messages"}
    assert [each["number"] for each in found["found"]] == list(range(1, len(found["found"]) + 1))

    runner, stopping = job_runner(here), anyio.Event()
    answer = None
    async with anyio.create_task_group() as tg:
        tg.start_soon(runner.run, stopping)
        answer = await chosen(page, found["token"], "all")
        with anyio.fail_after(HANG_S):
            while not (await runner.jobs.find(answer.json()["job"])).has_ended:  # type: ignore[union-attr] # noqa: ASYNC110
                await anyio.sleep(0.05)
        tg.cancel_scope.cancel()

    assert answer is not None and answer.status_code in (200, 202)
    assert CANARY not in (await said.memories.current(SCOPE)).text
    assert "- a cat" in (await said.memories.current(SCOPE)).text
    assert CANARY in (await said.memories.current(BOBS)).text
    assert all("bob" in place for place in await said.places())
    assert (await looked(page))["found"] == []
    assert (await looked(page, scope=BOBS))["found"]
    assert await audit(page) == [("memory.forget", SCOPE, "ordered")]
    assert CANARY not in str(await page.get("/api/audit"))


async def test_nothing_is_forgotten_by_looking(page: Page, said: Pond) -> None:
    before = await said.places(of=SCOPE)

    found = await looked(page)

    assert CANARY in str(found["found"])
    places = [place for place in await said.places(of=SCOPE) if ":forgetting:" not in place]
    assert places == before
    assert await page.get("/api/audit") == {"audit": []}


async def test_a_list_chooses_in_its_own_scope_and_while_it_is_known(page: Page, said: Pond) -> None:
    token = (await looked(page))["token"]

    async def refused(token: str, choose: Any, status: int, *, scope: str = SCOPE) -> str:
        answer = await chosen(page, token, choose, scope=scope)
        assert answer.status_code == status, answer.text
        code: str = answer.json()["error"]["code"]
        return code

    assert await refused(token, "all", 409, scope=BOBS) == "stale"
    assert await refused("another", "all", 409) == "stale"
    for choose in ([0], [99], [-1]):
        assert await refused(token, choose, 400) == "bad_request"
    for choose in ([], "some", None, [1.5]):
        assert await refused(token, choose, 400) == "bad_request"
    newer = (await looked(page))["token"]
    assert await refused(token, "all", 409) == "stale"
    await said.bus.call("DEL", said.bus.keys.forgetting(SCOPE))
    assert await refused(newer, "all", 409) == "stale"
    assert CANARY in (await said.memories.current(BOBS)).text
    assert await said.bus.call("ZCARD", said.bus.keys.jobs) == 0


async def test_what_was_ordered_twice_is_one_job(page: Page, said: Pond, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered_jobs, "END_S", 0.2)
    token = (await looked(page))["token"]

    first, second = await chosen(page, token, [1]), await chosen(page, token, [1])

    assert (first.status_code, first.json()["done"]) == (202, False)
    assert first.json()["job"] == second.json()["job"]
    assert await said.bus.call("ZCARD", said.bus.keys.jobs) == 1


async def test_words_have_to_be_long_enough_to_be_looked_for(page: Page, said: Pond) -> None:
    for body in (
        {"words": ""}, {"words": "x"}, {"words": "x" * 501}, {}, {"words": "cat", "token": "t"}, {"token": "t"},
    ):  # fmt: skip
        assert await page.refused(at(SCOPE, "/forget"), 400, method="POST", json=body) == "bad_request"
    assert (await looked(page, "nowhere at all"))["token"] == ""


async def test_a_page_of_another_site_and_other_methods_change_nothing(page: Page, memories: Memories) -> None:
    await write(memories, "- old\n")

    for method, path in (("PUT", at(SCOPE)), ("POST", at(SCOPE, "/restore")), ("POST", at(SCOPE, "/forget"))):
        body = {"text": "x", "expect": 1} if method == "PUT" else {"words": "old"}
        answer = await page.client.request(method, path, json=body, headers={"Origin": ORIGIN})
        assert answer.status_code == 403, path
    for method, path in (("DELETE", at(SCOPE)), ("GET", at(SCOPE, "/restore")), ("PUT", at(SCOPE, "/forget"))):
        assert (await page.client.request(method, path)).status_code in (404, 405, 415), path

    assert (await memories.current(SCOPE)).text == (await page.get(at(SCOPE)))["text"] == "- old\n"
