"""Settings over the API: who may change them, what is kept and refused, and which secrets go where."""

import stat
import tomllib
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from anyio import to_thread

from daemon.access import Access, PairingCodes, Stranger
from daemon.config import AccessConfig, TelegramConfig
from daemon.people import LinkIndex
from daemon.process import Launch, Process
from daemon.setup.bot_sections import with_bot
from daemon.setup.config_editor import Editor
from tests.fakes.discord import fake_discord
from tests.fakes.feishu import fake_feishu
from tests.fakes.openai_server import Failure, FakeOpenAI, Hang, Plain, Say, fake_openai
from tests.fakes.telegram import FakeTelegram, fake_telegram
from tests.fakes.web_site import page, web_site
from tests.limits import HANG_S
from tests.places import TEMPORARY
from tests.processes import shut_down, start
from tests.tables import each_row
from tests.weblab import MEMBER, Page, page_of

FILE = """\
# The bots of the mill
[bots.pond]
language = "en"  # for guests
admins = [
    "telegram:1",  # the miller
]

[bots.pond.model]
base_url = "http://127.0.0.1:9/v1"
name = "small"
api_key = "sk-inline-secret"

[channels.web]
token = "web-inline-secret"

[channels.telegram]
token = "12345:telegram-inline-secret"
enabled = false
access = { policy = "pairing" }
"""
SECRETS = ("sk-inline-secret", "web-inline-secret", "telegram-inline-secret")
MODEL = {"bot": "pond", "name": "small", "api": "openai"}
TELEGRAM = {"bot": "pond", "channel": "telegram"}

ADDRESSES = (
    *(("GET", path) for path in ("", "/people", "/manifest", "/scopes")),
    ("PUT", ""),
    *(
        ("POST", path)
        for path in (
            "/restart",
            "/bot",
            "/bot/delete",
            "/model",
            "/model/names",
            "/web",
            "/voice",
            "/telegram",
            "/slack",
            "/discord",
            "/feishu",
            "/webhook",
            "/owner",
        )
    ),
    *(("POST", f"/people/{deed}") for deed in ("approve", "ban", "unban", "link", "unlink")),
)


@dataclass(frozen=True, kw_only=True)
class Desk:
    page: Page
    launch: Launch
    file: Path

    @property
    def tables(self) -> dict[str, Any]:
        return tomllib.loads(self.file.read_text())

    async def digest(self) -> str:
        found: str = (await self.page.get("/api/settings"))["digest"]
        return found

    async def change(self, changes: dict[str, Any], status: int = 200) -> Any:
        return await self.sent("PUT", "", {"digest": await self.digest(), "changes": changes}, status)

    async def post(self, path: str, body: dict[str, Any], status: int = 200) -> Any:
        return await self.sent("POST", path, body, status)

    async def sent(self, method: str, path: str, body: dict[str, Any], status: int) -> Any:
        response = await self.page.client.request(method, f"/api/settings{path}", json=body)
        assert response.status_code == status, response.text
        assert not any(secret in response.text for secret in SECRETS)
        return response.json().get("error") or response.json()

    async def audit(self) -> list[tuple[str, str, str]]:
        deeds = (await self.page.get("/api/audit"))["audit"]
        return [(deed["action"], deed["target"], deed["outcome"]) for deed in deeds]


@pytest.fixture
async def desk(process: Process, tmp_path: Path) -> AsyncGenerator[Desk]:
    file = tmp_path / "millpond.toml"
    file.write_text(FILE)
    environ = {"MILLPOND_BOTS__POND__TIME_ZONE": "Asia/Tokyo", "MILLPOND_DATA_DIR": str(tmp_path / "data")}
    launch = Launch(file=file, roles=("web",), environ=environ)
    beside = {"telegram": TelegramConfig(access=AccessConfig(policy="pairing"))}
    async with page_of(replace(process, launch=launch), beside=beside) as page:
        yield Desk(page=page, launch=launch, file=file)


@pytest.fixture
async def model() -> AsyncGenerator[FakeOpenAI]:
    async with fake_openai(lambda _body: Say("yes")) as server:
        yield server


