"""``millpond init`` for Slack, with flags and on a terminal, against servers of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal

import daemon.setup.platforms.slack_interview
from tests.fakes.slack import FakeSlack, Refuse, fake_slack
from tests.fakes.telegram import fake_telegram
from tests.integration import test_init
from tests.integration.test_init import QUIET, Place, mode
from tests.tables import each_row

TOKEN = "xoxb-123456789012-AbCdEfGhIjKlMnOpQrStUvWx"
APP_TOKEN = "xapp-1-A0123456789-987654321098-0123456789abcdef"
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
portal, place = test_init.portal, test_init.place


@pytest.fixture
def slack(portal: BlockingPortal) -> Iterator[FakeSlack]:
    with portal.wrap_async_context_manager(fake_slack()) as server:
        yield server


def at(slack: FakeSlack, *, token: str = "", app_token: str = "") -> tuple[str, ...]:
    return (
        *("--slack-token", token or slack.bot.token, "--slack-app-token", app_token or slack.app.token),
        *("--slack-url", slack.base_url),
    )


def test_flags_alone_give_a_configuration_that_can_be_used(place: Place, slack: FakeSlack) -> None:
    done = place("init", "--offline", *at(slack), "--slack-owner", "U4711", "--access", "private")

    assert (done.returncode, done.stderr) == (0, "")
    assert slack.bot.person.name in done.stdout
    assert f"https://slack.com/app_redirect?app={slack.app.id}&team={slack.team.id}" in done.stdout
    assert place.tables["bots"]["pond"]["admins"] == ["slack:U4711"]
    assert place.tables["channels"] == {
        "slack": {
            "type": "slack", "bot": "pond", "base_url": slack.base_url, "bot_token_file": "slack.bot.token",
            "app_token_file": "slack.app.token", "access": {"policy": "allow", "allow": ["U4711"]},
        }
    }  # fmt: skip
    assert (place.data / "slack.bot.token").read_text().strip() == slack.bot.token
    assert (place.data / "slack.app.token").read_text().strip() == slack.app.token
    assert {mode(place.data / name) for name in ("slack.bot.token", "slack.app.token")} == {0o600}
    assert place("config", "check").stdout.startswith(f"ok: {place.config}\n")
    shown = done.stdout + place("config", "show").stdout + place.config.read_text()
    assert slack.bot.token not in shown
    assert slack.app.token not in shown
    assert slack.oddities() == []


def test_what_is_brought_by_http_needs_no_app_token(place: Place, slack: FakeSlack) -> None:
    flags = ("--slack-events-url", "https://bot.example.org/slack", "--slack-signing-secret", SECRET)
    done = place("init", "--offline", *at(slack)[:2], *at(slack)[4:], *flags, "--slack-owner", "U4711")

    assert (done.returncode, done.stderr) == (0, "")
    channel = place.tables["channels"]["slack"]
    assert channel["events"] == {"url": "https://bot.example.org/slack"}
    assert channel["signing_secret_file"] == "slack.signing.secret"
    assert "app_token" not in str(channel)
    assert place("config", "check").returncode == 0


def test_the_manifest_is_printed_and_nothing_is_written(place: Place) -> None:
    over_a_socket = place("init", "--slack-manifest").stdout
    by_http = place("init", "--slack-manifest", "--slack-events-url", "https://host/slack").stdout

    assert over_a_socket == (Path(__file__).parents[2] / "deploy/slack/manifest.yaml").read_text()
    assert "socket_mode_enabled: true" in over_a_socket
    assert "socket_mode_enabled: false" in by_http
    assert "    request_url: https://host/slack\n" in by_http
    assert "      url: https://host/slack\n" in by_http
    assert place.files() == {}


def test_a_wrong_token_is_said_without_showing_it(place: Place, slack: FakeSlack) -> None:
    wrong = place("init", *at(slack, token=TOKEN))
    other = place("init", *at(slack, app_token=APP_TOKEN))

    assert (wrong.returncode, other.returncode) == (1, 1)
    assert "Slack rejected the token (invalid_auth)" in wrong.stderr
    assert "app-level token belongs to app A0123456789" in other.stderr
    assert TOKEN not in wrong.stderr
    assert APP_TOKEN not in other.stderr
    assert place.files() == {}


def test_slack_cannot_be_reached(place: Place) -> None:
    flags = ("--slack-token", TOKEN, "--slack-app-token", APP_TOKEN, "--slack-url", "http://127.0.0.1:9/api")
    done = place("init", *flags)

    assert done.returncode == 1
    assert "http://127.0.0.1:9/api cannot be reached" in done.stderr
    assert TOKEN not in done.stderr


def test_scopes_that_are_missing_are_named(place: Place, slack: FakeSlack) -> None:
    slack.bot.scopes -= {"files:write", "im:history"}

    done = place("init", "--offline", *at(slack), "--slack-owner", "U4711")

    assert done.returncode == 0, done.stderr
    assert "files:write (to upload files), im:history (to receive direct messages)" in done.stdout
    assert "chat:write" not in done.stdout


def test_an_app_that_may_not_hear_is_said(place: Place, slack: FakeSlack) -> None:
    slack.app.app_scopes.clear()

    done = place("init", *at(slack))

    assert done.returncode == 1
    assert "apps.connections.open" in done.stderr
    assert place.files() == {}


@each_row(
    ("flags", "said"),
    [
        (("--slack",), "--slack-token is not set"),
        (("--slack-owner", "U4711"), "--slack-token is not set"),
        (("--slack-token", "hunter2"), "--slack-token: the value is not a bot token"),
        (("--slack-token", APP_TOKEN), "--slack-token: the value is not a bot token"),
        (("--slack-token", TOKEN), "--slack-app-token is not set"),
        (
            ("--slack-token", TOKEN, "--slack-app-token", TOKEN),
            "--slack-app-token: the value is not an app-level token",
        ),
        (("--slack-token", TOKEN, "--slack-events-url", "http://host/x"), "--slack-events-url: expected https://"),
        (("--slack-token", TOKEN, "--slack-events-url", "https://host/x"), "--slack-signing-secret is not set"),
        (
            ("--slack-token", TOKEN, "--slack-app-token", APP_TOKEN, "--slack-owner", "ann"),
            "--slack-owner ann: a Slack",
        ),
        (("--slack", "--slack-channel", "No Name"), "--slack-channel No Name: a name"),
        (("--slack", "--slack-url", "slack.com"), "--slack-url: enter an address that begins with"),
        (("--slack-token", TOKEN, "--slack-token-file", "x"), "cannot be used together"),
    ],
)
def test_an_answer_that_will_not_do_is_told_by_its_flag(place: Place, flags: tuple[str, ...], said: str) -> None:
    done = place("init", "--no-test", *flags)

    assert done.returncode == 78
    assert said in done.stderr
    assert not any(secret in done.stderr for secret in (TOKEN, APP_TOKEN, "hunter2"))
    assert place.files() == {}


def test_a_script_can_wait_for_the_owner_too(
    place: Place, slack: FakeSlack, portal: BlockingPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon.setup.platforms.slack_interview, "new_code", lambda: "ABCDEFGH2345")
    portal.call(slack.direct(slack.person("Ann", id="U4711")).say, "abcdefgh2345")
    by_http = ("--slack-events-url", "https://host/x", "--slack-signing-secret", SECRET)

    done = place("init", "--offline", "--pair", *at(slack))
    other = at(slack, token=slack.install(slack.app, slack.new_team()).token)
    deaf = place("init", "--pair", "--yes", "--slack-channel", "other", *other[:2], *other[4:], *by_http)

    assert (done.returncode, done.stderr) == (0, "")
    assert "ABCDEFGH2345" in done.stdout
    assert place.tables["bots"]["pond"]["admins"] == ["slack:U4711"]
    assert slack.app.waiting == [] or slack.app.waiting[0].payload["event"]["user"] != "U4711"
    assert deaf.returncode == 78
    assert "Identify yourself with --slack-owner ID" in deaf.stderr


def test_the_same_again_changes_nothing_and_another_workspace_is_added(place: Place, slack: FakeSlack) -> None:
    flags = ("init", "--offline", "--yes", *at(slack), "--slack-owner", "U4711")
    place(*flags)
    before = place.files()
    globex = slack.install(slack.app, slack.new_team())
    more = ("--slack-channel", "globex", *at(slack, token=globex.token), "--slack-owner", "U4712")

    again = place(*flags)
    bare = place("init", "--yes")
    same = place("init", "--yes", "--slack-channel", "other", *at(slack))

    assert "already contains exactly these settings" in again.stdout
    assert bare.returncode == 0, bare.stderr
    assert same.returncode == 78
    assert "is already used by channels.slack" in same.stderr
    assert place.files() == before
    assert place("init", "--yes", *more).returncode == 0
    assert list(place.tables["channels"]) == ["slack", "globex"]
    assert place.tables["bots"]["pond"]["admins"] == ["slack:U4711", "globex:U4712"]
    assert place("config", "check").returncode == 0


def test_telegram_stays_as_it_is_when_slack_is_set_up(place: Place, slack: FakeSlack, portal: BlockingPortal) -> None:
    with portal.wrap_async_context_manager(fake_telegram()) as telegram:
        place("init", "--telegram-token", telegram.bot.token, "--telegram-url", telegram.base_url, "--owner", "7")
    before = place.tables["channels"]["telegram"]

    done = place("init", "--yes", *at(slack), "--slack-owner", "U4711")  # Telegram is gone: asking it would fail

    assert done.returncode == 0, done.stderr
    assert place.tables["channels"]["telegram"] == before
    assert place.tables["bots"]["pond"]["admins"] == ["telegram:7", "slack:U4711"]


def test_the_whole_way_on_a_terminal(place: Place, slack: FakeSlack, portal: BlockingPortal) -> None:
    ann, eve = slack.person("Ann", id="U4711"), slack.person("Eve")
    slack.faults.on("auth.test", Refuse("token_revoked"))
    with place.sits("init", *QUIET, "--slack", "--slack-url", slack.base_url) as terminal:
        terminal.shows("Create New App > From a manifest")
        terminal.answer("Bot token", "xapp-1")
        terminal.shows("The value is not a bot token")
        terminal.answer("Bot token", slack.bot.token)
        terminal.shows(r"Slack rejected the token \(token_revoked\)")
        terminal.answer("Which", "again")
        terminal.answer("Bot token", slack.bot.token)
        terminal.shows("The bot is .* in Acme")
        terminal.answer("App token", slack.app.token)
        terminal.shows("receive messages over Socket Mode")
        code = terminal.shows(r"as a direct message, so that the bot can identify you:\s+([A-Z0-9]+)")[1]
        portal.call(slack.connected)
        portal.call(slack.direct(eve).say, "hello, anybody there?")
        portal.call(slack.channel(eve).say, code)
        portal.call(slack.direct(ann).say, code.lower())
        terminal.shows(r"You are Ann \(U4711\)")
        terminal.answer("Which", "")
        assert terminal.ends() == 0, terminal.screen

    assert place.tables["bots"]["b"]["admins"] == ["slack:U4711"]
    assert place.tables["channels"]["slack"]["access"] == {"policy": "pairing"}
    assert slack.bot.token not in terminal.screen
    assert slack.app.token not in terminal.screen
    assert len(slack.direct(ann).texts()) == 1
    # What others said is still there for the daemon.
    waiting = [delivery.payload["event"]["text"] for delivery in slack.app.waiting]
    assert waiting[:2] == ["hello, anybody there?", code]
    assert code.lower() not in waiting
    assert "Name: Ann" in (place.data / "bots/b/USER.md").read_text()
    assert slack.oddities() == []


def test_slack_is_offered_to_who_does_without_telegram(place: Place) -> None:
    with place.sits("init", *QUIET) as terminal:
        terminal.answer(r"Bot token \(press Enter to skip Telegram\)", "")
        terminal.answer(r"Bot token \(press Enter to skip Slack\)", "")
        assert terminal.ends() == 0, terminal.screen

    assert "channels" not in place.tables


def test_who_is_called_by_http_is_asked_for_the_member_id(place: Place, slack: FakeSlack) -> None:
    flags = ("--slack-token", slack.bot.token, "--slack-url", slack.base_url, "--access", "pairing")
    with place.sits("init", *QUIET, *flags, "--slack-events-url", "https://host/slack") as terminal:
        terminal.shows("Copy the Signing Secret")
        terminal.answer("Signing secret", SECRET)
        terminal.answer("Your member ID", "ann")
        terminal.shows("looks like U0123ABCD")
        terminal.answer("Your member ID", "U4711")
        assert terminal.ends() == 0, terminal.screen

    assert place.tables["bots"]["b"]["admins"] == ["slack:U4711"]


def test_ctrl_c_while_waiting_for_the_owner_goes_on_without(place: Place, slack: FakeSlack) -> None:
    with place.sits("init", *QUIET, "--access", "open", *at(slack)) as terminal:
        terminal.shows("Press Ctrl-C to continue without an owner …")
        terminal.interrupt()
        assert terminal.ends() == 0, terminal.screen

    assert "The bot has no administrator on Slack yet" in terminal.screen
    assert place.tables["channels"]["slack"]["access"] == {"policy": "open"}
    assert "admins" not in place.tables["bots"]["b"]


QUESTIONS = ("Bot token", "App token", "Which")


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_ctrl_c_at_any_question_leaves_nothing(place: Place, slack: FakeSlack, number: int) -> None:
    with place.sits("init", *QUIET, "--slack", "--no-pair", "--slack-url", slack.base_url) as terminal:
        answers = (slack.bot.token, slack.app.token)
        for question, answer in zip(QUESTIONS[:number], answers, strict=False):
            terminal.answer(question, answer)
        terminal.shows(QUESTIONS[number])
        assert terminal.ends(interrupted="millpond: stopped") == 130, terminal.screen

    assert place.files() == {}
