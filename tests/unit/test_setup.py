"""The pure parts of setting up: TOML that is written and changed, other programs' files, and what answers come to."""

import contextlib
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from daemon.config import Secret
from daemon.setup.answers import Answers, ModelAnswer, Owner, SlackAnswer, TelegramAnswer
from daemon.setup.config_tables import changed, toml_of, with_answers
from daemon.setup.foreign_data import find, history_entries, journal_entries, read_json5
from daemon.setup.foreign_settings import nanobot_settings, openclaw_settings
from daemon.setup.model_apis import language_here, time_zone_here
from tests.tables import each_row

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
values = st.recursive(
    st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)
tables = st.recursive(
    st.dictionaries(texts, values, max_size=3),
    lambda inner: st.dictionaries(texts, values | inner | st.lists(inner, min_size=1, max_size=2), max_size=3),
    max_leaves=6,
)


@given(tables)
def test_what_is_written_reads_as_the_same(table: dict[str, Any]) -> None:
    assert tomllib.loads(toml_of(table)) == table


@given(tables, tables)
def test_what_is_changed_reads_as_what_it_was_to_be(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert tomllib.loads(changed(toml_of(before), after)) == after


TEXT = """# mine
data_dir = "/srv"  # here

[bots.pond]
# who it is
language = "en"
model = { name = "m" }

[queue]
lease_s = 20.0
"""


def test_a_change_keeps_comments_and_order() -> None:
    after = tomllib.loads(TEXT)
    after["bots"]["pond"] |= {"language": "zh", "admins": ["a:1"]}
    after["channels"] = {"telegram": {"token_file": "t"}}
    del after["queue"]["lease_s"]

    text = changed(TEXT, after)

    assert tomllib.loads(text) == after
    assert text == TEXT.replace('"en"', '"zh"').replace('"m" }\n', '"m" }\nadmins = ["a:1"]\n').replace(
        "lease_s = 20.0\n", '\n[channels.telegram]\ntoken_file = "t"\n'
    )


def test_a_change_in_an_inline_table_keeps_the_comments() -> None:
    after = tomllib.loads(TEXT)
    after["bots"]["pond"]["model"]["name"] = "other"

    assert changed(TEXT, after) == TEXT.replace('"m"', '"other"')


def test_a_value_over_several_lines_is_not_torn() -> None:
    text = '[bots.pond]\nadmins = [\n  "a:1",\n]\ntools = ["time"]\n'
    after = {"bots": {"pond": {"admins": ["a:1", "a:2"], "tools": ["time"]}}}

    assert tomllib.loads(changed(text, after)) == after


ANSWERS = Answers(
    bot="pond",
    language="en",
    time_zone="UTC",
    model=ModelAnswer(base_url="http://h/v1", name="m", key=Secret("k")),
    telegram=TelegramAnswer(
        channel="telegram",
        token=Secret("t"),
        base_url="https://api.telegram.org",
        owner=Owner(id="1"),
        access="private",
    ),
)


def test_secrets_stand_in_files_and_never_in_the_tables() -> None:
    before = {"bots": {"pond": {"model": {"api_key": "old"}}}, "channels": {"telegram": {"token": "old"}}}
    after, files = with_answers(before, ANSWERS)

    assert {file.name: file.secret.reveal() for file in files} == {"pond.model.key": "k", "telegram.token": "t"}
    assert "old" not in str(after)
    assert before["channels"] == {"telegram": {"token": "old"}}


def test_admins_and_lists_grow_and_nobody_is_named_twice() -> None:
    before: dict[str, Any] = {
        "bots": {"pond": {"admins": ["web:x", "telegram:1"], "tools": ["time"]}},
        "channels": {"telegram": {"access": {"allow": ["7"], "groups": "all"}, "debounce_s": 1.0}},
    }
    after: Any = with_answers(before, ANSWERS)[0]

    assert after["bots"]["pond"]["admins"] == ["web:x", "telegram:1"]
    assert after["bots"]["pond"]["tools"] == ["time"]
    assert after["channels"]["telegram"]["access"] == {"allow": ["7", "1"], "groups": "all", "policy": "allow"}
    assert after["channels"]["telegram"]["debounce_s"] == 1.0
    assert with_answers(after, ANSWERS)[0] == after


def test_slack_stands_beside_telegram_and_keeps_what_is_not_asked() -> None:
    before: dict[str, Any] = {
        "channels": {"slack": {"app_token": "old", "reaction": "eyes", "events": {"url": "https://h/x", "port": 9}}}
    }
    slack = SlackAnswer(
        channel="slack",
        base_url="https://slack.com/api",
        bot_token=Secret("b"),
        app_token=Secret(""),
        signing_secret=Secret("s"),
        events_url="https://h/y",
        owner=Owner(id="U1"),
        access="private",
    )

    answers = replace(ANSWERS, slack=slack)
    after: Any
    after, files = with_answers(before, answers)

    assert answers.admins == ("telegram:1", "slack:U1")
    assert answers.owner == Owner(id="1")
    assert after["bots"]["pond"]["admins"] == ["telegram:1", "slack:U1"]
    assert {file.name: file.secret.reveal() for file in files} == {
        "pond.model.key": "k",
        "telegram.token": "t",
        "slack.bot.token": "b",
        "slack.signing.secret": "s",
    }
    assert after["channels"]["slack"] == {
        "type": "slack",
        "bot": "pond",
        "reaction": "eyes",
        "app_token": "old",
        "events": {"url": "https://h/y", "port": 9},
        "bot_token_file": "slack.bot.token",
        "signing_secret_file": "slack.signing.secret",
        "access": {"policy": "allow", "allow": ["U1"]},
    }
    assert with_answers(after, answers)[0] == after
    over_a_socket: Any = with_answers(after, replace(ANSWERS, slack=replace(slack, events_url="")))[0]
    assert over_a_socket["channels"]["slack"]["events"] == {"port": 9}


@each_row(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{a: 'it\\'s', b: \"x // y\", /* c: 1, */ d: [1, 2,], }", {"a": "it's", "b": "x // y", "d": [1, 2]}),
        ("// nothing\n{$k_1: {}, // more\n}", {"$k_1": {}}),
        ("{'a': 'say \"yes\"', url: 'https://h/v1'}", {"a": 'say "yes"', "url": "https://h/v1"}),
        ("{a: 'one \\\nline', b: .5, c: +0x1F, 'x\\'y': '\\x41'}", {"a": "one line", "b": 0.5, "c": 31, "x'y": "A"}),
        ("[1]", {}),
    ],
)
def test_json_is_read_as_people_write_it(text: str, value: object) -> None:
    assert read_json5(text) == value


@given(st.text(max_size=60))
def test_junk_is_no_json_and_no_entry_breaks(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(read_json5(text), dict)
    assert all(entry.strip() for entry in (*history_entries(text), *journal_entries(text)))


def test_a_journal_becomes_entries() -> None:
    lines = (
        '{"timestamp": "2026-02-01T08:00:11", "content": " bought "}',
        '{"timestamp": "2026-02-01 09:00", "content": "[2026-02-01 09:00] sold"}',
        '{"timestamp": "yesterday", "content": "no date"}',
        '{"content": 5}',
        "[]",
        "",
    )

    assert list(journal_entries("\n".join(lines))) == [
        "[2026-02-01 08:00] bought",
        "[2026-02-01 09:00] sold",
        "no date",
    ]


@each_row(
    ("model", "providers", "url", "name"),
    [
        ("anthropic/claude-x", {"openrouter": {"apiKey": "k"}}, "https://openrouter.ai/api/v1", "anthropic/claude-x"),
        ("anthropic/claude-x", {"anthropic": {"api_key": "k"}}, "https://api.anthropic.com/v1", "claude-x"),
        ("gpt-x", {"openai": {"apiKey": "k"}, "groq": {"apiKey": "g"}}, "https://api.openai.com/v1", "gpt-x"),
        ("mine", {"custom": {"apiKey": "k", "apiBase": "http://h:1/v1"}}, "http://h:1/v1", "mine"),
        ("mine", {"nobody-knows-it": {"apiKey": "k"}}, "", ""),
        ("mine", {}, "", ""),
    ],
)
def test_the_model_of_a_nanobot(model: str, providers: dict[str, Any], url: str, name: str) -> None:
    found = nanobot_settings({"agents": {"defaults": {"model": model}}, "providers": providers}, {})

    assert (found.model_url, found.model_name) == (url, name)
    assert found.model_key == (Secret("k") if url else None)


def test_keys_of_an_openclaw_may_be_in_the_environment() -> None:
    found = openclaw_settings({"agents": {"defaults": {"model": "openai/gpt-x"}}}, {"OPENAI_API_KEY": "k"})
    other = openclaw_settings({"channels": {"telegram": {"botToken": {"source": "env", "id": "T"}}}}, {"T": "1:t"})

    assert (found.model_url, found.model_name, found.model_key) == ("https://api.openai.com/v1", "gpt-x", Secret("k"))
    assert other.token == Secret("1:t")


@pytest.mark.parametrize("settings", [nanobot_settings, openclaw_settings])
@given(table=tables)
def test_no_configuration_of_others_breaks_us(settings: Any, table: dict[str, Any]) -> None:
    shaped = {"agents": table, "providers": table, "channels": {"telegram": table}, "models": {"providers": table}}
    settings({**table, **shaped}, {})


def test_an_openclaw_with_several_workspaces_and_its_token_in_a_file(tmp_path: Path) -> None:
    for name in ("main", "work"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SOUL.md").write_text(name)
    (tmp_path / "token").write_text("1:secret\n")
    agents = [{"id": "w", "workspace": str(tmp_path / "work")}, {"default": True, "workspace": str(tmp_path / "main")}]
    settings = {"agents": {"list": agents}, "channels": {"telegram": {"tokenFile": "token"}}}
    (tmp_path / "openclaw.json").write_text(json.dumps(settings))

    found = find(tmp_path, {})
    (tmp_path / "token").unlink()

    assert (found.program, found.workspace, found.settings.token) == ("OpenClaw", tmp_path / "main", Secret("1:secret"))
    assert find(tmp_path, {}).left == ["token: the token file cannot be read"]


LINK = "skills: this is a symbolic link. Pass the link's target to --from, or copy the files yourself"


def test_files_that_are_no_files_are_left(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "MEMORY.md").write_bytes(b"\xff\xfe")
    (workspace / "SOUL.md").mkdir()
    (workspace / "skills").symlink_to("/etc")
    (workspace / "AGENTS.md").write_bytes(b"x" * 1_000_001)

    found = find(workspace, {})

    assert (found.program, found.bootstrap, found.skills, found.remembered.memory) == ("nanobot", {}, {}, "")
    assert found.left == [
        "AGENTS.md: the file is larger than 1,000,000 bytes",
        "SOUL.md: not a regular file",
        "MEMORY.md: the file is not UTF-8",
        LINK,
    ]


def test_the_machine_s_zone_and_language() -> None:
    assert time_zone_here({"TZ": ":/usr/share/zoneinfo/Asia/Tokyo"}) == "Asia/Tokyo"
    assert time_zone_here({"TZ": "Europe/Rome"}) == "Europe/Rome"
    assert time_zone_here({})
    assert (language_here({"LANG": "zh_CN.UTF-8"}), language_here({"LANG": "de_DE"})) == ("zh", "en")