@pytest.fixture
async def telegram() -> AsyncGenerator[FakeTelegram]:
    async with fake_telegram() as server:
        yield server


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as name:
        yield Path(name)
        shut_down(Path(name))


# Rights


async def test_only_operators_read_and_change_settings(desk: Desk) -> None:
    before = desk.file.read_bytes()
    for headers in ({}, {"Authorization": f"Bearer {MEMBER}"}):
        for method, path in ADDRESSES:
            answer = await desk.page.stranger.request(method, f"/api/settings{path}", json={}, headers=headers)
            assert answer.status_code == 401, (method, path)

    foreign = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    answer = await desk.page.client.put("/api/settings", json={"digest": "", "changes": {}}, headers=foreign)

    assert answer.status_code == 403
    assert desk.file.read_bytes() == before


async def test_no_secret_comes_back_only_whether_one_is_set(desk: Desk) -> None:
    response = await desk.page.client.get("/api/settings")

    assert not any(secret in response.text for secret in SECRETS)
    found = response.json()
    assert found["bots"]["pond"]["key_set"]
    assert found["channels"]["telegram"]["set"] == ["token"]
    assert found["locked"]["bots.pond.time_zone"] == "MILLPOND_BOTS__POND__TIME_ZONE"


async def test_a_process_without_a_configuration_of_its_own_changes_none(process: Process) -> None:
    async with page_of(process) as page:
        assert await page.refused("/api/settings", 409) == "not_editable"
        assert await page.refused("/api/settings/restart", 409, method="POST", json={}) == "not_editable"


# Changes


async def test_a_change_keeps_comments_and_a_copy_and_says_who_made_it(desk: Desk) -> None:
    done = await desk.change(
        {"bots.pond.language": "zh", "bots.pond.limits.tokens_per_day.person": 5000, "bots.pond.admins": ["web:a", "b"]}
    )

    text = desk.file.read_text()
    assert "# The bots of the mill" in text
    assert 'language = "zh"  # for guests' in text
    assert desk.tables["bots"]["pond"]["admins"] == ["web:a", "b"]
    assert desk.tables["bots"]["pond"]["limits"] == {"tokens_per_day": {"person": 5000}}
    copy = desk.file.with_name(done["copy"])
    assert copy.read_text() == FILE
    assert {stat.S_IMODE(path.stat().st_mode) for path in (copy, desk.file)} == {0o600}
    deed = ("settings.change", ", ".join(done["keys"]), f"copy {done['copy']}")
    assert deed in await desk.audit()
    assert "bots.pond.language" in done["keys"]


async def test_what_was_changed_on_disk_meanwhile_is_not_overwritten(desk: Desk) -> None:
    digest = await desk.digest()
    desk.file.write_text(FILE.replace("small", "large"))

    error = await desk.sent("PUT", "", {"digest": digest, "changes": {"bots.pond.language": "zh"}}, 409)

    assert error["code"] == "settings_changed"
    assert desk.tables["bots"]["pond"]["language"] == "en"
    body = {**MODEL, "url": "http://127.0.0.1:9/v1", "digest": digest}
    assert (await desk.post("/model", body, 409))["code"] == "settings_changed"


@each_row(
    "path, value, said",
    [
        *((path, "x", "cannot be changed here") for path in (
            "data_dir", "redis.url", "bots.pond.workspace", "bots.pond.mcp.a.command", "bots.pond.model.base_url",
            "bots.pond.model.api_key", "bots.pond.model.api_key_file", "channels.web.token", "channels.web.enabled",
            "channels.telegram.base_url", "channels.telegram.token_file", "channels.telegram.type", "bots.new.language",
            "bots.pond", "bots", "", "__proto__.a", "bots.pond.language\n[redis]\nurl", "../millpond.toml",
        )),
        ("bots.pond.tools", ["time", "shell"], "can be added only in the configuration file"),
        ("bots.pond.time_zone", "Europe/Berlin", "MILLPOND_BOTS__POND__TIME_ZONE"),
        ("bots.pond.language", "fr", "language"),
        ("bots.pond.language", 7, "language"),
        ("bots.pond.admins", "telegram:1", "admins"),
        ("bots.pond.limits.tokens_per_day.person", -1, "person"),
        ("bots.pond.limits.tokens_per_day.person", 10**30, "person"),
        ("bots.pond.limits.reserved_for_memory", 2, "reserved_for_memory"),
        ("bots.pond.limits.tokens_per_day.person", "1\n[redis]\nurl = 2", "person"),
        ("channels.telegram.access.policy", "everyone", "policy"),
    ],
)  # fmt: skip
async def test_a_setting_that_will_not_do_is_refused_and_nothing_is_written(
    desk: Desk, path: str, value: Any, said: str
) -> None:
    error = await desk.change({path: value}, 422)

    assert error["code"] == "bad_setting"
    assert said in error["message"]
    assert desk.file.read_text() == FILE
    assert [each.name for each in desk.file.parent.glob("*millpond.toml*")] == ["millpond.toml"]


