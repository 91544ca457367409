"""``millpond init`` and the settings of the page for Feishu, against a server of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

from tests.fakes.feishu import FakeFeishu, fake_feishu
from tests.integration import test_init
from tests.integration.test_init import QUIET, Place, mode
from tests.tables import each_row

portal, place = test_init.portal, test_init.place


@pytest.fixture
def feishu(portal: BlockingPortal) -> Iterator[FakeFeishu]:
    with portal.wrap_async_context_manager(fake_feishu()) as server:
        yield server


def at(feishu: FakeFeishu, *, secret: str = "") -> tuple[str, ...]:
    app = feishu.app
    return (*("--feishu-app-id", app.id, "--feishu-app-secret", secret or app.secret, "--feishu-url", feishu.base_url),)


def test_flags_alone_give_a_configuration_that_can_be_used(place: Place, feishu: FakeFeishu) -> None:
    done = place("init", "--offline", *at(feishu), "--feishu-owner", "ou_4711", "--access", "private")

    assert (done.returncode, done.stderr) == (0, "")
    assert "The bot is pond." in done.stdout
    assert place.tables["bots"]["pond"]["admins"] == ["feishu:ou_4711"]
    assert place.tables["channels"] == {
        "feishu": {
            "type": "feishu", "bot": "pond", "base_url": feishu.base_url, "app_id": feishu.app.id,
            "app_secret_file": "feishu.app.secret", "access": {"policy": "allow", "allow": ["ou_4711"]},
        }
    }  # fmt: skip
    assert (place.data / "feishu.app.secret").read_text().strip() == feishu.app.secret
    assert mode(place.data / "feishu.app.secret") == 0o600
    assert place("config", "check").stdout.startswith(f"ok: {place.config}\n")
    assert feishu.app.secret not in done.stdout + place("config", "show").stdout + place.config.read_text()


def test_events_by_http_need_the_encrypt_key(place: Place, feishu: FakeFeishu, tmp_path: Path) -> None:
    flags = (*at(feishu), "--feishu-events-url", "https://bot.example.org/feishu", "--feishu-owner", "ou_4711")
    (tmp_path / "key").write_text("a key of the app\n")

    without = place("init", "--offline", *flags)
    done = place("init", "--offline", *flags, "--feishu-encrypt-key-file", str(tmp_path / "key"))

    assert without.returncode != 0 and "--feishu-encrypt-key is not set" in without.stderr
    assert (done.returncode, done.stderr) == (0, "")
    channel = place.tables["channels"]["feishu"]
    assert channel["events"] == {"url": "https://bot.example.org/feishu"}
    assert (place.data / channel["encrypt_key_file"]).read_text().strip() == "a key of the app"
    assert place("config", "check").returncode == 0


@each_row(
    "change, words",
    [
        (("--feishu-app-secret", "wrongwrongwrongwrong"), "error 10014"),
        (("--feishu-app-id", "cli_0000000000000000"), "error 10014"),
        (("--feishu-app-id", "ou_1"), "not an app ID"),
        (("--feishu-app-secret", "short"), "not an App Secret"),
        (("--feishu-owner", "U1"), "a Feishu open_id looks like"),
        (("--feishu-url", "http://127.0.0.1:1"), "cannot be reached"),
    ],
)
def test_an_answer_that_does_not_work_is_told(
    place: Place, feishu: FakeFeishu, change: tuple[str, str], words: str
) -> None:
    done = place("init", "--offline", *at(feishu), *change)

    assert done.returncode != 0 and words in done.stderr
    assert "Traceback" not in done.stderr
    assert not place.config.exists()


def test_missing_permissions_are_listed(place: Place, feishu: FakeFeishu) -> None:
    feishu.app.scopes.discard("cardkit:card:write")

    done = place("init", "--offline", *at(feishu), "--feishu-owner", "ou_4711")

    assert "lacks permissions: cardkit:card:write" in done.stdout


def test_the_owner_is_whoever_sends_the_code(place: Place, feishu: FakeFeishu, portal: BlockingPortal) -> None:
    ann = feishu.world.person("ou_ann", "Ann")
    chat = feishu.world.chat("oc_ann", "p2p")
    with place.sits("init", *QUIET, "--access", "pairing", *at(feishu)) as terminal:
        code = terminal.shows(r"  ([A-HJ-KM-NP-TV-Z2-9]{12})\s")[1]
        portal.call(lambda: chat.say("hello", by=ann))
        portal.call(lambda: chat.say(f"here it is: {code.lower()}", by=ann))
        terminal.shows(r"You are Ann \(ou_ann\)")
        assert terminal.ends() == 0, terminal.screen

    assert place.tables["bots"]["b"]["admins"] == ["feishu:ou_ann"]
    [greeting] = chat.shown()
    assert greeting.text.startswith("Hello, Ann!")
    assert len(feishu.app.waiting) == 1, "only the message with the code is acknowledged"
