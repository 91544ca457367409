import json
import os
import stat
import string
import subprocess
import sys
import tomllib
import traceback
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon import config as daemon_config
from daemon.cli.config_command import EX_CONFIG
from daemon.cli.config_command import config as config_command
from daemon.config import (
    Config,
    ModelConfig,
    Secret,
    bot_workspace,
    config_output,
    data_path,
    embeddings_of,
    encode_secret,
    load,
    transcription_of,
)
from daemon.config.config_keys import all_keys, bare, fields_of, is_name, join, members_of
from daemon.config.config_loader import LoadedConfig
from daemon.config.config_rules import is_loopback
from daemon.config.environment import value_of, variable_of
from daemon.config.memory_settings import EmbeddingsConfig, MemorySearchConfig
from daemon.config.model_servers import summary_model_of
from daemon.config.schema import BotConfig, ChannelConfig, PersonConfig, ThinkingConfig
from daemon.config.secret import masked_url, read_secret_file
from daemon.errors import ConfigError
from tests.limits import HANG_S
from tests.tables import each_row

ROOT = Path(__file__).parents[2]
NAMES = {"bots": ["pond"], "channels": ["terminal", "web"], "bots.pond.mcp": [], "people": ["ann"]}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "millpond.toml"


def load_text(file: Path, text: str, **environ: str) -> LoadedConfig:
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
    return load(file, environ=environ)