async def test_no_text_breaks_out_of_its_value(desk: Desk) -> None:
    evil = 'x"\n[redis]\nurl = "redis://elsewhere"\n# \x00\u2028\\'

    await desk.change({"bots.pond.admins": [evil], "bots.pond.model.prices.currency": '"\n[a]'})

    assert "redis" not in desk.tables
    assert desk.tables["bots"]["pond"]["admins"] == [evil]
    for body in (b'{"digest": "", "changes": {"bots.pond.language": "\\ud800"}}', b'{"digest":"","changes":{"a":{}}}'):
        headers = {"Content-Type": "application/json"}
        answer = await desk.page.client.put("/api/settings", content=body, headers=headers)
        assert answer.status_code in (400, 409), answer.text


# Bots


async def test_a_bot_is_created_with_the_model_of_another_one_and_deleted(desk: Desk, tmp_path: Path) -> None:
    body = {"name": "heron", "like": "pond"}

    done = await desk.post("/bot", {**body, "digest": await desk.digest()})

    model = {"base_url": "http://127.0.0.1:9/v1", "name": "small", "api_key": "sk-inline-secret"}
    assert desk.tables["bots"]["heron"] == {"language": "en", "model": model}
    assert "# The bots of the mill" in desk.file.read_text()
    assert ("settings.change", ", ".join(done["keys"]), f"copy {done['copy']}") in await desk.audit()
    assert set((await desk.page.get("/api/settings"))["bots"]) == {"pond", "heron"}
    assert (tmp_path / "data" / "bots" / "heron" / "AGENTS.md").is_file()
    await desk.post("/bot/delete", {"bot": "heron", "digest": await desk.digest()})
    assert desk.tables == tomllib.loads(FILE)


def test_the_channels_keep_their_bot_when_there_is_a_second_one(tmp_path: Path) -> None:
    file = tmp_path / "millpond.toml"
    file.write_text(FILE.replace("bots.pond", "bots.otter"))
    editor = Editor(file, {}, lambda _config: ())
    settings = editor.read()

    config = editor.change(settings, with_bot(settings.place.tables, settings.loaded.config, "pond", "otter")).config

    assert list(config.bots) == ["otter", "pond"]
    assert {name: channel.bot for name, channel in config.channels.items() if channel.enabled} == {
        "web": "otter",
        "terminal": "otter",
    }


@each_row(
    "path, body, said",
    [
        ("/bot", {"name": "pond", "like": "pond"}, "already exists"),
        ("/bot", {"name": "../etc", "like": "pond"}, "a name must begin with"),
        ("/bot", {"name": "a]\n[redis", "like": "pond"}, "a name must begin with"),
        ("/bot", {"name": "heron", "like": "nobody"}, "was not found"),
        ("/bot/delete", {"bot": "pond"}, "the only bot"),
        ("/bot/delete", {"bot": "nobody"}, "is not in the configuration file"),
    ],
)
async def test_a_bot_that_will_not_do_is_refused(desk: Desk, path: str, body: dict[str, Any], said: str) -> None:
    error = await desk.post(path, {**body, "digest": await desk.digest()}, 422)

    assert said.lower() in error["message"].lower()
    assert desk.file.read_text() == FILE


