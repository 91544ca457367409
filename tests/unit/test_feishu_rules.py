"""What a channel of type ``feishu`` has to say in the configuration."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from daemon.config import Config, FeishuConfig, FeishuEventsConfig, Secret
from daemon.config.feishu_rules import feishu_findings
from daemon.setup.platforms.feishu_scopes import imported_scopes
from tests.tables import each_row

DOCS = Path(__file__).parents[2] / "docs"
SECRET = Secret("dskLLdkasdjlasdKKdskLLdkasdjlasd")
FINE = {"app_id": "cli_9f5343c580712544", "app_secret": SECRET}
URL = FeishuEventsConfig(url="https://h/feishu")


@each_row(
    "change, key, words",
    [
        ({}, "", ""),
        ({"app_id": ""}, "app_id", "missing: copy the App ID"),
        ({"app_id": "ou_1"}, "app_id", "not an app ID"),
        ({"app_secret": Secret("")}, "app_secret", "missing"),
        ({"app_secret": Secret("cli_9f5343c580712544")}, "app_secret", "not an App Secret"),
        ({"base_url": "feishu"}, "base_url", "expected http"),
        ({"events": URL}, "encrypt_key", "events.url requires this setting"),
        ({"events": URL, "encrypt_key": Secret("k")}, "", ""),
        ({"events": FeishuEventsConfig(url="http://h"), "encrypt_key": Secret("k")}, "events.url", "expected https"),
        ({"encrypt_key": Secret(" ")}, "encrypt_key", "not an Encrypt Key"),
        ({"reaction": "👀"}, "", ""),
        ({"reaction": "GLANCE"}, "", ""),
        ({"reaction": "two words"}, "reaction", "expected one emoji"),
    ],
)
def test_each_rule_names_its_key_and_no_secret(change: dict[str, object], key: str, words: str) -> None:
    channel = FeishuConfig(**{**FINE, **change})  # type: ignore[arg-type]
    found = list(feishu_findings(Config(channels={"f": channel})))

    assert [each.path for each in found] == ([f"channels.f.{key}"] if key else [])
    assert all(words in each.text and SECRET.reveal() not in each.text for each in found)


def test_two_channels_have_two_apps_and_two_ports() -> None:
    one = FeishuConfig(**FINE, events=URL, encrypt_key=Secret("k"))  # type: ignore[arg-type]
    found = list(feishu_findings(Config(channels={"a": one, "b": one})))

    assert [each.path for each in found] == ["channels.b.app_id", "channels.b.events.port"]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "daemon.config.feishu_rules.find_spec", lambda name: None if name == "cryptography" else find_spec(name)
    )
    channel = FeishuConfig(**FINE, events=URL, encrypt_key=Secret("k"))  # type: ignore[arg-type]

    [found] = feishu_findings(Config(channels={"f": channel}))

    assert "pip install 'millpond[feishu]'" in found.text


@each_row("page", ["feishu.md", "feishu.zh-CN.md"])
def test_a_page_lists_the_permissions_that_are_imported(page: str) -> None:
    [block] = re.findall(r"```json\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    listed, imported = json.loads(block)["scopes"], json.loads(imported_scopes())["scopes"]

    assert (sorted(listed["tenant"]), listed["user"]) == (sorted(imported["tenant"]), imported["user"])
