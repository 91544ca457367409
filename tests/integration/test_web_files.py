"""Files of the page's messages: uploaded before a message, sent with it, and read back by operators alone."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from channels.inbound import accept, make_inbound
from daemon.config import AgentConfig
from daemon.inbox import mark_of
from daemon.process import Process
from daemon.scope import folder_of
from tests.tables import each_row
from tests.weblab import Page, page_of

PNG = b"\x89PNG\r\n\x1a\n" + b"heron"
FILE = "/api/sessions/ann/file"
MAX_BYTES = 1_000


@pytest.fixture
async def page(process: Process) -> AsyncIterator[Page]:
    config = msgspec.structs.replace(process.config, agent=AgentConfig(attachment_max_bytes=MAX_BYTES))
    async with page_of(replace(process, config=config)) as page:
        yield page


async def upload(page: Page, content: bytes, *, at: str = FILE, **query: str) -> dict[str, Any]:
    query = {"id": "m-1", "name": "heron.png", "kind": "image"} | query
    response = await page.client.post(at, params=query, content=content)
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


def folder(page: Page, scope: str = "pond:person:web:ann") -> Path:
    return page.process.workspace("pond") / "files" / folder_of(scope)


async def test_an_upload_lies_where_the_turn_of_its_message_looks_for_it(page: Page) -> None:
    file = await upload(page, PNG)
    said = {"session": "ann", "id": "m-1", "text": "", "files": [file]}
    accepted = await page.client.post("/api/messages", json=said)

    assert accepted.status_code == 202, accepted.text
    assert mark_of("web:ann", "m-1") in file["path"]
    assert (folder(page) / file["path"]).read_bytes() == PNG
    assert file | {"path": ""} == {"path": "", "name": "heron.png", "kind": "image", "size_bytes": len(PNG)}


@each_row("name, content, kind, place", [
    ("heron.png", PNG, "image/png", "inline"),
    ("小明.webp", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp", "inline"),
    ("heron.svg", b"<svg onload='alert(1)'/>", "application/octet-stream", "attachment"),
    ("heron.html", b"<script>alert(1)</script>", "application/octet-stream", "attachment"),
])  # fmt: skip
async def test_only_pictures_are_shown_by_a_browser(page: Page, name: str, content: bytes, kind: str, place: str):
    file = await upload(page, content, name=name)
    response = await page.client.get(FILE, params={"path": file["path"]})

    assert response.content == content
    assert response.headers["content-type"] == kind
    assert response.headers["content-disposition"].partition(";")[0] == place
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_no_path_leads_out_of_the_files_of_the_session(page: Page) -> None:
    file = await upload(page, PNG)
    outside = page.process.workspace("pond") / "files" / "secret.txt"
    outside.write_text("gardenia")
    (folder(page) / "link.txt").symlink_to(outside)

    paths = ("", "../secret.txt", "inbox/../../secret.txt", str(outside), "link.txt", "skills/x", "memory/MEMORY.md")
    for path in (*paths, "inbox", "nothing.png"):
        assert await page.refused(FILE, 404, params={"path": path}) == "no_file", path
    assert await page.refused("/api/sessions/bob/file", 404, params={"path": file["path"]}) == "no_file"


async def test_uploads_have_limits_and_a_message_has_only_its_own_files(page: Page) -> None:
    named = {"id": "m-1", "name": "a.txt"}
    file = await upload(page, b"the sluice")

    assert await page.refused(FILE, 413, method="POST", params=named, content=b"x" * (MAX_BYTES + 1)) == (
        "message_too_large"
    )
    assert await page.refused(FILE, 400, method="POST", params=named, content=b"") == "bad_request"
    assert await page.refused(FILE, 400, method="POST", params={"name": "a.txt"}, content=b"x") == "bad_request"
    wrong = named | {"kind": "song"}
    assert await page.refused(FILE, 400, method="POST", params=wrong, content=b"x") == "bad_request"
    elsewhere = "/api/sessions/support:eve/file"
    assert await page.refused(elsewhere, 403, method="POST", params=named, content=b"x") == "foreign_session"
    for other in ({"session": "ann", "id": "m-2"}, {"session": "bob", "id": "m-1"}):
        said = {**other, "text": "look", "files": [file]}
        assert await page.refused("/api/messages", 400, method="POST", json=said) == "bad_request", other


async def test_a_retry_brings_the_files_of_the_message_that_it_repeats(page: Page) -> None:
    file = await upload(page, PNG)
    said = {"session": "ann", "id": "m-2", "text": "look", "files": [file], "retry_of": "m-1"}

    assert (await page.client.post("/api/messages", json=said)).status_code == 202


async def test_strangers_neither_upload_nor_read(page: Page) -> None:
    file = await upload(page, PNG)

    assert (await page.stranger.get(FILE, params={"path": file["path"]})).status_code == 401
    assert (await page.stranger.post(FILE, params={"id": "m-1"}, content=PNG)).status_code == 401


async def test_a_message_that_waits_is_edited_by_its_id(page: Page) -> None:
    said = {"session": "ann", "id": "m-1", "text": "the secnd sluice"}
    await page.client.post("/api/messages", json=said)

    edited = await page.client.put("/api/messages", json=said | {"text": "the second sluice"})
    unknown = await page.client.put("/api/messages", json=said | {"id": "m-9"})

    assert edited.json() == {"id": "m-1", "session": "web:ann", "status": "amended"}
    assert unknown.json()["status"] == "unknown"
    exported = await page.process.bus.call("XRANGE", page.process.bus.keys.of("web:ann").inbox, "-", "+")
    assert b"the second sluice" in str(exported).encode()
    assert b"secnd" not in str(exported).encode()


async def test_the_files_of_a_session_of_another_channel_can_be_read(process: Process, page: Page) -> None:
    channel = next(name for name in process.config.channels if name != "web")
    await accept(process, make_inbound(process, channel=channel, chat="eve", text="hello", sender_id="eve"))
    place = folder(page, f"pond:person:{channel}:eve") / "walk.txt"
    place.parent.mkdir(parents=True)
    place.write_text("to the mill")

    response = await page.client.get(f"/api/sessions/{channel}:eve/file", params={"path": "walk.txt"})

    assert response.text == "to the mill"