async def test_a_bot_of_a_channel_is_not_deleted(desk: Desk) -> None:
    await desk.post("/bot", {"name": "heron", "like": "pond", "digest": await desk.digest()})

    error = await desk.post("/bot/delete", {"bot": "pond", "digest": await desk.digest()}, 422)

    assert "web, terminal" in error["message"]
    assert (await desk.post("/bot", {"name": "x", "like": "pond", "digest": "old"}, 409))["code"] == "settings_changed"


# The model


async def test_a_model_is_tried_and_saved_with_its_key_in_a_file(desk: Desk, model: FakeOpenAI) -> None:
    form = {**MODEL, "url": model.base_url, "key": "sk-new-secret"}

    tried = await desk.post("/model", form)

    assert tried["url"] == model.base_url
    assert desk.file.read_text() == FILE
    await desk.post("/model", {**form, "url": tried["url"], "digest": await desk.digest()})
    key = desk.file.with_name("pond.model.key")
    assert key.read_text() == "sk-new-secret\n"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    kept = {"base_url": model.base_url, "name": "small", "api_key_file": key.name}
    assert desk.tables["bots"]["pond"]["model"] == kept
    actions = [(action, target) for action, target, _ in await desk.audit()]
    assert ("settings.try", model.base_url.split("/")[2]) in actions
    assert "sk-new-secret" not in str(await desk.page.get("/api/settings"))

    await desk.post("/model", {**MODEL, "name": "large", "url": model.base_url, "digest": await desk.digest()})
    assert desk.tables["bots"]["pond"]["model"] == {**kept, "name": "large"}

    await desk.post("/model", {"bot": "pond", "url": "-", "digest": await desk.digest()})
    assert "model" not in desk.tables["bots"]["pond"]


async def test_no_other_server_gets_the_key_that_is_set(desk: Desk, model: FakeOpenAI) -> None:
    form = {**MODEL, "url": model.base_url}

    await desk.post("/model", form)
    await desk.post("/model/names", form)
    await desk.post("/model", {**form, "digest": await desk.digest()})

    sent = [str(request.headers) for request in model.requests]
    assert sent
    assert not any("sk-inline-secret" in headers for headers in sent)
    assert desk.tables["bots"]["pond"]["model"]["api_key"] == ""


async def test_a_failing_model_and_wrong_answers_are_told_by_their_field(desk: Desk) -> None:
    async with fake_openai(lambda _body: Failure(401)) as server:
        error = await desk.post("/model", {**MODEL, "url": server.base_url, "key": "sk-wrong-secret"}, 422)
    assert error["code"] == "model_failed"
    assert "sk-wrong-secret" not in error["message"]

    for change, of in (
        ({"url": "ftp://x"}, "model-url"), ({"url": "http://a:b@c"}, "model-url"),
        ({"url": "http://a\nb"}, "model-url"), ({"name": ""}, "model"),
        ({"bot": "no"}, "bot"), ({"bot": "../x"}, "bot"),
    ):  # fmt: skip
        body = {**MODEL, "url": "http://127.0.0.1:9/v1", "digest": await desk.digest(), **change}
        error = await desk.post("/model", body, 422)
        assert (error["code"], error["field"]) == ("bad_setting", of), change
    assert desk.file.read_text() == FILE


async def test_web_search_is_tried_and_saved_and_its_key_goes_to_no_address_of_a_form(desk: Desk) -> None:
    answer = page(b'{"results": [{"title": "t", "url": "https://example.org", "content": "c"}]}', "application/json")
    async with web_site({"/search": answer}) as site:
        url = site.url.replace("pond.example", "127.0.0.1")
        form = {"bot": "pond", "search": "searxng", "url": url, "key": ""}
        await desk.post("/web", form)
        assert any(path.startswith("/search") for path in site.paths)
        await desk.post("/web", {**form, "digest": await desk.digest()})
        assert desk.tables["bots"]["pond"]["web"] == {"search": "searxng", "search_url": url}
        assert "web_search" in desk.tables["bots"]["pond"]["tools"]
        assert "time" in desk.tables["bots"]["pond"]["tools"]

        body = {"bot": "pond", "search": "brave", "url": url, "key": "brave-key-secret"}
        await desk.post("/web", {**body, "digest": await desk.digest()})
    assert desk.tables["bots"]["pond"]["web"] == {"search": "brave", "api_key_file": "pond.web.key"}
    assert (await desk.post("/web", {**form, "url": "file:///etc/passwd"}, 422))["field"] == "web-url"
    assert (await desk.post("/web", form, 422))["code"] == "search_failed"