def problems(file: Path, text: str, **environ: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_text(file, text, **environ)
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


def test_without_a_file_and_variables_everything_is_the_default():
    loaded = load(environ={})

    assert loaded.config == Config()
    assert loaded.path is None
    assert loaded.sources == {}
    assert loaded.warnings == ()


def test_the_budget_of_the_default_model_is_the_specified_one():
    model = load(environ={}).config.bots["pond"].model

    assert (model.context_window_tokens, model.max_completion_tokens, model.safety_buffer_tokens) == (
        65_536,
        8_192,
        1_024,
    )
    assert model.budget_tokens == 56_320
    assert model.offline


def test_the_answer_takes_at_most_a_quarter_of_a_small_window():
    model = ModelConfig(context_window_tokens=16_384)

    assert model.completion_tokens == 4_096
    assert model.budget_tokens == 16_384 - 4_096 - 1_024


@each_row(
    ("path", "value"),
    [
        ("queue.lease_s", 15.0), ("queue.renew_s", 5.0), ("queue.attempts_max", 5), ("queue.backoff_min_s", 1.0),
        ("queue.backoff_max_s", 30.0), ("queue.waiting_max", 1_000), ("queue.partition_max", 100_000),
        ("queue.message_max_bytes", 262_144), ("queue.seen_ttl_s", 86_400.0), ("queue.park_max_s", 21_600.0),
        ("run.grace_s", 25.0), ("agent.turn_timeout_s", 600.0), ("agent.tool_timeout_s", 60.0),
        ("agent.iterations_max", 25), ("consolidation.rounds_max", 5), ("consolidation.failures_max", 3),
        ("consolidation.call_deadline_s", 60.0), ("consolidation.turn_wait_s", 15.0),
        ("memory_flush.reserve_floor_tokens", 20_000), ("memory_flush.soft_threshold_tokens", 4_000),
        ("memory_search.max_results", 5), ("memory_search.min_score", 0.4), ("memory_search.timeout_s", 30.0),
        ("micro_compact.keep_messages", 6), ("micro_compact.max_chars", 200), ("context.workspace_max_share", 0.25),
        ("context.head_ratio", 0.7), ("context.tail_ratio", 0.2), ("context.bootstrap.max_chars", 20_000),
        ("context.bootstrap.total_max_chars", 24_000), ("context.bootstrap.head_ratio", 0.7),
        ("context.bootstrap.tail_ratio", 0.2), ("context.bootstrap.min_budget_chars", 64),
    ],
)  # fmt: skip
def test_a_default_is_the_specified_number(path, value):
    found = Config()
    for key in path.split("."):
        found = getattr(found, key)

    assert found == value


def test_the_file_of_the_data_directory_is_used_when_it_is_there(tmp_path):
    (tmp_path / "millpond.toml").write_text("[queue]\nlease_s = 20\n")

    loaded = load(environ={"MILLPOND_DATA_DIR": str(tmp_path)})

    assert loaded.path == tmp_path / "millpond.toml"
    assert loaded.config.queue.lease_s == 20.0
    assert data_path(loaded.config) == tmp_path
    assert loaded.sources == {"queue.lease_s": "file", "data_dir": "environment MILLPOND_DATA_DIR"}


def test_the_default_file_lies_in_the_home_folder(home):
    (home / ".millpond").mkdir(parents=True)
    (home / ".millpond" / "millpond.toml").write_text("[agent]\nslots = 3\n")

    assert load(environ={}).config.agent.slots == 3


def test_a_named_file_wins_over_the_variable_and_the_variable_over_the_data_directory(tmp_path):
    for number, name in enumerate(("millpond", "variable", "named"), start=1):
        (tmp_path / f"{name}.toml").write_text(f"[agent]\nslots = {number}\n")
    environ = {"MILLPOND_DATA_DIR": str(tmp_path), "MILLPOND_CONFIG": str(tmp_path / "variable.toml")}

    assert load(environ=environ).config.agent.slots == 2
    assert load(tmp_path / "named.toml", environ=environ).config.agent.slots == 3


@each_row("content", [b"", b"\xef\xbb\xbf[agent]\r\nslots = 64\r\n", b"# nothing\n"])
def test_an_empty_file_and_one_with_a_byte_order_mark_are_fine(file, content):
    file.write_bytes(content)

    assert load(file, environ={}).config == Config()


@each_row(
    ("content", "said"),
    [
        (b"[agent]\nslots = \n", "line 2, column 9"),
        (b"[agent]\nslots = 1\nslots = 2\n", "line 3"),
        (b"[agent]\n# caf\xe9\n", "line 2 is not UTF-8"),
        (b"a = " + b"[" * 5_000, "nested too deep"),
        (b"a = " + b"9" * 5_000, "number is too long"),
        (b"#" * 1_100_000, "larger than 1,048,576 bytes"),
    ],
)
def test_a_file_that_is_no_toml_is_named_with_the_place(file, content, said):
    file.write_bytes(content)

    with pytest.raises(ConfigError) as caught:
        load(file, environ={})

    assert str(file) in str(caught.value)
    assert said in str(caught.value)


def test_a_missing_file_a_folder_and_an_impossible_name_are_refused(tmp_path):
    for path, said in [
        (tmp_path / "none.toml", "was not found"),
        (tmp_path, "is a folder"),
        (tmp_path / "a\0b", "cannot be read"),
        (tmp_path / ("x" * 300), "cannot be read"),
    ]:
        with pytest.raises(ConfigError, match=said):
            load(path, environ={})
    with pytest.raises(ConfigError, match="was not found"):
        load(environ={"MILLPOND_CONFIG": str(tmp_path / "none.toml")})


def test_an_unreadable_file_is_refused(file):
    file.write_text("")
    file.chmod(0)
    user = os.geteuid()
    if user == 0:  # root reads every file whatever its mode
        os.seteuid(65534)

    try:
        with pytest.raises(ConfigError, match="cannot be read: Permission denied"):
            load(file, environ={})
    finally:
        os.seteuid(user)


def test_deeply_nested_sections_are_an_unknown_key_not_a_crash(file):
    [line] = problems(file, ".".join(["zzz"] * 3_000) + " = 1")

    assert line.startswith("zzz: unknown key")


def test_a_variable_wins_over_the_file_in_whatever_case_it_is_written(file):
    loaded = load_text(
        file,
        "[bots.pond]\nlanguage = 'en'\n[channels.web]\nport = 9000\n",
        millpond_bots__POND__language="zh",
        MILLPOND_CHANNELS__WEB__PORT="0",
    )

    assert loaded.config.bots["pond"].language == "zh"
    assert loaded.config.channels["web"].port == 0
    assert loaded.sources["bots.pond.language"] == "environment millpond_bots__POND__language"
    assert loaded.sources["channels.web.port"] == "environment MILLPOND_CHANNELS__WEB__PORT"


def test_a_variable_finds_a_name_with_a_dash_and_makes_a_new_one_in_lower_case(file):
    loaded = load_text(
        file,
        "[bots.big-heron]\n[bots.pond]\n",
        MILLPOND_BOTS__BIG_HERON__LANGUAGE="zh",
        MILLPOND_BOTS__Duck__LANGUAGE="zh",
    )

    assert {name: bot.language for name, bot in loaded.config.bots.items()} == {
        "big-heron": "zh",
        "pond": "en",
        "duck": "zh",
    }


def test_an_empty_variable_counts_as_unset(file):
    loaded = load_text(
        file, "[queue]\nlease_s = 20\n", MILLPOND_QUEUE__LEASE_S="", MILLPOND_NOTHING=" ", OPENAI_API_KEY=""
    )

    assert loaded.config.queue.lease_s == 20.0
    assert loaded.config.bots["pond"].model.offline


def test_what_kubernetes_says_of_a_service_called_millpond_is_no_setting(file):
    loaded = load_text(
        file,
        "",
        MILLPOND_SERVICE_HOST="10.0.0.1",
        MILLPOND_SERVICE_PORT="8765",
        MILLPOND_SERVICE_PORT_HTTP="8765",
        MILLPOND_PORT="tcp://10.0.0.1:8765",
        MILLPOND_PORT_8765_TCP="tcp://10.0.0.1:8765",
        MILLPOND_PORT_8765_TCP_ADDR="10.0.0.1",
        MILLPOND_WEB_SERVICE_HOST="10.0.0.1",
        MILLPOND_WEB_PORT="tcp://10.0.0.1:8765",
    )

    assert loaded.config == Config()


@each_row(
    ("name", "text", "said"),
    [
        ("MILLPOND_REDIS_URL", "x", "redis_url: unknown key; did you mean MILLPOND_REDIS__URL?"),
        ("MILLPOND_WEB_PORT", "9000", "web_port: unknown key; did you mean"),
        ("MILLPOND_REDIS", "x", "redis: this is a section, not a single setting. Set "
            "each setting of the section separately, such as "
        "MILLPOND_REDIS__URL"),
        ("MILLPOND_BOTS", "x", "bots: expected sections [bots.<name>], got text (variable MILLPOND_BOTS)"),
        ("MILLPOND_BOTS__POND", "x", "bots.pond: this is a section, not a single setting. Set "
            "each setting of the section separately, such as MILLPOND_BOTS__POND__"),
        ("MILLPOND_QUEUE__LEASE_S", "abc", "queue.lease_s: expected a number of seconds above 0, got 'abc' (variable"),
        ("MILLPOND_QUEUE__LEASE_S", "inf", "expected a number of seconds above 0 and at most 31,536,000, got inf"),
        ("MILLPOND_AGENT__SLOTS", "1.5", "agent.slots: expected a whole number from 1 to"),
        ("MILLPOND_MEMORY_FLUSH__ENABLED", "maybe", "memory_flush.enabled: expected true or false, got 'maybe'"),
        ("MILLPOND_BOTS__POND__WORKSPACE", "\udcff", "bots.pond.workspace: expected text, got bytes"),
        ("MILLPOND_", "x", "'': unknown key"),
        ("MILLPOND_\udcff", "x", "unknown key"),
    ],
)  # fmt: skip
def test_a_variable_that_cannot_be_used_is_named(file, name, text, said):
    lines = problems(file, "", **{name: text})

    assert len(lines) == 1
    assert said in lines[0]
    assert lines[0].encode("utf-8")


def test_two_variables_for_one_key_are_refused(file):
    lines = problems(file, "", MILLPOND_AGENT__SLOTS="1", millpond_agent__slots="2")

    assert lines == [
        (
            "millpond_agent__slots: this environment variable sets the same configuration key as "
            "MILLPOND_AGENT__SLOTS. Remove one of the two variables"
        )
    ]


@settings(deadline=None)  # the machine that runs this may be busy
@given(st.booleans(), st.sampled_from([str.upper, str.lower, str.title]))
def test_every_spelling_of_a_truth_value_is_read(truth, case):
    for word in ("true", "1", "yes", "on") if truth else ("false", "0", "no", "off"):
        assert value_of(f" {case(word)} ", bool) is truth


@settings(deadline=None)  # the machine that runs this may be busy
@given(
    st.integers(),
    st.floats(allow_nan=False),
    st.lists(st.text(string.ascii_letters + " ", min_size=1).map(str.strip).filter(bool)),
)
def test_a_value_written_into_a_variable_is_read_back(number, fraction, words):
    assert value_of(str(number), int) == number
    assert value_of(repr(fraction), float) == fraction
    assert value_of(", ".join(words), tuple[str, ...]) == words


@settings(deadline=None)  # the machine that runs this may be busy
@given(st.text())
def test_any_text_in_a_variable_is_a_value_or_a_problem_never_a_crash(text):
    for kind in (int, float, bool, str, Secret, tuple[str, ...], int | None):
        value_of(text, kind)


_SPEAKING = {
    "MILLPOND_BOTS__POND__SPEECH__NAME": "tts-1",
    "MILLPOND_BOTS__POND__SPEECH__BASE_URL": "http://localhost/v1",
}
_LISTENING = {
    "MILLPOND_BOTS__POND__TRANSCRIPTION__NAME": "whisper-1",
    "MILLPOND_BOTS__POND__TRANSCRIPTION__BASE_URL": "http://localhost/v1",
}


@each_row(
    ("given", "path", "text"),
    [
        ({"NAME": ""}, "name", "this setting is missing. Set the name of a model that converts"),
        ({"BASE_URL": ""}, "base_url", "this setting is missing, and the bot's own model is offline"),
        ({"BASE_URL": "http://me:secret@host/v1"}, "base_url", "expected http:// or https:// and a host"),
        ({"BASE_URL": "host"}, "base_url", "expected http:// or https:// and a host"),
        ({"API_KEY": "two words"}, "api_key", "the value must be one line of ASCII characters without spaces"),
    ],
)
def test_a_server_for_speech_has_to_be_whole(given, path, text):
    for known, section in ((_LISTENING, "transcription"), (_SPEAKING, "speech")):
        prefix = f"MILLPOND_BOTS__POND__{section.upper()}__"
        with pytest.raises(ConfigError) as refused:
            load(environ=known | {f"{prefix}{key}": value for key, value in given.items()})

        assert f"bots.pond.{section}.{path}: {text}" in str(refused.value)
        assert "secret" not in str(refused.value)


def test_speech_goes_to_the_models_own_server_unless_another_is_named():
    model = {"OPENAI_BASE_URL": "http://model/v1", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "sk-model"}
    name = {"MILLPOND_BOTS__POND__TRANSCRIPTION__NAME": "whisper-1"}

    assert transcription_of(load(environ={}).config.bots["pond"]) is None
    here = transcription_of(load(environ=model | name).config.bots["pond"])
    there = transcription_of(load(environ=model | _LISTENING).config.bots["pond"])

    assert here is not None
    assert (here.base_url, here.api_key.reveal()) == ("http://model/v1", "sk-model")
    assert there is not None
    assert (there.base_url, there.api_key.reveal()) == ("http://localhost/v1", "")


_RERANKING = {
    "MILLPOND_MEMORY_SEARCH__RERANKER__MODEL": "rerank-v3.5",
    "MILLPOND_MEMORY_SEARCH__RERANKER__BASE_URL": "http://localhost/v1",
}


@each_row(
    ("given", "path", "text"),
    [
        ({"MODEL": ""}, "model", "this setting is missing. Set the model that reranks search results"),
        (
            {"BASE_URL": ""},
            "base_url",
            "this setting is missing. Set the address of the server that reranks search results",
        ),
        ({"BASE_URL": "http://me:secret@host/v1"}, "base_url", "expected http:// or https:// and a host"),
        ({"API_KEY": "two words"}, "api_key", "the value must be one line of ASCII characters without spaces"),
    ],
)
def test_a_server_that_orders_search_results_has_to_be_whole(given, path, text):
    environ = _RERANKING | {f"MILLPOND_MEMORY_SEARCH__RERANKER__{key}": value for key, value in given.items()}

    with pytest.raises(ConfigError) as refused:
        load(environ=environ)

    assert f"memory_search.reranker.{path}: {text}" in str(refused.value)


_EMBEDDING = {
    "MILLPOND_MEMORY_SEARCH__EMBEDDINGS__MODEL": "text-embedding-3-small",
    "MILLPOND_MEMORY_SEARCH__EMBEDDINGS__BASE_URL": "http://localhost/v1",
}


@each_row(
    ("given", "path", "text"),
    [
        ({"MODEL": ""}, "model", "this setting is missing. Set the model that converts text into vectors"),
        (
            {"BASE_URL": ""},
            "base_url",
            "this setting is missing, and no bot has a model whose server could be used instead",
        ),
        ({"BASE_URL": "http://me:secret@host/v1"}, "base_url", "expected http:// or https:// and a host"),
        ({"API_KEY": "two words"}, "api_key", "the value must be one line of ASCII characters without spaces"),
    ],
)
def test_a_server_that_turns_texts_into_vectors_has_to_be_whole(given, path, text):
    environ = _EMBEDDING | {f"MILLPOND_MEMORY_SEARCH__EMBEDDINGS__{key}": value for key, value in given.items()}

    with pytest.raises(ConfigError) as refused:
        load(environ=environ)

    assert f"memory_search.embeddings.{path}: {text}" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_vectors_come_from_the_models_own_server_unless_another_is_named():
    model = {"OPENAI_BASE_URL": "http://model/v1", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "sk-model"}
    name = {"MILLPOND_MEMORY_SEARCH__EMBEDDINGS__MODEL": "e"}

    def used(environ):
        config = load(environ=environ).config
        return embeddings_of(config.memory_search, config.bots["pond"])

    here, there = used(model | name), used(model | _EMBEDDING)

    assert used({}) is None
    assert here is not None
    assert (here.model, here.base_url, here.api_key.reveal()) == ("e", "http://model/v1", "sk-model")
    assert there is not None
    assert (there.base_url, there.api_key.reveal()) == ("http://localhost/v1", "")


def test_a_bot_without_a_server_has_no_vectors_beside_one_that_has(file):
    text = (
        "[memory_search.embeddings]\nmodel = 'e'\n[bots.pond]\n[bots.heron.model]\nbase_url = 'http://h/v1'\nname = 'm'"
    )

    config = load_text(file, text).config

    assert embeddings_of(config.memory_search, config.bots["pond"]) is None
    assert embeddings_of(config.memory_search, config.bots["heron"]) is not None


@each_row(
    ("text", "mode"),
    [
        ("", "query"),
        ("backend = 'qmd'", "search"),
        ("backend = 'qmd'\nmode = 'vsearch'", "vsearch"),
        ("mode = 'search'", "search"),
    ],
)
def test_the_mode_of_a_search_goes_with_the_backend_unless_it_is_given(file, text, mode):
    assert load_text(file, f"[memory_search]\n{text}").config.memory_search.mode_used == mode


@each_row("path", list(all_keys(NAMES)))
def test_every_key_can_be_set_by_its_variable(path):
    environ = {variable_of(path): _valid_text(path), "MILLPOND_QUEUE__RENEW_S": "0.5"}
    if path.endswith(("base_url", "api_key")):
        environ["OPENAI_MODEL"] = "some-model"
    if path.endswith("_file"):
        Path("secret").write_text("redis://localhost" if path == "redis.url_file" else "hush")
        environ["OPENAI_MODEL"] = "some-model"
    if ".transcription." in path:
        environ = {**_LISTENING, **environ}
    if ".speech." in path:
        environ = {**_SPEAKING, **environ}
    if ".embeddings." in path:
        environ = {**_EMBEDDING, **environ}
    if ".web." in path:
        environ = {"MILLPOND_BOTS__POND__WEB__SEARCH_URL": "http://127.0.0.1:1", **environ}
        environ |= {} if "api_key" in path else {"MILLPOND_BOTS__POND__WEB__API_KEY": "hush"}
    if ".reranker." in path:
        environ = {**_RERANKING, **environ}

    assert path in load(environ=environ).sources


def _valid_text(path: str) -> str:
    special = {
        "redis.url": "redis://localhost", "redis.url_file": "secret", "archive.url": "s3://bucket/folder",
        "queue.renew_s": "0.5", "queue.backoff_max_s": "40", "context.tail_ratio": "0.1",
        "context.bootstrap.tail_ratio": "0.1", "people.ann.identities": "web:ann, terminal:ann",
        "bots.pond.groups_may": "new", "bots.pond.reminders.quiet_hours": "22:00-07:00",
        "bots.pond.time_zone": "Europe/Berlin", "bots.pond.model.base_url": "http://localhost/v1",
        "bots.pond.model.api_key_file": "secret", "bots.pond.summary_model.base_url": "http://localhost/v1",
        "bots.pond.summary_model.api_key_file": "secret", "bots.pond.transcription.api_key_file": "secret",
        "bots.pond.transcription.base_url": "http://localhost/v1", "bots.pond.speech.api_key_file": "secret",
        "bots.pond.speech.base_url": "http://localhost/v1", "memory_search.embeddings.api_key_file": "secret",
        "memory_search.embeddings.base_url": "http://localhost/v1", "channels.web.token_file": "secret",
        "memory_search.reranker.base_url": "http://localhost/v1", "memory_search.reranker.api": "tei",
        "memory_search.reranker.api_key_file": "secret",
        "channels.web.member_token_file": "secret", "channels.web.completions_token_file": "secret",
        "channels.web.metrics": "open", "channels.web.type": "web", "channels.terminal.type": "terminal",
        "channels.web.host": "::1", "bots.pond.web.search": "brave", "bots.pond.web.search_url": "http://127.0.0.1:1",
        "bots.pond.web.api_key_file": "secret",
        "channels.terminal.bot": "pond", "channels.web.bot": "pond", "bots.pond.model.context_window_tokens": "100000",
        "bots.pond.summary_model.context_window_tokens": "100000",
        "bots.pond.model.thinking.type": "adaptive", "bots.pond.summary_model.thinking.type": "adaptive",
    }  # fmt: skip
    kind = _kind(path)
    simple = {bool: "no", int: "2", float: "0.75", str: "text", Secret: "hush"}
    return special.get(path) or simple.get(kind) or str((getattr(kind, "__args__", None) or ["x"])[0])


def _kind(path: str) -> object:
    section: object = Config
    for part in path.split("."):
        if isinstance(section, dict):
            section = section[part]
        elif part == "bots":
            section = {"pond": BotConfig}
        elif part == "channels":
            section = members_of(ChannelConfig)
        elif part == "people":
            section = {"ann": PersonConfig}
        else:
            section = fields_of(section)[part].type if part != "type" else str
    return bare(section)[0]


plain_keys = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=30)


