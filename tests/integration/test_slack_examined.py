"""What ``millpond doctor`` says of the apps at Slack."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from channels.push_checks import examine
from daemon.cli.doctor.doctor_finding import Finding
from daemon.config import AccessConfig, BotConfig, Config, Secret, SlackConfig, SlackEventsConfig
from tests.fakes.slack import Cut, FakeSlack, Garbled, Page, Refuse, fake_slack
from tests.integration.test_init import Place
from tests.places import TEMPORARY
from tests.processes import shut_down
from tests.tables import each_row

OPEN = AccessConfig(policy="open")


def of(slack: FakeSlack, **more: object) -> SlackConfig:
    given = {"bot_token": Secret(slack.bot.token), "app_token": Secret(slack.app.token), "access": OPEN, **more}
    return SlackConfig(base_url=slack.base_url, **given)


async def found(channel: SlackConfig) -> list[Finding]:
    return await examine("acme", Config(bots={"pond": BotConfig()}, channels={"acme": channel}))


async def test_the_doctor_says_who_an_app_is_and_how_it_hears() -> None:
    async with fake_slack() as slack:
        socket = await found(of(slack))
        url = SlackEventsConfig(url="https://bot.example.org/slack")
        called = await found(of(slack, app_token=Secret(""), signing_secret=Secret("00000000"), events=url))
        closed = await found(of(slack, access=AccessConfig()))

    assert [each.state for each in socket] == ["ok", "ok"]
    assert socket[0].text.startswith(f"{slack.bot.person.name} in Acme, https://")
    assert socket[1].text == "the app receives events over Socket Mode"
    assert [each.state for each in called] == ["ok", "ok"]
    assert "https://bot.example.org/slack" in called[1].text and "Event Subscriptions" in called[1].text
    assert [each.state for each in closed] == ["ok", "ok", "warning"]
    assert slack.app.sockets == []
    assert slack.oddities() == []


async def test_scopes_that_are_missing_are_named() -> None:
    async with fake_slack() as slack:
        slack.bot.scopes -= {"files:read", "mpim:history"}
        remarks = await found(of(slack))

    assert [each.state for each in remarks] == ["ok", "warning", "ok"]
    assert "files:read (permission to download files that people send), mpim:history" in remarks[1].text
    assert "chat:write" not in remarks[1].text


async def test_tokens_that_will_not_do_are_told_by_their_keys() -> None:
    async with fake_slack() as slack:
        wrong = await found(of(slack, bot_token=Secret("xoxb-1-wrong-and-long-enough")))
        deaf = await found(of(slack, app_token=Secret(f"xapp-1-{slack.app.id}-1-wrong")))
        other = await found(of(slack, app_token=Secret("xapp-1-A0OTHER-1-abc")))
        slack.app.app_scopes.clear()
        unscoped = await found(of(slack))

    assert [each.state for each in wrong] == ["error"]
    assert "channels.acme.bot_token" in wrong[0].text
    assert [[each.state for each in remarks] for remarks in (deaf, other, unscoped)] == [["ok", "error"]] * 3
    assert "channels.acme.app_token" in deaf[1].text and "connections:write" in deaf[1].text
    assert "app_token belongs to app A0OTHER" in other[1].text
    assert "connections:write" in unscoped[1].text
    shown = str([*wrong, *deaf, *other, *unscoped])
    assert not any(token in shown for token in (slack.bot.token, slack.app.token, "xoxb-1-wrong-and-long-enough"))


@each_row("fault", [Page(), Cut(), Garbled(), Refuse(), Refuse("internal_error")])
@each_row("method", ["auth.test", "apps.connections.open"])
async def test_a_slack_that_fails_is_an_error_and_no_exception(method: str, fault: object) -> None:
    async with fake_slack() as slack:
        slack.faults.on(method, fault)
        remarks = await found(of(slack))

    assert [each.state for each in remarks] == (["error"] if method == "auth.test" else ["ok", "error"])


async def test_a_slack_that_is_away_is_an_error() -> None:
    async with fake_slack() as slack:
        channel = of(slack)

    [remark] = await found(channel)

    assert remark.state == "error"
    assert "cannot be reached" in remark.text


async def test_the_command_looks_at_the_app(tmp_path: Path) -> None:
    async with fake_slack() as slack:
        config = tmp_path / "millpond.toml"
        config.write_text(
            f'data_dir = "{tmp_path}/data"\n[channels.web]\nenabled = false\n[channels.acme]\ntype = "slack"\n'
            f'bot_token = "{slack.bot.token}"\napp_token = "{slack.app.token}"\nbase_url = "{slack.base_url}"\n'
            'access = { policy = "pairing" }\n'
        )
        config.chmod(0o600)
        done = await anyio.to_thread.run_sync(lambda: Place(tmp_path)("--config", str(config), "doctor"))

    assert f"channel acme: {slack.bot.person.name} in Acme" in done.stdout
    assert "channel acme: the app receives events over Socket Mode" in done.stdout
    assert slack.bot.token not in done.stdout + done.stderr


@pytest.fixture
def short() -> Iterator[Path]:
    """Where a server's socket can be: its path must not be long."""
    with tempfile.TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as folder:
        yield Path(folder)


async def test_the_list_of_channels_asks_slack_how_it_is(short: Path) -> None:
    async with fake_slack() as slack:
        config = short / "millpond.toml"
        config.write_text(
            f'data_dir = "{short}/data"\n[channels.acme]\ntype = "slack"\n'
            f'bot_token = "{slack.bot.token}"\napp_token = "{slack.app.token}"\nbase_url = "{slack.base_url}"\n'
            'access = { policy = "pairing", allow = ["C0123ABCD"] }\n'
        )
        config.chmod(0o600)
        place = Place(short)

        def listed() -> dict[str, object]:
            rows = json.loads(place("--config", str(config), "channel", "list", "--check", "--json").stdout)
            return next(row for row in rows if row["name"] == "acme")

        try:
            await anyio.to_thread.run_sync(lambda: place("--config", str(config), "send", "acme:D1", "hello"))
            fine = await anyio.to_thread.run_sync(listed)
            slack.bot.revoked = "token_revoked"
            wrong = await anyio.to_thread.run_sync(listed)
        finally:
            shut_down(short / "data")

    assert (fine["type"], fine["access"], fine["ok"]) == ("slack", "pairing, 1 in the allowlist", True)
    assert (
        fine["health"]
        == f"{slack.bot.person.name} in Acme, https://acme.slack.com/; the app receives events over Socket Mode"
    )
    assert (wrong["ok"], "token_revoked" in str(wrong["health"])) == (False, True)