async def test_voice_messages_are_tried_and_saved_and_the_key_goes_to_no_other_server(desk: Desk) -> None:
    spoken, heard = Plain(b"OggS" + bytes(8)), Plain(b'{"text": "Hello."}', "application/json")
    async with fake_openai(lambda body: spoken if "voice" in body else heard) as server:
        form = {"bot": "pond", "url": server.base_url, "transcription": "whisper-1", "speech": "tts-1", "voice": "nova"}
        tried = await desk.post("/voice", form)
        await desk.post("/voice", {**form, "key": "sk-voice-secret", "digest": await desk.digest()})
        shown = (await desk.page.get("/api/settings"))["bots"]["pond"]["voice"]

    assert tried["findings"] == ["tts-1 spoke a word (12 bytes), and whisper-1 transcribed the word as “Hello.”"]
    assert not any("authorization" in request.headers for request in server.requests)
    where = {"base_url": server.base_url, "api_key_file": "pond.voice.key"}
    assert desk.tables["bots"]["pond"]["speech"] == {"name": "tts-1", "voice": "nova", **where}
    assert shown == {**{name: form[name] for name in form if name != "bot"}, "key_set": True}
    assert (await desk.post("/voice", form, 422))["code"] == "model_failed"
    assert (await desk.post("/voice", {**form, "transcription": ""}, 422))["field"] == "transcription-model"
    assert (await desk.post("/voice", {**form, "url": "file:///etc/passwd"}, 422))["field"] == "voice-url"
    await desk.post("/voice", {"bot": "pond", "url": "-", "digest": await desk.digest()})
    assert "speech" not in desk.tables["bots"]["pond"]


# Channels


async def test_telegram_is_tried_and_saved_with_its_owner(desk: Desk, telegram: FakeTelegram) -> None:
    form = {"bot": "pond", "channel": "tg", "token": telegram.bot.token, "url": telegram.base_url, "access": "private"}

    tried = await desk.post("/telegram", form)
    assert tried["name"]
    assert tried["code"] in tried["link"]
    await desk.post("/telegram", {**form, "owner": "77", "digest": await desk.digest()})

    channel = desk.tables["channels"]["tg"]
    assert channel["access"] == {"policy": "allow", "allow": ["77"]}
    assert desk.file.with_name(channel["token_file"]).read_text() == f"{telegram.bot.token}\n"
    assert "tg:77" in desk.tables["bots"]["pond"]["admins"]


async def test_discord_is_tried_and_saved_with_the_owner_of_the_app(desk: Desk) -> None:
    async with fake_discord() as discord:
        ann = discord.person("Ann")
        form = {
            "bot": "pond",
            "channel": "dc",
            "token": discord.bot.token,
            "url": discord.base_url,
            "access": "private",
        }
        discord.bot.flags = 0

        tried = await desk.post("/discord", form)
        await desk.post("/discord", {**form, "owner": tried["owner"], "digest": await desk.digest()})

    assert (tried["name"], tried["owner"]) == ("Pond", ann.id)
    assert "Message Content Intent" in tried["findings"][0]
    channel = tomllib.loads(desk.file.read_text())["channels"]["dc"]
    assert desk.file.with_name(channel["token_file"]).read_text() == f"{discord.bot.token}\n"
    assert channel["access"] == {"policy": "allow", "allow": [ann.id]}


async def test_no_other_platform_gets_the_token_that_is_set(desk: Desk, telegram: FakeTelegram) -> None:
    error = await desk.post("/telegram", {**TELEGRAM, "url": telegram.base_url}, 422)

    assert (error["code"], error["field"]) == ("bad_setting", "telegram-token")
    body = {**TELEGRAM, "url": telegram.base_url, "kind": "telegram", "code": "ABCDEFGHJKMN"}
    assert (await desk.post("/owner", body, 422))["field"] == "telegram-token"