@settings(deadline=None)  # the machine that runs this may be busy
@given(
    key=st.one_of(plain_keys, st.text(st.characters(exclude_categories=["Cs"]), max_size=30)),
    section=st.sampled_from(
        ["", "redis", "queue", "context.bootstrap", "bots.pond", "bots.pond.model", "channels.web"]
    ),
)
def test_any_unknown_key_is_reported_with_its_path(tmp_path_factory, key, section):
    kind: object = Config
    for part in filter(None, section.split(".")):
        kind = _kind(section) if part == section.rpartition(".")[2] else kind
    if key in fields_of(kind) or key == "type":
        return
    file = tmp_path_factory.getbasetemp() / "unknown.toml"
    header = f"[{section}]\n" if section else ""

    lines = problems(file, f"{header}{config_output.literal(key)} = 1\n")

    assert len(lines) == 1
    assert lines[0].startswith(f"{join(section, key)}: unknown key; ")
    assert lines[0].endswith(f"(in {file})")


@each_row(
    ("text", "said"),
    [
        ("[bots.pond]\nmodle = 1", "bots.pond.modle: unknown key; did you mean model?"),
        ("[bots.pond]\nname = 'x'", "bots.pond.name: unknown key; did you mean bots.<name>.model.name?"),
        ("lease_s = 1", "lease_s: unknown key; did you mean queue.lease_s?"),
        ("[channel.web]\nport = 1", "channel: unknown key; did you mean channels?"),
        ("[agent]\nxyzzy = 1", "agent.xyzzy: unknown key; allowed are slots, turn_timeout_s"),
        ("[queue]\nlease_s = 'abc'", "queue.lease_s: expected a number of seconds above 0, got 'abc' (in "),
        ("[queue]\nlease_s = true", "queue.lease_s: expected a number of seconds above 0, got true"),
        ("[queue]\nlease_s = 0", "queue.lease_s: expected a number of seconds above 0, got 0"),
        ("[queue]\nlease_s = nan", "queue.lease_s: expected a number of seconds above 0, got nan"),
        ("[agent]\nslots = 0", "agent.slots: expected a whole number from 1 to 2,147,483,647, got 0"),
        ("[agent]\nslots = 0x" + "f" * 9_000, "from 1 to 2,147,483,647, got a number"),
        ("[agent]\nslots = 2026-11-20", "got a date or time"),
        ("[agent]\nslots = {a = 1}", "got a section"),
        ("agent = 5", "agent: expected a section [agent], got a number"),
        ("[[bots]]", "bots: expected sections [bots.<name>], got a list"),
        ("bots.pond = 'sk-x'", "bots.pond: expected a section [bots.pond], got text"),
        ("[bots.pond]\ntools = 'time'", "bots.pond.tools: expected a list of strings, got 'time'"),
        ("[bots.pond]\ntools = ['a', 5]", "bots.pond.tools: expected a list of strings, got a list with 5"),
        ("[bots.pond]\ncontext_budget_tokens = -1", "context_budget_tokens: expected a whole number from 0 to"),
        ("[bots.pond]\nworkspace = \"a\\u0000b\"", "bots.pond.workspace: expected a path"),
        ("[memory_search]\nmode = 'fuzzy'", "memory_search.mode: expected one of search, vsearch, query, got 'fuzzy'"),
        ("[run]\nlog_level = 'loud'", "run.log_level: expected one of debug, info, warning, error, got 'loud'"),
        ("[redis]\nprefix = 'a:b'", "redis.prefix: expected text of 1 to 64 letters, digits and _ . -, got 'a:b'"),
        ("[redis]\nprefix = \"mp\\n\"", "redis.prefix: expected text of 1 to 64"),
        ("[bots.Pond]", "bots.Pond: the name is not valid: a name must begin with a letter"),
        ("[bots.\"a b\"]", "bots.'a b': the name is not valid"),
        ("[channels._x]\ntype = 'web'", "channels._x: the name is not valid"),
        ("[channels.tele]\ntype = 'telegraph'", "'telegraph' is not a type in this version of Millpond (terminal, web"),
        ("[channels.tele]\ntype = 5", "channels.tele.type: 5 is not a type in this version of Millpond (terminal, web"),
        ("[channels.tele]", "channels.tele.type: this setting is missing. Choose one of terminal, web, "
            "testing"),
        ("data_dir = ''", "data_dir: the path must not be empty"),
        ("data_dir = '~nobody-at-all/x'", "data_dir: '~nobody-at-all/x' cannot be resolved"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_says_where_it_stands_and_what_is_allowed(file, text, said):
    lines = problems(file, text)

    assert len(lines) == 1
    assert said in lines[0]


def test_all_problems_are_listed_at_once_and_consequences_are_not(file):
    lines = problems(
        file, "[queue]\nlease_s = 'x'\nrenew_s = 20\n[agent]\nslot = 1\n[bots.pond.model]\nbase_url = 5\nname = 6\n"
    )

    assert [line.partition(":")[0] for line in lines] == [
        "queue.lease_s",
        "agent.slot",
        "bots.pond.model.base_url",
        "bots.pond.model.name",
    ]


@each_row(
    ("text", "said"),
    [
        ("[queue]\nrenew_s = 15", "queue.renew_s: the value must be less than lease_s"),
        ("[queue]\nbackoff_min_s = 31", "queue.backoff_min_s: the value must not be greater than backoff_max_s"),
        ("[context.bootstrap]\ntail_ratio = 0.4", "context.bootstrap.head_ratio: the sum of head_ratio and tail_ratio"),
        ("[context]\nhead_ratio = 0.9", "context.head_ratio: the sum of head_ratio and tail_ratio"),
        ("[bots.pond.model]\nbase_url = 'http://h/v1'", "name: this setting is missing. Set bots.pond.model.name or "
        "OPENAI_MODEL"),
        ("[bots.pond.model]\napi_key = 'k'", "name: this setting is missing. Set bots.pond.model.name or OPENAI_MODEL"),
        ("[bots.pond.model]\nname = 'm'\nbase_url = 'ftp://h'", "bots.pond.model.base_url: expected http:// or "
                                                                "https://"),
        ("[bots.pond.model]\nname = 'm'\nbase_url = 'localhost:1'", "bots.pond.model.base_url: expected http:// or "
                                                                    "https://"),
        ("[bots.pond.model]\nname = 'm'\nbase_url = 'http://[::1'", "bots.pond.model.base_url: expected http:// or "
                                                                    "https://"),
        ("[bots.pond.model]\nname = 'm'\nbase_url = 'http://u:p@h'", "without a user name or password"),
        ("[bots.pond.model]\nname = 'm'\napi_key = \"a\\nb\"", "bots.pond.model.api_key: the value must be one line"),
        ("[bots.pond.model]\ncontext_window_tokens = 4096\nsafety_buffer_tokens = 3000", "leaves only 72 tokens for"),
        ("[bots.pond]\ntime_zone = 'Europe/Berln'", "got 'Europe/Berln'. Did you mean Europe/Berlin?"),
        ("[bots.pond]\ntime_zone = 'America'", "bots.pond.time_zone: expected an IANA time zone"),
        ("[bots.pond]\ntime_zone = '../passwd'", "bots.pond.time_zone: expected an IANA time zone"),
        ("[bots.pond]\ntime_zone = ''", "bots.pond.time_zone: expected an IANA time zone"),
        (
            "[bots.pond]\ngroups_may = ['new', 'pair']",
            "bots.pond.groups_may: expected commands from this list: compact, export, forget, memory, model, new, "
            "remind, stop. Got 'pair'",
        ),
        ("[channels.web]\nbot = 'heron'", "channels.web.bot: bot 'heron' was not found. Choose one of: pond (in "),
        ("[channels.web]\nhost = '0.0.0.0'", "channels.web.token: this setting is required because '0.0.0.0' can be "
                                             "reached"),
        ("[channels.web]\nhost = '::'\nopen = true\ntoken = 'a'", "channels.web.open: an open channel accepts"),
        ("[channels.web]\ntoken = 'a'\nmember_token = 'a'", "channels.web.member_token: the value must differ from"),
        ("[channels.web]\ntoken = 'a'\ncompletions_token = 'a'", "completions_token: the value must differ"),
        ("[channels.web]\nmember_token = 'a b'", "channels.web.member_token: the value must be one line of ASCII"),
        ("[channels.web]\nhost = ''", "channels.web.host: the value must not be empty"),
        ("[channels.testing]", "channels.testing.url: expected http:// and an address of this machine"),
        ("[channels.testing]\nurl = 'http://example.org/'", "channels.testing.url: expected http:// and an address of"),
        (
            "[channels.testing]\nurl = 'http://[::1]:9/'\nsend_timeout_s = 13",
            "channels.testing.send_timeout_s: the value must be at most 80% of queue.lease_s",
        ),
        ("[channels.testing]\nurl = 'http://localhost/'\ndebounce_s = 31", "debounce_s: expected a number from 0 to"),
        ("[redis]\nurl = 'http://h'", "redis.url: expected redis://"),
        ("[redis]\nurl = 'redis://:hush/x@h:6379'", "redis.url: expected redis://"),
        ("[redis]\nurl = 'redis://h/abc'", "redis.url: expected redis://"),
        ("[redis]\nurl = 'unix://'", "redis.url: expected redis://"),
    ],
)  # fmt: skip
def test_a_broken_rule_says_which_keys_to_change(file, text, said):
    lines = problems(file, text)

    assert len(lines) == 1
    assert said in lines[0]
    assert "hush" not in lines[0]


@each_row(
    "change, said",
    [
        ({"url": "ftp://x"}, "url: expected http://"), ({"url": ""}, "url: expected http://"),
        ({"secret": ""}, "secret: this setting is missing"),
        ({"secret": "short"}, "secret: expected a secret of at least"),
        ({"secret": "whsec_ü"}, "secret: the text after whsec_ is not valid Base64"),
        ({"secret": "whsec_c2hvcnQ="}, "secret: expected a secret of at least"),
        ({"path": "in"}, "path: expected a path that begins with /"),
        ({"reaction": "👀"}, "reaction: the bridge does not support reactions"),
        ({"port": "8791"}, "port: 8791 is also used by channels.first"),
    ],
)  # fmt: skip
def test_a_broken_rule_of_a_webhook_channel_says_what_is_expected(file, change, said):
    right = {"type": "webhook", "url": "http://127.0.0.1:9000/", "secret": "hush, a long secret"}
    sections = {"first": {**right, "port": "8791"}, "forum": {**right, **change}}
    text = "".join(
        f"[channels.{name}]\n"
        + "".join(
            f"{key} = {value if key == 'port' else json.dumps(value, ensure_ascii=False)}\n"
            for key, value in keys.items()
        )
        for name, keys in sections.items()
    )

    [line] = problems(file, text)

    assert f"channels.forum.{said}" in line
    assert "hush" not in line


@each_row(
    ("url", "shown"),
    [
        ("s3://bucket/pond", "s3://bucket/pond"),
        ("file:///mnt/pond", "file:///mnt/pond"),
        ("https://key:hush@minio:9000/bucket", "https://key:********@minio:9000/bucket"),
    ],
)
def test_an_address_of_an_archive_is_taken_and_shown_without_its_secret(file, url, shown):
    loaded = load_text(file, f"[archive]\nurl = '{url}'")

    assert loaded.config.archive.url.reveal() == url
    assert f'url = "{shown}"' in config_output.toml(loaded)


@each_row("url", ["memory:///", "ftp://h/x", "s3://", "file://", "file://host/x", "/folder", "hush"])
def test_an_address_that_can_be_no_archive_is_refused_without_being_shown(file, url):
    with pytest.raises(ConfigError, match=r"archive\.url: expected file:///folder") as refused:
        load_text(file, f"[archive]\nurl = '{url}'")
    assert "hush" not in str(refused.value)


@each_row("url", ["redis://h", "redis://:p%40@h:1/2", "rediss://u:p@[::1]:6379/0", "unix:///run/redis.sock?db=1"])
def test_a_redis_address_is_taken_as_it_is(file, url):
    assert load_text(file, f"[redis]\nurl = '{url}'").config.redis.url.reveal() == url


def test_an_open_web_channel_is_a_warning_as_long_as_it_is_enabled(file):
    text = "[channels.web]\nopen = true\n"

    [warning] = load_text(file, text).warnings

    assert "channels.web.open" in warning and "every user" in warning
    assert load_text(file, f"{text}enabled = false\n").warnings == ()


def test_the_address_a_web_channel_listens_on_may_be_any_with_a_token(file):
    channel = load_text(file, "[channels.web]\nhost = '0.0.0.0'\ntoken = 'hush'").config.channels["web"]

    assert channel.token.reveal() == "hush"


@each_row(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("[::1]", True), ("localhost", True), ("0.0.0.0", False),
     ("::", False), ("192.168.0.1", False), ("pond.example", False), ("localhost.evil.example", False), ("", False)],
)  # fmt: skip
def test_only_loopback_addresses_need_no_token(host, loopback):
    assert is_loopback(host) is loopback


def test_configured_channels_are_added_to_the_default_ones(file):
    channels = load_text(file, "[channels.web]\nport = 9000\n[channels.page]\ntype = 'web'\n").config.channels

    assert {name: type(channel).__name__ for name, channel in channels.items()} == {
        "terminal": "TerminalConfig",
        "web": "WebConfig",
        "page": "WebConfig",
    }
    assert channels["web"].port == 9000


def test_a_channel_can_be_turned_off_and_is_then_not_checked(file):
    channel = load_text(file, "[channels.web]\nenabled = false\nhost = '0.0.0.0'\nbot = 'none'").config.channels["web"]

    assert not channel.enabled


def test_channels_use_the_only_bot_when_none_is_called_pond(file):
    loaded = load_text(file, "[bots.heron]\n")

    assert {channel.bot for channel in loaded.config.channels.values()} == {"heron"}
    assert list(loaded.config.bots) == ["heron"]


def test_with_several_bots_a_channel_has_to_choose(file):
    lines = problems(file, "[bots.heron]\n[bots.duck]\n[channels.web]\nbot = 'duck'\n")

    assert lines == [
        "channels.terminal.bot: this setting is missing, but it is required because several bots are "
        "configured. Choose one of heron, duck"
    ]


def test_channels_use_pond_when_it_is_one_of_several(file):
    loaded = load_text(file, "[bots.heron]\n[bots.pond]\n")

    assert {channel.bot for channel in loaded.config.channels.values()} == {"pond"}


def test_openai_variables_fill_what_a_bot_leaves_open(file):
    bots = load_text(
        file,
        "[bots.pond]\n[bots.own.model]\nname = 'own'\nbase_url = 'http://own/v1'\napi_key = ''\n",
        OPENAI_API_KEY=" hush\n",
        OPENAI_BASE_URL="https://host/v1",
        OPENAI_MODEL="some",
    ).config.bots

    assert (bots["pond"].model.name, bots["pond"].model.base_url) == ("some", "https://host/v1")
    assert bots["pond"].model.api_key.reveal() == "hush"
    assert (bots["own"].model.name, bots["own"].model.base_url) == ("own", "http://own/v1")
    assert not bots["own"].model.api_key


def test_anthropic_s_variables_are_for_models_behind_its_api_alone(file):
    text = """
        [bots.pond]
        model.name = "gpt"
        model.base_url = "https://host/v1"
        model.api_key = "own"
        summary_model = { api = "anthropic", name = "claude" }
        [[bots.heron.model.fallbacks]]
        name = "other"
        [bots.heron.model]
        api = "anthropic"
        thinking = { type = "enabled", budget_tokens = 2048 }
        [[bots.heron.model.fallbacks]]
        api = "openai"
        name = "gpt"
        [[bots.pond.model.fallbacks]]
        api = "anthropic"
        name = "claude"
        base_url = "https://gateway"
    """
    variables = {"OPENAI_API_KEY": "theirs", "ANTHROPIC_API_KEY": "hush", "ANTHROPIC_MODEL": "claude-x"}
    variables["OPENAI_BASE_URL"] = "https://proxy/v1"

    bots = load_text(file, text, **variables).config.bots
    first, same, other = bots["heron"].model.chain
    summary = summary_model_of(bots["pond"])

    assert (first.api, first.name, first.api_key.reveal()) == ("anthropic", "claude-x", "hush")
    assert (same.api, same.api_key.reveal(), same.thinking) == ("anthropic", "hush", first.thinking)
    assert (other.api, other.api_key.reveal(), other.base_url) == ("openai", "theirs", "https://proxy/v1")
    assert (summary.api, summary.api_key.reveal(), summary.base_url) == ("anthropic", "hush", "")
    assert bots["pond"].model.api_key.reveal() == "own"
    assert bots["pond"].model.chain[1].api_key.reveal() == ""


@each_row(
    ("model", "problem"),
    [
        ("api = 'claude'", "model.api: expected one of openai, anthropic, got 'claude'"),
        ("api = 'anthropic'", "model.name: this setting is missing. Set bots.pond.model.name or ANTHROPIC_MODEL"),
        (
            "thinking = { type = 'enabled' }",
            "thinking.budget_tokens: the value must be at least 1,024 and less than the maximum answer length of 8,192",
        ),
        (
            "thinking = { type = 'enabled', budget_tokens = 8192 }",
            "thinking.budget_tokens: the value must be at least 1,024",
        ),
    ],
)
def test_a_model_behind_anthropic_s_api_is_checked(file, model, problem):
    rest = "" if "api =" in model else "api = 'anthropic'\nname = 'claude'\n"
    lines = problems(file, f"[bots.pond.model]\n{rest}{model}\napi_key = 'hush'\n")

    assert any(problem in line for line in lines), lines


def test_a_model_of_another_api_needs_a_key_of_its_own(file):
    text = "[bots.pond.model]\nname = 'gpt'\napi_key = 'hush'\n"
    fallback = "[[bots.pond.model.fallbacks]]\napi = 'anthropic'\nname = 'claude'\n"
    summary = "[bots.pond.summary_model]\napi = 'anthropic'\nname = 'claude'\n"

    for other, path in ((fallback, "bots.pond.model.fallbacks[1]"), (summary, "bots.pond.summary_model")):
        (line,) = problems(file, text + other)

        assert line.startswith(
            f"{path}.api_key: this setting is missing, and the API key for the bot's own model is for a different "
            "API. Set this setting, ANTHROPIC_API_KEY"
        ), line


def test_speech_and_vectors_are_not_asked_of_anthropic(file):
    text = "[bots.pond.model]\napi = 'anthropic'\nname = 'claude'\napi_key = 'hush'\n"
    own = "[bots.pond.transcription]\nname = 'whisper-1'\napi_key = 'own'\n"

    (line,) = problems(file, f"{text}[bots.pond.transcription]\nname = 'whisper-1'\n")
    bot = load_text(file, text + own).config.bots["pond"]
    search = MemorySearchConfig(embeddings=EmbeddingsConfig(model="e"))

    assert "transcription.base_url: this setting is missing, and the bot's own model uses Anthropic's API" in line
    assert transcription_of(bot).api_key.reveal() == "own"
    assert embeddings_of(search, bot) is None


def test_a_model_behind_anthropic_s_api_without_the_package_is_an_error_that_says_what_to_install(file, monkeypatch):
    monkeypatch.setattr("daemon.config.config_rules.find_spec", lambda name: None)

    (line,) = problems(file, "[bots.pond.model]\napi = 'anthropic'\nname = 'claude'\napi_key = 'hush'\n")

    assert "bots.pond.model.api: Anthropic's API needs a package that is not installed" in line
    assert "pip install 'millpond[anthropic]'" in line


def test_a_model_name_alone_leaves_a_bot_offline():
    assert load(environ={"OPENAI_MODEL": "some"}).config.bots["pond"].model.offline


def test_paths_start_at_the_file_and_in_the_home_folder(file, home):
    config = load_text(file, "data_dir = 'kept'\n[bots.pond]\nworkspace = '~/pond'\n[bots.heron]\n").config

    assert data_path(config) == file.parent / "kept"
    assert bot_workspace(config, "pond") == home / "pond"
    assert bot_workspace(config, "heron") == file.parent / "kept" / "bots" / "heron"
    assert data_path(Config()) == home / ".millpond"


def test_a_path_in_a_variable_starts_at_the_current_folder(tmp_path):
    assert data_path(load(environ={"MILLPOND_DATA_DIR": "kept"}).config) == tmp_path / "kept"


def secret_file(path: Path, content: bytes = b" hush \n", mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_a_secret_is_read_from_its_file_without_the_white_space_around_it(file, tmp_path):
    secret_file(tmp_path / "key")

    loaded = load_text(file, "[bots.pond.model]\nname = 'm'\napi_key_file = 'key'\n")

    assert loaded.config.bots["pond"].model.api_key.reveal() == "hush"
    assert not loaded.config.bots["pond"].model.offline
    assert loaded.warnings == ()


@each_row(
    ("mode", "text", "warned"),
    [
        (0o640, "[bots.pond.model]\nname = 'm'\napi_key = 'hush'\n", "bots.pond.model.api_key"),
        (0o604, "[redis]\nurl = 'redis://:hush@127.0.0.1'\n", "redis.url"),
        (0o600, "[bots.pond.model]\nname = 'm'\napi_key = 'hush'\n", ""),
        (0o644, "[redis]\nurl = 'redis://127.0.0.1'\n", ""),
    ],
)
def test_a_configuration_with_secrets_that_others_can_read_is_a_warning(file, mode, text, warned):
    file.write_text(text)
    file.chmod(mode)

    warnings = load(file, environ={}).warnings

    assert [warned in each and "chmod 600" in each and "hush" not in each for each in warnings] == [True] * bool(warned)


def test_a_secret_file_that_others_can_read_is_a_warning(file, tmp_path):
    secret_file(tmp_path / "key", mode=0o640)

    loaded = load_text(file, "[channels.web]\ntoken_file = 'key'\n")

    assert loaded.config.channels["web"].token.reveal() == "hush"
    assert len(loaded.warnings) == 1
    assert "channels.web.token_file" in loaded.warnings[0]
    assert "chmod 600" in loaded.warnings[0]


@each_row(
    ("content", "said"),
    [
        (None, "No such file"),
        (b" \n", "is empty"),
        (b"hush\xff", "is not UTF-8"),
        (b"hush" * 20_000, "is larger than 65,536 bytes"),
    ],
)
def test_an_unusable_secret_file_is_named_and_never_quoted(file, tmp_path, content, said):
    if content is not None:
        secret_file(tmp_path / "key", content)

    lines = problems(file, "[channels.web]\nhost = '0.0.0.0'\ntoken_file = 'key'\n")

    assert len(lines) == 1
    assert said in lines[0]
    assert str(tmp_path / "key") in lines[0]
    assert "hush" not in lines[0]


def test_a_pipe_is_no_secret_file(file, tmp_path):
    os.mkfifo(tmp_path / "key")

    [line] = problems(file, "[channels.web]\ntoken_file = 'key'\n")

    assert "is not a file" in line


def test_a_secret_by_value_and_by_file_is_refused(file, tmp_path):
    secret_file(tmp_path / "key")

    [line] = problems(file, "[channels.web]\ntoken_file = 'key'\ntoken = 'hush'\n")

    assert line.startswith("channels.web.token_file: token is also set. Set only one of the two")


def test_a_secret_of_the_wrong_type_is_not_shown(file):
    [line] = problems(file, "[redis]\nurl = 424242\n")

    assert "redis.url: expected text, got a number" in line
    assert "424242" not in line


@each_row("secret", ["hush", "hush\n\0", "哑"])
def test_a_secret_is_stars_wherever_it_is_printed(secret):
    section = ModelConfig(api_key=Secret(secret))

    for text in (
        str(section.api_key),
        repr(section),
        f"{section.api_key}",
        f"{section.api_key!r:>30}",
        repr(msgspec.structs.asdict(section)),
        msgspec.json.encode(section, enc_hook=encode_secret).decode(),
    ):
        assert secret not in text
        assert "****" in text


@settings(deadline=None)  # the machine that runs this may be busy
@given(st.text(min_size=1).filter(lambda text: "*" not in text))
def test_a_password_in_an_address_is_starred_whatever_is_in_it(password):
    for url in (f"redis://:{password}@", f"redis://user:{password}@"):
        assert masked_url(Secret(url)) in ("redis://:********@", "redis://user:********@")


def test_only_the_password_of_an_address_is_starred():
    assert masked_url(Secret("redis://u:hush@h:6379/0")) == "redis://u:********@h:6379/0"
    assert masked_url(Secret("unix:///s.sock?db=1&password=hush&x=1")) == "unix:///s.sock?db=1&password=********&x=1"
    assert masked_url(Secret("redis://h:6379/0")) == "redis://h:6379/0"


def test_no_traceback_of_an_error_holds_a_secret(file, tmp_path):
    secret_file(tmp_path / "key", b"hush\xff")
    text = (
        "[redis]\n"
        "url = 'redis://:hush@h:hush'\n"
        "[bots.pond.model]\n"
        "api_key = 'hush hush'\n"
        "base_url = 'http://u:hush@h'\n"
    )

    with pytest.raises(ConfigError) as caught:
        load_text(file, text + "[channels.web]\ntoken_file = 'key'\n")

    assert "hush" not in "".join(traceback.format_exception(caught.value))
    assert len(str(caught.value).splitlines()) == 6


def run(*args: str, config_path: Path | None = None, with_obj: bool = True, env: dict[str, str] | None = None):
    obj = SimpleNamespace(config_path=config_path) if with_obj else None
    return CliRunner().invoke(config_command, list(args), obj=obj, env=env)


def test_check_says_ok_and_names_the_file_and_the_warnings(file, tmp_path):
    secret_file(tmp_path / "key", mode=0o644)
    file.write_text("[channels.web]\ntoken_file = 'key'\n")

    result = run("check", config_path=file)

    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == f"ok: {file}"
    assert "warning: channels.web.token_file: " in result.stdout


def test_check_without_a_context_object_uses_the_usual_places():
    result = run("check", with_obj=False)

    assert (result.exit_code, result.stdout) == (
        0,
        "ok: no configuration file was found, so only defaults and environment variables are used\n",
    )


@each_row("command", ["check", "show"])
def test_a_wrong_configuration_is_told_on_stderr_with_its_own_exit_code(file, command):
    file.write_text("[agent]\nslot = 1\n")

    result = run(command, config_path=file)

    assert result.exit_code == EX_CONFIG
    assert result.stdout == ""
    assert "agent.slot: unknown key; did you mean slots?" in result.stderr


def test_show_prints_what_was_set_with_its_source_and_no_secret(file):
    file.write_text("[redis]\nurl = 'redis://:hush@h/1'\n[channels.web]\ntoken = 'hush'\nport = 9000\n")

    result = run("show", config_path=file, env={"MILLPOND_AGENT__SLOTS": "3"})

    assert result.exit_code == 0
    assert "slots = 3  # environment MILLPOND_AGENT__SLOTS" in result.stdout
    assert "port = 9000  # file" in result.stdout
    assert 'url = "redis://:********@h/1"  # file' in result.stdout
    assert 'token = "********"  # file' in result.stdout
    assert "hush" not in result.stdout
    assert tomllib.loads(result.stdout)["channels"] == {
        "terminal": {"type": "terminal"},
        "web": {"type": "web", "token": "********", "port": 9000},
    }


def test_what_show_prints_with_defaults_is_the_same_configuration(file, tmp_path):
    secret_file(tmp_path / "key")
    loaded = load_text(
        file,
        'data_dir = "kept"\n[bots.heron]\nworkspace = "a\\"b"\ntools = []\nadmins = ["x", "y"]\n'
        "[bots.heron.model]\nname = 'm'\napi_key_file = 'key'\n[channels.page]\ntype = 'web'\nport = 0\n",
    )

    printed = config_output.toml(loaded, defaults=True)

    assert "hush" not in printed
    assert load_text(tmp_path / "again.toml", printed).config == loaded.config
    assert "partitions is not set" in printed


FALLBACKS = """
[bots.pond.model]
base_url = "http://one/v1"
name = "one"
api_key = "hush"
context_window_tokens = 100_000
prices = { input = 2.5, cached_input = 0.25, output = 10, currency = "EUR" }

[[bots.pond.model.fallbacks]]
name = "two"

[[bots.pond.model.fallbacks]]
name = "three"
base_url = "http://three/v1"
api_key_file = "key"
context_window_tokens = 8192
prices = { input = 1 }
"""


def test_a_fallback_leaves_open_what_the_first_has_and_takes_no_key_to_another_server(file, tmp_path):
    secret_file(tmp_path / "key", b"third")
    first, second, third = load_text(file, FALLBACKS).config.bots["pond"].model.chain

    assert (first.name, first.prices.output, first.fallbacks) == ("one", 10, ())
    assert (second.base_url, second.api_key.reveal(), second.context_window_tokens) == (
        "http://one/v1",
        "hush",
        100_000,
    )
    assert second.prices.input == 0
    assert (third.base_url, third.api_key.reveal(), third.context_window_tokens) == ("http://three/v1", "third", 8_192)
    without_key = load_text(file, FALLBACKS.replace('api_key_file = "key"', "")).config.bots["pond"].model.chain[2]
    assert not without_key.api_key


def test_lists_of_sections_are_shown_as_they_can_be_read_again(file, tmp_path):
    secret_file(tmp_path / "key", b"third")
    loaded = load_text(file, 'data_dir = "kept"' + FALLBACKS.replace('api_key = "hush"', 'api_key_file = "key"'))

    printed = config_output.toml(loaded, defaults=True)

    assert "hush" not in printed
    assert "third" not in printed
    assert load_text(tmp_path / "again.toml", printed).config == loaded.config


@each_row(
    ("text", "problem"),
    [
        ("fallbacks = 1", "bots.pond.model.fallbacks: expected a list of sections [[bots.pond.model.fallbacks]], got"),
        ("fallbacks = ['two']", "bots.pond.model.fallbacks[1]: expected a section"),
        ("fallbacks = [{}]", "bots.pond.model.fallbacks[1].name: this setting is missing"),
        (
            "fallbacks = [{name = 'x'}, {nam = 'y'}]",
            "bots.pond.model.fallbacks[2].nam: unknown key; did you mean name?",
        ),
        ("fallbacks = [{name = 'x', base_url = 'x'}]", "bots.pond.model.fallbacks[1].base_url: expected http:// or"),
        ("prices = {input = -1}", "bots.pond.model.prices.input: expected a number from 0 to 1,000,000, got -1"),
        ("prices = {currency = 'a very long currency'}", "expected text of at most 16 characters"),
    ],
)
def test_fallbacks_and_prices_are_checked(file, text, problem):
    lines = problems(file, f"[bots.pond.model]\nbase_url = 'http://h/v1'\nname = 'm'\n{text}\n")

    assert any(problem in line for line in lines), lines


@each_row(
    ("more", "problem"),
    [
        ("", ""),
        ("fallbacks = [{name = 'x', prices = {input = 2, currency = 'EUR'}}]", ""),
        ("fallbacks = [{name = 'x', prices = {currency = 'EUR'}}]", ""),
        ("fallbacks = [{name = 'x'}]", "bots.pond.model.fallbacks[1].prices is not set"),
        (
            "fallbacks = [{name = 'x', prices = {input = 2, currency = 'USD'}}]",
            "in the same currency. Got 'EUR', 'USD'",
        ),
        ("[bots.pond.summary_model]\nname = 'x'", "bots.pond.summary_model.prices is not set"),
        ("[bots.pond.transcription]\nname = 'x'", "bots.pond.transcription.prices is not set"),
        ("[bots.pond.speech]\nname = 'x'", "bots.pond.speech.prices is not set"),
        ("[memory_search.embeddings]\nmodel = 'x'", "memory_search.embeddings.prices is not set"),
        (
            "[memory_search.reranker]\nmodel = 'x'\nbase_url = 'http://h/v1'",
            "memory_search.reranker.prices is not set",
        ),
    ],
)
def test_a_limit_of_costs_needs_prices_of_all_models_in_one_currency(file, more, problem):
    text = (
        "[bots.pond.limits]\ncost_per_day = {person = 0.5}\n"
        f"[bots.pond.model]\nbase_url = 'http://h/v1'\nname = 'm'\nprices = {{input = 1, currency = 'EUR'}}\n{more}\n"
    )
    if not problem:
        assert load_text(file, text).config.bots["pond"].limits.any_daily
        return
    (line,) = problems(file, text)

    assert line.startswith("bots.pond.limits.cost_per_day: a cost limit requires")
    assert problem in line


def test_a_fallback_of_the_offline_stand_in_is_refused(file):
    (line,) = problems(file, "[bots.pond.model]\nfallbacks = [{name = 'x'}]\n")

    assert line.startswith("bots.pond.model.fallbacks[1]: this fallback would never be used")


def summing_up(file, text: str) -> ModelConfig:
    return daemon_config.summary_model_of(load_text(file, text).config.bots["pond"])


def test_without_a_summary_model_the_bots_own_sums_up(file, tmp_path):
    secret_file(tmp_path / "key", b"third")
    bot = load_text(file, FALLBACKS).config.bots["pond"]

    assert daemon_config.summary_model_of(bot) is bot.model


def test_a_summary_model_leaves_open_what_the_bots_own_has_and_takes_no_key_to_another_server(file, tmp_path):
    secret_file(tmp_path / "key", b"third")
    near = summing_up(file, FALLBACKS + '[bots.pond.summary_model]\nname = "small"\n')
    far = summing_up(file, FALLBACKS + '[bots.pond.summary_model]\nbase_url = "http://far/v1"\n')

    assert (near.base_url, near.name, near.api_key.reveal(), near.fallbacks) == ("http://one/v1", "small", "hush", ())
    assert (near.context_window_tokens, near.prices.input) == (100_000, 0)
    assert (far.base_url, far.name, far.api_key.reveal(), far.prices.input) == ("http://far/v1", "one", "", 0)


def test_the_same_model_with_another_limit_has_the_same_prices(file, tmp_path):
    secret_file(tmp_path / "key", b"third")
    shorter = summing_up(file, FALLBACKS + "[bots.pond.summary_model]\nmax_completion_tokens = 2_000\n")

    assert (shorter.name, shorter.prices.input, shorter.completion_tokens) == ("one", 2.5, 2_000)


def test_beside_the_offline_stand_in_it_is_offline_too_unless_it_has_a_server(file):
    assert summing_up(file, "[bots.pond.summary_model]\nname = 'm'\n").offline


def test_an_offline_bot_may_have_a_real_model_that_sums_up(file):
    model = summing_up(file, "[bots.pond.summary_model]\nname = 'm'\nbase_url = 'http://h/v1'\n")

    assert (model.offline, model.name) == (False, "m")


@each_row(
    ("text", "problem"),
    [
        ("[bots.pond.summary_model]\napi_key = 'k'", "bots.pond.summary_model.name: this setting is missing"),
        ("[bots.pond.summary_model]\nnam = 'm'", "bots.pond.summary_model.nam: unknown key; did you mean name?"),
        (
            "[bots.pond.summary_model]\nbase_url = 'x'\nname = 'm'",
            "bots.pond.summary_model.base_url: expected http:// or",
        ),
        (
            "[bots.pond.summary_model]\nbase_url = 'http://h'\nname = 'm'\ncontext_window_tokens = 4096\n"
            "safety_buffer_tokens = 3000",
            "bots.pond.summary_model.context_window_tokens: a context window of 4,096 tokens leaves only 72",
        ),
        ("[bots.pond]\nsummary_model = 'm'", "bots.pond.summary_model: expected a section"),
    ],
)
def test_a_summary_model_is_checked(file, text, problem):
    lines = problems(file, text + "\n")

    assert any(problem in line for line in lines), lines


def test_a_summary_model_can_be_set_by_variables_and_is_shown(tmp_path):
    environ = {
        "MILLPOND_DATA_DIR": str(tmp_path),
        "OPENAI_API_KEY": "hush",
        "OPENAI_MODEL": "one",
        "MILLPOND_BOTS__POND__SUMMARY_MODEL__NAME": "small",
    }
    loaded = load(environ=environ)

    assert daemon_config.summary_model_of(loaded.config.bots["pond"]).name == "small"
    assert '[bots.pond.summary_model]\nname = "small"' in config_output.toml(loaded)


def test_a_list_of_sections_cannot_be_set_by_a_variable(tmp_path):
    with pytest.raises(ConfigError, match="an environment variable cannot set this list"):
        load(environ={"MILLPOND_DATA_DIR": str(tmp_path), "MILLPOND_BOTS__POND__MODEL__FALLBACKS": "x"})


SERVERS = """
[bots.pond.mcp.files]
command = "files-server"
args = ["--root", "/srv"]
env = { TOKEN = "hush" }
tools = ["find"]

[bots.pond.mcp.web-search]
url = "https://search.example/mcp"
headers = { Authorization = "Bearer hush" }
"""


def test_tool_servers_are_read_and_their_secrets_are_not_shown(file, tmp_path):
    loaded = load_text(file, SERVERS)
    servers = loaded.config.bots["pond"].mcp

    assert (servers["files"].command, servers["files"].env["TOKEN"].reveal()) == ("files-server", "hush")
    assert servers["web-search"].headers["Authorization"].reveal() == "Bearer hush"
    for printed in (
        config_output.toml(loaded),
        config_output.toml(loaded, defaults=True),
        json.dumps(config_output.values(loaded)),
    ):
        assert "hush" not in printed
        assert "TOKEN" in printed
    again = load_text(tmp_path / "again.toml", config_output.toml(loaded, defaults=True)).config.bots["pond"].mcp
    assert again["files"].args == servers["files"].args
    assert again["web-search"].url == servers["web-search"].url


def test_tool_servers_can_be_set_by_variables(tmp_path):
    prefix = "MILLPOND_BOTS__POND__MCP__FILES__"
    environ = {"MILLPOND_DATA_DIR": str(tmp_path), f"{prefix}COMMAND": "x", f"{prefix}ENV__API_TOKEN": "hush"}

    server = load(environ=environ).config.bots["pond"].mcp["files"]

    assert (server.command, server.env["API_TOKEN"].reveal()) == ("x", "hush")


@each_row(
    ("text", "problem"),
    [
        ("[bots.pond.mcp]\nfiles = 1", "bots.pond.mcp.files: expected a section"),
        ("[bots.pond.mcp.files]", "bots.pond.mcp.files: set either command"),
        ("[bots.pond.mcp.x]\ncommand = 'x'\nurl = 'http://h'", "bots.pond.mcp.x: set either command"),
        ("[bots.pond.mcp.x]\nurl = 'http://u:hush@h'", "bots.pond.mcp.x.url: expected http:// or https:// and a host"),
        ("[bots.pond.mcp.X]\ncommand = 'x'", "bots.pond.mcp.X: the name is not valid"),
        ("[bots.pond.mcp.x]\ncommand = 'x'\ncomand = 'y'", "unknown key; did you mean command?"),
        ("[bots.pond.mcp.x]\ncommand = 'x'\nenv = {A = 1}", "bots.pond.mcp.x.env.A: expected text, got a number"),
        ("[bots.pond.mcp.x]\ncommand = 'x'\nenv = 'hush'", "bots.pond.mcp.x.env: expected a section"),
        (
            "[bots.pond.mcp.x]\ncommand = 'x'\nenv = {'A B' = 'hush'}",
            "bots.pond.mcp.x.env.'A B': the name is not valid",
        ),
        (
            "[bots.pond.mcp.x]\nurl = 'http://h'\nheaders = {A = \"hu\\nsh\"}",
            "mcp.x.headers.A: the value must be one line",
        ),
    ],
)
def test_tool_servers_are_checked(file, text, problem):
    lines = problems(file, f"{text}\n")

    assert any(problem in line for line in lines), lines
    assert not any("hush" in line for line in lines)


def test_tool_servers_without_their_package_are_an_error_that_says_what_to_install(file, monkeypatch):
    monkeypatch.setattr("daemon.config.config_rules.find_spec", lambda name: None)

    (line,) = problems(file, "[bots.pond.mcp.files]\ncommand = 'x'\n")

    assert line.startswith(
        "bots.pond.mcp: tool servers need a package that is not installed. Run: pip install 'millpond[mcp]'"
    )


@each_row(
    ("text", "problem"),
    [
        ("tools = ['web_search']", "bots.pond.web.search: this setting is missing. Set the provider"),
        ("web = {search = 'brave'}", "bots.pond.web.api_key: this setting is missing. Set the API key for brave"),
        ("web = {search = 'searxng'}", "bots.pond.web.search_url: this setting is missing"),
        ("web = {search = 'searxng', search_url = 'http://u:hush@h'}", "bots.pond.web.search_url: expected http://"),
        ("web = {search = 'bing'}", "bots.pond.web.search: expected one of "),
    ],
)
def test_the_web_tools_are_checked(file, text, problem):
    lines = problems(file, f"[bots.pond]\n{text}\n")

    assert any(problem in line for line in lines), lines
    assert not any("hush" in line for line in lines)


def test_pages_without_their_package_are_an_error_that_says_what_to_install(file, monkeypatch):
    monkeypatch.setattr("daemon.config.bot_rules.find_spec", lambda name: None)

    (line,) = problems(file, "[bots.pond]\ntools = ['web_fetch']\n")

    assert "bots.pond.tools: the tool web_fetch needs packages" in line and "pip install 'millpond[web]'" in line


def test_show_prints_json(file):
    file.touch(mode=0o600)
    file.write_text("[channels.web]\ntoken = 'hush'\n")

    content = json.loads(run("show", "--json", config_path=file).stdout)

    assert content["file"] == str(file)
    assert content["values"]["channels"]["web"] == {"type": "web", "token": "********"}
    assert content["sources"] == {"channels.web.token": "file"}
    assert content["warnings"] == []


def test_the_documentation_has_every_key_of_every_section_with_its_default():
    tables = _documented()

    for heading, kind, path in _sections():
        documented = tables.get(heading)
        assert documented is not None, f"no section {heading}"
        expected = {
            key: "unset" if (value := getattr(kind(), key)) is None else f"`{config_output.literal(_plain(value))}`"
            for key, entry in fields_of(kind).items()
            if join(path, key) not in _SECTION_PATHS
        }
        assert documented == expected, heading


_SECTION_PATHS = {
    *(
        "bots",
        "bots.pond.web",
        "bots.pond.exec",
        "bots.pond.memory",
        "bots.pond.model",
        "bots.pond.model.prices",
        "bots.pond.model.thinking",
        "channels",
        "consolidation.audit",
        "context.bootstrap",
        "people",
    ),
    *(
        "bots.pond.limits",
        "bots.pond.reminders",
        "bots.pond.mcp",
        "mcp.env",
        "mcp.headers",
        "bots.pond.limits.tokens_per_day",
        "bots.pond.limits.cost_per_day",
        "memory_search.embeddings.prices",
        "memory_search.reranker.prices",
        "bots.pond.transcription.prices",
        "bots.pond.speech.prices",
        "bots.pond.limits.messages_per_minute",
        "fallbacks.prices",
        "fallbacks.thinking",
        "memory_search.embeddings",
        "memory_search.reranker",
        "bots.pond.summary_model",
        "bots.pond.summary_model.prices",
        "bots.pond.summary_model.thinking",
        "bots.pond.transcription",
        "bots.pond.speech",
        "channels.web.limits",
        *(
            f"channels.{tag}.{part}"
            for tag in ("testing", "telegram", "slack", "discord", "feishu", "webhook")
            for part in ("access", "webhook", "events")
        ),
    ),
} | {
    key
    for key, entry in fields_of(Config).items()
    if isinstance(entry.type, type) and issubclass(entry.type, msgspec.Struct)
}


def _sections():
    yield "Top level", Config, ""
    for key in ("redis", "queue", "agent", "run", "consolidation", "memory_flush", "memory_search", "micro_compact"):
        yield f"[{key}]", fields_of(Config)[key].type, key
    yield "[memory_search.embeddings]", daemon_config.EmbeddingsConfig, "memory_search.embeddings"
    yield "[memory_search.reranker]", daemon_config.RerankerConfig, "memory_search.reranker"
    yield "[people.<name>]", PersonConfig, "people.ann"
    yield "[context.bootstrap]", daemon_config.BootstrapConfig, "context.bootstrap"
    yield "[bots.<name>]", BotConfig, "bots.pond"
    yield "[bots.<name>.memory]", daemon_config.MemoryConfig, "bots.pond.memory"
    yield "[bots.<name>.model]", ModelConfig, "bots.pond.model"
    yield "[bots.<name>.model.thinking]", ThinkingConfig, "bots.pond.model.thinking"
    yield "[bots.<name>.model.prices]", daemon_config.PricesConfig, "bots.pond.model.prices"
    yield "[[bots.<name>.model.fallbacks]]", daemon_config.FallbackConfig, "fallbacks"
    yield "[bots.<name>.summary_model]", daemon_config.FallbackConfig, "bots.pond.summary_model"
    yield "[bots.<name>.transcription]", daemon_config.TranscriptionConfig, "bots.pond.transcription"
    yield "[bots.<name>.speech]", daemon_config.SpeechConfig, "bots.pond.speech"
    yield "[bots.<name>.exec]", daemon_config.ExecConfig, "bots.pond.exec"
    yield "[bots.<name>.web]", daemon_config.WebToolsConfig, "bots.pond.web"
    yield "[channels.<name>.limits]", daemon_config.WebLimitsConfig, "channels.web.limits"
    yield "[channels.<name>.access]", daemon_config.AccessConfig, "channels.telegram.access"
    yield "[channels.<name>.webhook]", daemon_config.WebhookConfig, "channels.telegram.webhook"
    yield "[channels.<name>.events]", daemon_config.SlackEventsConfig, "channels.slack.events"
    yield "[channels.<name>.events] of Feishu", daemon_config.FeishuEventsConfig, "channels.feishu.events"
    yield "[bots.<name>.mcp.<name>]", daemon_config.McpConfig, "mcp"
    yield "[bots.<name>.limits.tokens_per_day]", daemon_config.EachConfig, "bots.pond.limits.tokens_per_day"
    yield "[bots.<name>.limits]", daemon_config.LimitsConfig, "bots.pond.limits"
    yield "[bots.<name>.reminders]", daemon_config.RemindersConfig, "bots.pond.reminders"
    yield "[bots.<name>.limits.cost_per_day]", daemon_config.CostConfig, "bots.pond.limits.cost_per_day"
    yield "[bots.<name>.limits.messages_per_minute]", daemon_config.EachConfig, "bots.pond.limits.messages_per_minute"
    for tag, kind in members_of(ChannelConfig).items():
        yield f'[channels.<name>], type "{tag}"', kind, f"channels.{tag}"


def _plain(value: object) -> object:
    return value.reveal() if isinstance(value, Secret) else value


def _documented() -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = {}
    pages = ("configuration.md", "configuration-bots.md", "configuration-channels.md")
    for line in "".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in pages).splitlines():
        if line.startswith("#"):
            table = tables.setdefault(line.lstrip("# ").replace("`", ""), {})
        elif line.startswith("| `"):
            key, default = (cell.strip() for cell in line.split("|")[1:3])
            table[key.strip("`")] = default
    return tables


def test_the_names_that_are_allowed():
    assert all(map(is_name, ["a", "0", "pond", "big-heron_2", "a" * 64]))
    assert not any(map(is_name, ["", "-a", "_a", "A", "a b", "a.b", "é", "a\n", "a" * 65]))


def test_importing_the_configuration_stays_light():
    heavy = ["click", "zoneinfo", "asyncio", "anyio", "redis", "structlog"]
    code = f"import sys, daemon.config; print([m for m in {heavy} if m in sys.modules])"

    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=HANG_S, check=True
    )

    assert result.stdout == "[]\n"


def test_what_the_package_lists_is_there():
    assert all(hasattr(daemon_config, name) for name in daemon_config.__all__)


def test_the_examples_of_the_documentation_load(file):
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    examples = text.partition("## Examples")[2].partition("## Keys")[0].split("\n\n")
    blocks = "\n".join(block for block in examples if block.startswith("    "))
    first, second = blocks.split("    [redis]")
    secret_file(file.parent / "key")

    for example in (first, "[redis]" + second):
        toml = "\n".join(line.strip() for line in example.splitlines())
        for path in ("~/.secrets/openai", "/run/secrets/web-token"):
            toml = toml.replace(path, "key")

        assert load_text(file, toml).warnings == ()


def test_an_unknown_section_in_the_environment_is_named_by_its_variable(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"queu: unknown key; .*MILLPOND_QUEU__LEASE_S"):
        load(environ={"MILLPOND_DATA_DIR": str(tmp_path), "MILLPOND_QUEU__LEASE_S": "3"})


PEOPLE = """
[bots.pond]
[bots.lake]
memory = {scope = "workspace"}
[channels.web]
[channels.other]
type = "web"
bot = "lake"
port = 0
"""


def test_a_person_has_several_identities(file):
    loaded = load_text(file, PEOPLE + '[people.ann]\nidentities = ["web:ann", "terminal:me"]')

    assert loaded.config.people["ann"].identities == ("web:ann", "terminal:me")


@each_row(
    ("identities", "told"),
    [
        ('["web:ann"]', "at least two"),
        ('["web:ann", "ann"]', "expected <channel>:<sender>"),
        ('["web:ann", "web:ann:7"]', "expected <channel>:<sender>"),
        ('["web:ann", "phone:ann"]', "a channel that does not exist. Choose one of"),
        ('["web:ann", "web:ann"]', "is listed twice"),
        ('["web:ann", "web:bob"]', "in people.bob too. List each identity only once"),
        ('["web:ann", "other:ann"]', "whose memory.scope setting is 'workspace'"),
    ],
)
def test_identities_that_cannot_be_linked_are_refused(file, identities, told):
    bob = '[people.bob]\nidentities = ["web:bob", "terminal:bob"]\n'

    [line] = problems(file, PEOPLE + bob + f"[people.ann]\nidentities = {identities}")

    assert told in line


def test_what_root_made_for_a_group_is_no_secret_spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret, owner = tmp_path / "token", [0]
    secret.write_text("hush")
    real = Path.stat

    def owned(path: Path, **options: bool) -> os.stat_result:
        found = list(real(path, **options))
        if path == secret:
            found[stat.ST_UID] = owner[0]
        return os.stat_result(found)

    monkeypatch.setattr(Path, "stat", owned)
    monkeypatch.setattr(os, "geteuid", lambda: 10001)
    warned = {}
    for mode, uid in ((0o440, 0), (0o444, 0), (0o440, 1000), (0o400, 1000)):
        secret.chmod(mode)
        owner[0] = uid
        warned[mode, uid] = bool(read_secret_file(secret)[1])

    assert warned == {(0o440, 0): False, (0o444, 0): True, (0o440, 1000): True, (0o400, 1000): False}


@each_row("text, is_refused", [("", False), ("approval = true", False), ("approval = true\napproval_s = 600", True)])
def test_a_command_does_not_wait_for_approval_longer_than_its_turn(file, text, is_refused):
    found = problems(file, f"[bots.pond.exec]\n{text}\n") if is_refused else []

    assert [line.partition(":")[0].rpartition(" ")[2] for line in found] == (
        ["bots.pond.exec.approval_s"] if is_refused else []
    )
    assert is_refused or load_text(file, f"[bots.pond.exec]\n{text}\n")
