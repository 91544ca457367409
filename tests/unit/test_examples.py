"""The configurations in ``deploy/examples`` can be used as they stand, once their secrets are there."""

import re
import shutil
from pathlib import Path

import pytest

from daemon.config import DiscordConfig, FeishuConfig, PushConfig, SlackConfig, TelegramConfig, bot_workspace, load
from daemon.errors import ConfigError
from tests.tables import each_row

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "deploy" / "examples").glob("*.toml"))
SECRETS = (
    *("model.key", "telegram.token", "heron.token", "lotus.token"),
    *("secrets/model.key", "secrets/telegram.token", "secrets/web.token"),
)
OF_SLACK = {"slack.bot.token": "xoxb-123-456-AbCdEf", "slack.app.token": "xapp-1-A0123456789-987-abcdef"}
OF_DISCORD = {"discord.token": "MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.abcdefghijklmnopqrstuvwxyz0123456789AB"}
OF_FEISHU = {"feishu.app.secret": "dskLLdkasdjlasdKKdskLLdkasdjlasd"}


def test_there_are_examples_and_the_page_names_each_and_no_other() -> None:
    page = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")

    assert {path.stem for path in EXAMPLES} == {
        "private",
        "community",
        "two-bots",
        "slack",
        "discord",
        "feishu",
        "servers",
    }
    linked = set(re.findall(r"\]\((?!\.\.|#)([^)]+)\)", page))
    for path in (ROOT / "deploy").rglob("*"):
        name = path.relative_to(ROOT / "deploy").as_posix()
        if path.is_file() and not name.startswith(("README", "Dockerfile.", "secrets/")):
            assert [link for link in linked if name == link or (link.endswith("/") and name.startswith(link))], name
    assert [name for name in linked if not (ROOT / "deploy" / name).exists()] == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secrets").mkdir()
    for number, name in enumerate(SECRETS):
        (tmp_path / name).write_text(f"12345678{number}:AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQr\n")
        (tmp_path / name).chmod(0o600)
    for name, text in (OF_SLACK | OF_DISCORD | OF_FEISHU).items():
        (tmp_path / name).write_text(f"{text}\n")
        (tmp_path / name).chmod(0o600)
    return tmp_path


@each_row("example", EXAMPLES)
def test_an_example_is_a_configuration_without_a_warning(example: Path, folder: Path) -> None:
    shutil.copy(example, folder)

    loaded = load(folder / example.name, environ={})

    assert loaded.warnings == ()
    pushed = [channel for channel in loaded.config.channels.values() if isinstance(channel, PushConfig)]
    assert pushed
    for channel in pushed:
        assert channel.access.policy
        match channel:
            case TelegramConfig() | DiscordConfig():
                assert channel.token
            case SlackConfig():
                assert channel.bot_token and channel.app_token
            case FeishuConfig():
                assert channel.app_id and channel.app_secret
            case _:
                raise AssertionError(channel)
    for name, bot in loaded.config.bots.items():
        assert bot.admins, name
        assert not bot.model.offline, name


@each_row("example", EXAMPLES)
def test_an_example_without_its_secrets_says_which_are_missing(example: Path, tmp_path: Path) -> None:
    shutil.copy(example, tmp_path)

    with pytest.raises(ConfigError, match=r"(?:token|secret)_file: .* cannot be read"):
        load(tmp_path / example.name, environ={})


def test_the_two_bots_share_nothing(folder: Path) -> None:
    shutil.copy(ROOT / "deploy/examples/two-bots.toml", folder)
    config = load(folder / "two-bots.toml", environ={}).config

    assert bot_workspace(config, "heron") != bot_workspace(config, "lotus")
    tokens = [channel.token for channel in config.channels.values() if isinstance(channel, TelegramConfig)]
    assert len(set(tokens)) == 2