async def test_a_webhook_is_checked_like_the_file_and_saved(desk: Desk) -> None:
    form = {"bot": "pond", "channel": "bridge", "url": "http://127.0.0.1:9/in", "secret": "short", "port": 8790}
    digest = await desk.digest()

    assert "secret" in (await desk.post("/webhook", {**form, "digest": digest}, 422))["message"]
    for name in ("../x", "A b", "a\n[b]", ""):
        assert (await desk.post("/webhook", {**form, "channel": name, "digest": digest}, 422))["field"] == "channel"
    await desk.post("/webhook", {**form, "secret": "a secret of 32 bytes, at least 16", "digest": digest})

    channel = desk.tables["channels"]["bridge"]
    assert channel["secret_file"] == "bridge.secret"
    assert channel["access"] == {"policy": "pairing"}


# People


async def test_people_are_approved_banned_and_linked_at_once(desk: Desk) -> None:
    bus = desk.page.process.bus
    stranger = Stranger(id="42", name="Ann", session="telegram:42")
    code = await PairingCodes(bus, "telegram").offer(stranger)
    at = {"channel": "telegram"}

    assert (await desk.post("/people/approve", {**at, "code": "ABCD-EFGH"}, 409))["code"] == "code_wrong"
    assert await desk.post("/people/approve", {**at, "code": code.lower()}) == {"id": "42", "name": "Ann"}
    await desk.post("/people/approve", {**at, "id": "43"})
    await desk.post("/people/ban", {**at, "id": "44"})
    assert (await desk.post("/people/unban", {**at, "id": "45"}, 409))["code"] == "not_banned"
    states = {name: entry.state for name, entry in (await Access(bus, "telegram").read()).items()}
    assert states == {"42": "paired", "43": "paired", "44": "banned"}
    shown = (await desk.page.get("/api/settings/people"))["channels"]
    assert {each["id"]: each["state"] for each in shown[0]["people"]} == states
    await desk.post("/people/unban", {**at, "id": "44"})

    await desk.post("/people/link", {"person": "telegram:42", "other": "web:ann"}, 202)
    assert (await desk.post("/people/unlink", {"person": "telegram:43"}, 409))["code"] == "not_linked"
    actions = [(action, target) for action, target, _ in await desk.audit()]
    assert ("people.ban", "telegram: 44") in actions
    assert ("people.link", "pond:person:telegram:42, pond:person:web:ann") in actions
    assert await LinkIndex(bus).links() == {}


async def test_people_who_wait_for_an_approval_are_listed_until_somebody_decides(desk: Desk) -> None:
    bus, at = desk.page.process.bus, {"channel": "telegram"}
    codes = PairingCodes(bus, "telegram")
    for person, name in (("42", "Ann"), ("43", "Bob"), ("44", "Cem")):
        await codes.offer(Stranger(id=person, name=name, session=f"telegram:{person}"))

    async def asking() -> list[str]:
        [channel] = (await desk.page.get("/api/settings/people"))["channels"]
        return sorted(each["name"] for each in channel["asking"])

    assert await asking() == ["Ann", "Bob", "Cem"]
    await desk.post("/people/ban", {**at, "id": "43"})
    assert await desk.post("/people/approve", {**at, "id": "42"}) == {"id": "42", "name": "Ann"}

    assert await asking() == ["Cem"]
    assert (await Access(bus, "telegram").read())["42"].name == "Ann"
    [(_, fields)] = await bus.call("XRANGE", bus.keys.out(bus.keys.partition("telegram:42"), "telegram"), "-", "+")
    assert b"telegram:42" in b"".join(fields.values())


