"""``millpond init`` for Discord, with flags, against a server of its own."""

from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal

from tests.fakes.discord import FakeDiscord, fake_discord
from tests.integration import test_init
from tests.integration.test_init import Place, mode

portal, place = test_init.portal, test_init.place


@pytest.fixture
def discord(portal: BlockingPortal) -> Iterator[FakeDiscord]:
    with portal.wrap_async_context_manager(fake_discord()) as server:
        yield server


def at(discord: FakeDiscord) -> tuple[str, ...]:
    return ("--discord-token", discord.bot.token, "--discord-url", discord.base_url)


def test_flags_alone_give_a_configuration_whose_administrator_owns_the_app(place: Place, discord: FakeDiscord) -> None:
    ann = discord.person("Ann")

    done = place("init", "--offline", *at(discord), "--access", "private")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"client_id={discord.bot.app_id}" in done.stdout
    assert place.tables["bots"]["pond"]["admins"] == [f"discord:{ann.id}"]
    assert place.tables["channels"] == {
        "discord": {
            "type": "discord", "bot": "pond", "base_url": discord.base_url, "token_file": "discord.token",
            "access": {"policy": "allow", "allow": [ann.id]},
        }
    }  # fmt: skip
    assert (place.data / "discord.token").read_text().strip() == discord.bot.token
    assert mode(place.data / "discord.token") == 0o600
    assert place("config", "check").stdout.startswith(f"ok: {place.config}\n")
    shown = done.stdout + place("config", "show").stdout + place.config.read_text()
    assert discord.bot.token not in shown
    doctor = place("doctor").stdout
    assert "@pond" in doctor
    assert discord.oddities() == []


def test_a_missing_intent_is_told_by_init_and_doctor(place: Place, discord: FakeDiscord) -> None:
    discord.bot.flags = 0

    done = place("init", "--offline", *at(discord), "--discord-owner", "123456789012345678")

    assert done.returncode == 0
    for told in (done.stdout, place("doctor").stdout):
        assert "Message Content Intent" in told


def test_what_will_not_do_is_said_and_nothing_is_written(place: Place, discord: FakeDiscord) -> None:
    wrong = discord.bot.token[:-4] + "XXXX"
    for flags, told in (
        (("--discord-token", wrong, "--discord-url", discord.base_url), "Discord rejected the token"),
        (("--discord-token", "Bot x"), "begins with the word Bot"),
        (("--discord-token", "x"), "not a bot token"),
        (("--discord",), "--discord-token is not set"),
        ((*at(discord), "--discord-owner", "Ann"), "17 to 19 digits"),
        (("--discord-token", discord.bot.token, "--discord-url", "http://127.0.0.1:1/api"), "cannot be reached"),
    ):
        done = place("init", "--offline", *flags)

        assert done.returncode != 0, told
        assert told in done.stderr
        assert wrong not in done.stderr
    assert not place.config.exists()