@each_row(
    "deed, body",
    [
        ("approve", {"channel": "telegram"}),
        ("approve", {"channel": "telegram", "id": "1", "code": "ABCD"}),
        ("ban", {"channel": "telegram", "code": "ABCD"}),
        ("ban", {"channel": "telegram", "id": "1 2"}),
        ("ban", {"channel": "telegram", "id": "1\n2"}),
        ("ban", {"channel": "telegram", "id": ""}),
        ("ban", {"channel": "web", "id": "1"}),
        ("ban", {"channel": "../telegram", "id": "1"}),
        ("link", {"person": "telegram:1"}),
        ("link", {"person": "nobody", "other": "web:1"}),
        ("link", {"person": "no:1", "other": "web:1"}),
        ("unlink", {"person": ""}),
    ],
)
async def test_nobody_is_decided_about_who_cannot_be_named(desk: Desk, deed: str, body: dict[str, Any]) -> None:
    await desk.post(f"/people/{deed}", body, 400)


# A restart


async def test_a_restart_uses_the_file_and_a_broken_file_starts_none(desk: Desk) -> None:
    stopping = desk.page.process.stopping
    desk.file.write_text(FILE.replace('"en"', '"fr"'))
    error = await desk.post("/restart", {}, 422)
    assert error["code"] == "bad_setting"
    assert not stopping.is_set()

    desk.file.write_text(FILE.replace('"en"', '"zh"'))
    await desk.post("/restart", {}, 202)

    assert stopping.is_set()
    assert desk.launch.again is not None
    assert desk.launch.again.config.bots["pond"].language == "zh"


async def test_of_two_changes_at_the_same_time_one_is_refused(desk: Desk) -> None:
    digest, codes = await desk.digest(), list[int]()

    async def change(language: str) -> None:
        body = {"digest": digest, "changes": {"bots.pond.language": language, "bots.pond.titles": "words"}}
        codes.append((await desk.page.client.put("/api/settings", json=body)).status_code)

    async with anyio.create_task_group() as tg:
        tg.start_soon(change, "zh")
        tg.start_soon(change, "en")

    assert sorted(codes) == [200, 409]


async def test_a_signal_during_a_restart_ends_the_process_in_order(folder: Path) -> None:
    called = anyio.Event()

    def hang(_body: object) -> Hang:
        called.set()
        return Hang()

    async with fake_openai(hang) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none", "OPENAI_MODEL": "m"}
        daemon = await to_thread.run_sync(lambda: start(folder, MILLPOND_RUN__GRACE_S="3", **environment))
        await to_thread.run_sync(lambda: daemon.post("ann", "hello"))
        with anyio.fail_after(HANG_S):
            await called.wait()
        json = {"Content-Type": "application/json"}
        await to_thread.run_sync(lambda: daemon.opened("/api/settings/restart", b"{}", json).close())

        code = await to_thread.run_sync(daemon.stop)

    assert code == 0


async def test_an_app_of_feishu_is_tried_saved_and_paired(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_feishu() as feishu:
        app = feishu.app
        form = {"bot": "pond", "channel": "feishu", "url": feishu.base_url, "app_id": app.id, "app_secret": app.secret}

        tried = await desk.post("/feishu", form)
        wrong = await desk.post("/feishu", form | {"app_secret": "x" * 32}, 422)
        feishu.world.chat("oc_1", "p2p").say(tried["code"], by=feishu.world.person("ou_ann", "Ann"))
        asked = {"kind": "feishu", "code": tried["code"], "token": app.secret, "app_id": app.id}
        owner = await desk.post("/owner", {"bot": "pond", "channel": "feishu", "url": feishu.base_url} | asked)
        await desk.post("/feishu", form | {"owner": "ou_ann", "digest": await desk.digest()})

        assert (tried["name"], tried["findings"]) == ("pond", [])
        assert "10014" in wrong["message"] and app.secret not in wrong["message"]
        assert owner == {"owner": {"id": "ou_ann", "name": "Ann"}}
    saved = desk.tables["channels"]["feishu"]
    assert (saved["type"], saved["app_id"], saved["app_secret_file"]) == ("feishu", app.id, "feishu.app.secret")
    assert "feishu:ou_ann" in desk.tables["bots"]["pond"]["admins"]
    known = (await desk.page.get("/api/settings"))["channels"]["feishu"]
    assert (known["app_id"], known["set"]) == (app.id, ["app_secret"])
