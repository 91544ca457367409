"""``millpond init``, as a real process with flags and on a terminal, against servers of its own."""

import json
import os
import shutil
import stat
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from click.testing import CliRunner

from daemon.cli import root
from daemon.config import TOOLS
from tests.fakes.anthropic_server import KEY as ANTHROPIC_KEY
from tests.fakes.anthropic_server import Claude, fake_anthropic
from tests.fakes.openai_server import Failure, FakeOpenAI, Hang, Plain, Say, fake_openai
from tests.fakes.telegram import FakeTelegram, Refuse, fake_telegram
from tests.places import TEMPORARY
from tests.processes import shut_down
from tests.tables import each_row
from tests.terminals import OnTerminal, on_terminal

TOKEN = "123456789:AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQr"
KEY = "sk-very-secret-key"
NO_WEB = ("--web-search", "none", "--no-web-fetch", "--voice-url", "-")
QUIET = ("--offline", "--bot", "b", "--language", "en", "--time-zone", "UTC", *NO_WEB)


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def telegram(portal: BlockingPortal) -> Iterator[FakeTelegram]:
    with portal.wrap_async_context_manager(fake_telegram()) as server:
        yield server


def at(telegram: FakeTelegram, *, token: str = "") -> tuple[str, ...]:
    return ("--telegram-token", token or telegram.bot.token, "--telegram-url", telegram.base_url)


@contextmanager
def model(*replies: Any) -> Iterator[FakeOpenAI]:
    """A model's server; without replies it echoes."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(fake_openai(replies)) as server:
        yield server


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self.data = self.home / ".millpond"
        self.config = self.data / "millpond.toml"
        outside = ("MILLPOND_", "OPENAI_", "ANTHROPIC_", "LC_", "LANG", "TZ")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(outside)}
        self.environ = kept | {"HOME": str(self.home), "TZ": "Europe/Berlin", "XDG_RUNTIME_DIR": str(folder)}

    def __call__(self, *args: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        """Run a command without a terminal, in this process: a new one costs a second of a busy machine."""
        outside = {name: None for name in os.environ if name not in self.environ}
        done = CliRunner().invoke(root, args, env=outside | self.environ | environ, prog_name="millpond")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return subprocess.CompletedProcess(args, done.exit_code, done.stdout, done.stderr)

    def sits(self, *args: str) -> "Any":
        return on_terminal(*args, environ=self.environ)

    @property
    def tables(self) -> dict[str, Any]:
        return tomllib.loads(self.config.read_text())

    def files(self) -> Mapping[str, str]:
        """Everything below the home: relative path and content."""
        return {
            str(path.relative_to(self.home)): path.read_text(errors="replace")
            for path in sorted(self.home.rglob("*"))
            if path.is_file()
        }


@pytest.fixture
def place() -> Iterator[Place]:
    folder = Path(tempfile.mkdtemp(prefix="mp-", dir=TEMPORARY))
    place = Place(folder)
    yield place
    shut_down(place.data)
    shutil.rmtree(folder, ignore_errors=True)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_flags_alone_give_a_configuration_that_can_be_used(place: Place, telegram: FakeTelegram) -> None:
    with model() as server:
        done = place(
            *("init", "--model-url", server.base_url, "--model", "m", "--model-key", KEY),
            *(*at(telegram), "--owner", "4711"),
            *("--language", "zh", "--access", "private"),
        )

    assert (done.returncode, done.stderr) == (0, "")
    assert "https://t.me/pond_bot" in done.stdout
    assert place.tables == {
        "bots": {
            "pond": {
                "language": "zh",
                "time_zone": "Europe/Berlin",
                "tools": [
                    *("time", "message", "compact", "read_file", "write_file", "edit_file", "list_files", "grep"),
                    *("memory_search", "memory_get", "conversation_search", "remind"),
                ],
                "admins": ["telegram:4711"],
                "model": {"base_url": server.base_url, "name": "m", "api_key_file": "pond.model.key"},
            }
        },
        "channels": {
            "telegram": {
                "type": "telegram", "bot": "pond", "base_url": telegram.base_url, "token_file": "telegram.token",
                "access": {"policy": "allow", "allow": ["4711"]},
            }
        },
    }  # fmt: skip
    assert (place.data / "telegram.token").read_text().strip() == telegram.bot.token
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    for file in ("millpond.toml", "pond.model.key", "telegram.token", "bots/pond/SOUL.md"):
        assert mode(place.data / file) == 0o600, file
    for name in workspace():
        text = (place.data / name).read_text()
        assert "pond" in text and "{" not in text, name
    assert "名" in (place.data / "bots/pond/USER.md").read_text()
    assert place("config", "check").stdout.startswith(f"ok: {place.config}\n")
    shown = done.stdout + place("config", "show").stdout + place.config.read_text()
    assert telegram.bot.token not in shown
    assert KEY not in shown


def test_without_anything_there_is_an_offline_bot_and_templates(place: Place) -> None:
    done = place("init")

    assert done.returncode == 0
    assert "mock model" in done.stdout
    assert set(place.files()) == {f".millpond/{name}" for name in ("millpond.toml", *workspace())}
    assert "pond is calm" in (place.data / "bots/pond/SOUL.md").read_text()


def workspace() -> Iterator[str]:
    yield from (f"bots/pond/{name}" for name in ("AGENTS.md", "SOUL.md", "USER.md"))


def test_a_bot_that_speaks_chinese_is_set_up_in_chinese(place: Place) -> None:
    done = place("init", "--offline", "--language", "zh", "--time-zone", "UTC", *NO_WEB)

    assert "配置将保存在 " in done.stdout
    assert "启动命令：" in done.stdout
    assert [line for line in done.stdout.splitlines() if line.isascii() and line.strip()] == []


def test_templates_never_overwrite(place: Place) -> None:
    (place.data / "bots/pond").mkdir(parents=True)
    (place.data / "bots/pond/SOUL.md").write_text("mine")

    assert place("init").returncode == 0
    assert (place.data / "bots/pond/SOUL.md").read_text() == "mine"
    assert (place.data / "bots/pond/AGENTS.md").exists()


def test_openai_s_variables_are_answers(place: Place) -> None:
    with model() as server:
        environ = {"OPENAI_BASE_URL": server.base_url, "OPENAI_MODEL": "m", "OPENAI_API_KEY": KEY}
        done = place("init", **environ)

    assert done.returncode == 0, done.stderr
    assert place.tables["bots"]["pond"]["model"]["name"] == "m"
    assert (place.data / "pond.model.key").read_text().strip() == KEY


def test_anthropic_s_api_is_set_up_by_its_variables_or_by_a_flag(place: Place, portal: BlockingPortal) -> None:
    with portal.wrap_async_context_manager(fake_anthropic(Claude(""))) as server:
        environ = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_MODEL": "m", "ANTHROPIC_API_KEY": ANTHROPIC_KEY}
        by_variables = place("init", **environ)
        written = place.tables["bots"]["pond"]["model"]
        by_flag = place("init", "--yes", *("--model-api", "anthropic", "--model", "n"), OPENAI_API_KEY=KEY)

    assert (by_variables.returncode, by_flag.returncode) == (0, 0), by_variables.stderr + by_flag.stderr
    assert (written["api"], written["base_url"], written["name"]) == ("anthropic", server.base_url, "m")
    assert (place.data / "pond.model.key").read_text().strip() == ANTHROPIC_KEY
    assert place.tables["bots"]["pond"]["model"] == {**written, "name": "n"}
    assert server.refusals == []


def test_the_key_of_the_environment_is_for_openai_s_server_alone(place: Place) -> None:
    with model() as server:
        done = place("init", "--model-url", server.base_url, "--model", "m", OPENAI_API_KEY=KEY)

        assert done.returncode == 0, done.stderr
        assert KEY not in server.requests[0].headers.get("authorization", "")
    assert place.tables["bots"]["pond"]["model"]["api_key"] == ""


def test_an_address_without_v1_is_mended(place: Place) -> None:
    with model(Failure(404), Say("yes")) as server:
        given = server.base_url.removesuffix("/v1")
        done = place("init", "--model-url", given, "--model", "m")

    assert done.returncode == 0, done.stderr
    assert place.tables["bots"]["pond"]["model"]["base_url"] == server.base_url


@each_row(
    ("reply", "said", "code"),
    [
        (Failure(401, "no"), "rejected the API key (401)", 1),
        (Failure(404, "The model does not exist"), "was not found (404). Check model.name and model.base_url.", 1),
        (Plain(b"<html>a page</html>"), "returned a web page instead of an answer from the model", 1),
        (Failure(503), "failed (503)", 69),
    ],
)
def test_a_failing_model_is_reported_and_nothing_is_written(place: Place, reply: Any, said: str, code: int) -> None:
    with model(reply) as server:
        done = place("init", "--model-url", server.base_url, "--model", "m", "--model-key", KEY)

    assert done.returncode == code
    assert said in done.stderr
    assert KEY not in done.stderr
    assert place.files() == {}


@each_row("token", ["987:wrong", "no token at all", TOKEN[:-1]])
def test_a_wrong_token_is_said_without_showing_it(place: Place, telegram: FakeTelegram, token: str) -> None:
    done = place("init", *at(telegram, token=token))

    assert done.returncode == 1
    assert "token" in done.stderr
    assert token not in done.stderr
    assert place.files() == {}


def test_nothing_listens_at_the_address_of_the_model_or_of_telegram(place: Place) -> None:
    model = place("init", "--model-url", "http://127.0.0.1:9/v1", "--model", "m")
    telegram = place("init", "--telegram-token", TOKEN, "--telegram-url", "http://127.0.0.1:9")

    assert (model.returncode, telegram.returncode) == (69, 1)
    assert "No server listens at 127.0.0.1:9" in model.stderr
    assert "http://127.0.0.1:9 cannot be reached" in telegram.stderr
    assert TOKEN not in telegram.stderr
    assert place.files() == {}


def test_no_test_tries_nothing(place: Place) -> None:
    flags = ("--model-url", "http://127.0.0.1:9/v1", "--model", "m", "--telegram-token", TOKEN, "--owner", "1")
    done = place("init", "--no-test", *flags, "--telegram-url", "http://127.0.0.1:9")

    assert done.returncode == 0, done.stderr
    assert place.tables["channels"]["telegram"]["access"] == {"policy": "pairing"}


@each_row(
    ("flags", "said"),
    [
        (("--bot", "Not A Name"), "--bot Not A Name: a name must begin with a letter"),
        (("--time-zone", "Mars/Base"), "--time-zone Mars/Base: expected an IANA time zone"),
        (("--model-url", "gpt.example", "--model", "m"), "--model-url gpt.example: enter an address that begins with"),
        (("--model-url", "http://127.0.0.1:9/v1"), "--model: enter the name of a model"),
        (("--telegram",), "--telegram-token: a token is needed"),
        (("--telegram-token", TOKEN, "--owner", "ann"), "--owner ann: a Telegram user ID is a number"),
        (
            ("--model-key", "a", "--model-key-file", "b", "--model-url", "http://h/v1", "--model", "m"),
            "cannot be used together",
        ),
        (("--telegram-token-file", "/nowhere/at/all"), "--telegram-token-file: '/nowhere/at/all' cannot be read"),
    ],
)
def test_an_answer_that_will_not_do_is_told_by_its_flag(place: Place, flags: tuple[str, ...], said: str) -> None:
    done = place("init", "--no-test", *flags)

    assert done.returncode == 78
    assert said in done.stderr
    assert place.files() == {}


def test_what_is_there_is_changed_only_when_it_is_said_so(place: Place) -> None:
    place("init")
    before = place.files()

    done = place("init", "--bot", "heron")

    assert done.returncode == 78
    assert "--yes" in done.stderr
    assert place.files() == before


def test_a_second_run_keeps_other_settings_and_comments_and_leaves_a_copy(place: Place, telegram: FakeTelegram) -> None:
    place("init", "--time-zone", "UTC")
    more = (
        "[queue]\nlease_s = 20.0  # slow disks",
        "[channels.web]\nport = 9000",
        "[bots.pond.limits.tokens_per_day]\nbot = 5",
    )
    text = "\n\n".join((place.config.read_text(), *more)) + "\n"
    place.config.write_text(text)

    done = place("init", "--yes", *at(telegram), "--owner", "7")

    assert done.returncode == 0, done.stderr
    assert place.tables["queue"] == {"lease_s": 20.0}
    assert place.tables["channels"]["web"] == {"port": 9000}
    assert place.tables["bots"]["pond"]["limits"] == {"tokens_per_day": {"bot": 5}}
    assert place.tables["bots"]["pond"]["time_zone"] == "UTC"
    assert "lease_s = 20.0  # slow disks" in place.config.read_text()
    (backup,) = place.data.glob("millpond.toml.*.bak")
    assert backup.read_text() == text
    assert mode(backup) == 0o600


def test_the_same_again_changes_nothing(place: Place, telegram: FakeTelegram) -> None:
    flags = ("init", "--yes", *at(telegram), "--owner", "7")
    place(*flags)
    before = place.files()

    done = place(*flags)

    assert "already contains exactly these settings" in done.stdout
    assert place.files() == before


def test_a_second_bot_gets_sections_of_its_own(place: Place, telegram: FakeTelegram) -> None:
    place("init", *at(telegram), "--owner", "7")

    same = place("init", "--yes", "--bot", "heron", *at(telegram))
    done = place("init", "--yes", "--bot", "heron", *at(telegram, token=telegram.new_bot("heron_bot").token))

    assert same.returncode == 78
    assert "this token is already used by channels.telegram" in same.stderr
    assert done.returncode == 0, done.stderr
    assert set(place.tables["bots"]) == {"pond", "heron"}
    assert {name: each["bot"] for name, each in place.tables["channels"].items()} == {
        "telegram": "pond",
        "telegram-heron": "heron",
    }
    assert (place.data / "telegram-heron.token").exists()


def test_a_configuration_that_could_not_be_used_is_not_written(place: Place) -> None:
    place.data.mkdir()
    place.config.write_text("[queue]\nlease_s = 2.0\n")

    done = place("init", "--yes", "--offline")

    assert done.returncode == 78
    assert "queue.renew_s" in done.stderr
    assert place.files() == {".millpond/millpond.toml": "[queue]\nlease_s = 2.0\n"}


def test_another_data_directory_is_written_down(place: Place) -> None:
    done = place("init", "--data-dir", str(place.home / "pond"))

    assert f"millpond --config {place.home}/pond/millpond.toml run" in done.stdout
    assert tomllib.loads((place.home / "pond/millpond.toml").read_text())["data_dir"] == str(place.home / "pond")


def answer_the_first(terminal: OnTerminal) -> None:
    terminal.answer("Bot name", "heron")
    terminal.answer("Which", "")
    terminal.answer(r"Time zone \[Europe/Berlin\]", "Mars")
    terminal.shows("expected an IANA time zone")
    terminal.answer("Time zone", "")


def test_the_whole_way_on_a_terminal(place: Place, telegram: FakeTelegram, portal: BlockingPortal) -> None:
    eve, ann = telegram.person("Eve"), telegram.person("Ann", id=4711)
    portal.call(telegram.direct(eve).say, "hello, anybody there?")
    with model(Failure(401), Say("yes")) as server, place.sits("init", "--telegram-url", telegram.base_url) as terminal:
        answer_the_first(terminal)
        terminal.answer("Server address", server.base_url)
        terminal.answer("API key", "wrong")
        terminal.answer("Model name", "m")
        terminal.shows("rejected the API key")
        server.models = ("m", "n")
        terminal.answer("Which", "again")
        terminal.answer("Server address", "")
        terminal.answer("API key", KEY)
        terminal.shows("Models on this server: m, n.")
        terminal.answer("Model name", "")
        terminal.shows("The model answers")
        terminal.answer("Bot token", "1:wrong")
        terminal.shows("Telegram rejected the token")
        terminal.answer("Which", "a")
        terminal.answer("Bot token", telegram.bot.token)
        code = terminal.shows(r"https://t\.me/pond_bot\?start=([A-Z0-9]+)")[1]
        portal.call(telegram.direct(eve).say, "/start WRONGCODE")
        portal.call(telegram.direct(ann).say, f"/start {code}")
        terminal.shows(r"You are Ann \(4711\)")
        terminal.answer("Which", "")
        terminal.answer("Web search", "searxng")
        terminal.answer("Your SearXNG server address", "http://127.0.0.1:1")
        terminal.shows("The search provider searxng returned no usable answer: ConnectError")
        terminal.answer("Keep this provider anyway", "y")
        terminal.answer("Let the bot read public web pages", "")
        terminal.answer("Voice messages: address", "")
        assert terminal.ends() == 0, terminal.screen

    assert place.tables["bots"]["heron"]["web"] == {"search": "searxng", "search_url": "http://127.0.0.1:1"}
    assert place.tables["bots"]["heron"]["tools"] == [*TOOLS, "web_search", "web_fetch"]
    assert place.tables["bots"]["heron"]["admins"] == ["telegram:4711"]
    assert place.tables["channels"]["telegram"]["access"] == {"policy": "pairing"}
    assert KEY not in terminal.screen
    assert telegram.bot.token not in terminal.screen
    # What others wrote before is still there for the daemon.
    assert [update.payload["text"] for update in telegram.bot.updates][:2] == [
        "hello, anybody there?",
        "/start WRONGCODE",
    ]
    assert len(telegram.direct(ann).texts()) == 1
    assert "Name: Ann" in (place.data / "bots/heron/USER.md").read_text()
    assert telegram.oddities() == []


def test_the_owner_s_own_message_is_taken_away_when_nobody_wrote_before(
    place: Place, telegram: FakeTelegram, portal: BlockingPortal
) -> None:
    ann = telegram.direct(telegram.person("Ann", id=4711))
    portal.call(telegram.faults.on, "getUpdates", Refuse(429, retry_after=0))
    with place.sits("init", *QUIET, *at(telegram)) as terminal:
        code = terminal.shows(r"start=([A-Z0-9]+)")[1]
        portal.call(ann.say, f"/start {code}")
        terminal.answer("Which", "private")
        assert terminal.ends() == 0, terminal.screen

    assert telegram.bot.updates == []
    assert place.tables["channels"]["telegram"]["access"] == {"policy": "allow", "allow": ["4711"]}


def test_ctrl_c_while_waiting_for_the_owner_goes_on_without(place: Place, telegram: FakeTelegram) -> None:
    with place.sits("init", *QUIET, "--access", "open", *at(telegram)) as terminal:
        terminal.shows("Press Ctrl-C to continue without an owner …")
        terminal.interrupt()
        assert terminal.ends() == 0, terminal.screen

    assert "The bot has no administrator yet" in terminal.screen
    assert place.tables["channels"]["telegram"]["access"] == {"policy": "open"}
    assert "admins" not in place.tables["bots"]["b"]


def test_another_program_that_reads_the_bot_s_messages_is_said(place: Place, telegram: FakeTelegram) -> None:
    telegram.bot.hook.url = "https://other.example/hook"
    done = place("init", "--offline", "--pair", *at(telegram))

    assert done.returncode == 1
    assert "the bot has a webhook" in done.stderr
    assert place.files() == {}


def test_a_webhook_can_be_taken_away(place: Place, telegram: FakeTelegram, portal: BlockingPortal) -> None:
    telegram.bot.hook.url = "https://other.example/hook"
    ann = telegram.direct(telegram.person("Ann", id=4711))
    with place.sits("init", *QUIET, "--access", "pairing", *at(telegram)) as terminal:
        terminal.shows(r"A webhook is set for this bot \(https://other.example/hook")
        terminal.answer("Delete that webhook", "y")
        code = terminal.shows(r"start=([A-Z0-9]+)")[1]
        portal.call(ann.say, f"/start {code}")
        assert terminal.ends() == 0, terminal.screen

    assert telegram.bot.hook.url == ""
    assert place.tables["bots"]["b"]["admins"] == ["telegram:4711"]


QUESTIONS = (
    "Bot name",
    "Which",
    "Time zone",
    "Server address",
    "API key",
    "Model name",
    "Bot token",
    "Which",
    "Web",
)


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_ctrl_c_at_any_question_leaves_nothing(place: Place, telegram: FakeTelegram, number: int) -> None:
    with model() as server:
        answers = ("b", "en", "UTC", server.base_url, KEY, "m", telegram.bot.token, "private")
        with place.sits("init", "--no-pair", "--telegram-url", telegram.base_url) as terminal:
            for question, answer in zip(QUESTIONS[:number], answers, strict=False):
                terminal.answer(question, answer)
            terminal.shows(QUESTIONS[number])
            assert terminal.ends(interrupted="millpond: stopped") == 130, terminal.screen

    assert place.files() == {}


def test_ctrl_c_while_a_model_is_tried_leaves_nothing(place: Place) -> None:
    with model(Hang()) as server:
        flags = ("--bot", "b", "--language", "en", "--time-zone", "UTC", "--model-url", server.base_url, "--model", "m")
        with place.sits("init", *flags, "--model-key", KEY) as terminal:
            terminal.shows("Testing m at")
            assert terminal.ends(interrupted="millpond: stopped") == 130, terminal.screen

    assert place.files() == {}


def test_a_second_run_on_a_terminal_offers_what_is_there(place: Place, telegram: FakeTelegram) -> None:
    with model() as server:
        flags = ("--model-url", server.base_url, "--model", "m", "--model-key", KEY)
        place("init", *flags, *at(telegram), "--owner", "4711", "--access", "private")
        before = place.files()
        with place.sits("init", *NO_WEB) as terminal:
            terminal.answer("Change the configuration", "")
            for question in (
                "Bot name",
                "Which",
                "Time zone",
                "Server address",
                "API key",
                "Model name",
                "Bot token",
            ):
                terminal.answer(question, "")
            terminal.shows("The bot's owner is telegram:4711")
            terminal.answer("Add another owner", "")
            terminal.answer("Which", "")
            terminal.answer("Write this", "")
            assert terminal.ends() == 0, terminal.screen

    assert "already contains exactly these settings" in terminal.screen
    assert place.files() == before


def test_nothing_is_written_when_the_person_says_no_in_the_end(place: Place) -> None:
    place("init", "--offline", "--no-telegram")
    before = place.files()
    with place.sits("init", *QUIET, "--no-telegram") as terminal:
        terminal.answer("Change the configuration", "y")
        terminal.answer("Write this", "n")
        assert terminal.ends() == 0

    assert place.files() == before


def test_what_somebody_else_changed_meanwhile_is_not_overwritten(place: Place) -> None:
    place("init", "--offline", "--no-telegram")
    with place.sits("init", *QUIET, "--no-telegram") as terminal:
        terminal.answer("Change the configuration", "y")
        terminal.shows("Write this")
        place.config.write_text("# mine now\n")
        terminal.type("y")
        assert terminal.ends() == 73

    assert "was changed by another program during the setup" in terminal.screen
    assert place.config.read_text() == "# mine now\n"
    assert not (place.data / "bots/b").exists()


def nanobot(folder: Path, telegram: FakeTelegram | None = None, provider: dict[str, Any] | None = None) -> Path:
    root = folder / ".nanobot"
    workspace = root / "workspace"
    for path, text in {
        "AGENTS.md": "be brief",
        "SOUL.md": "a heron",
        "HEARTBEAT.md": "tick",
        "memory/MEMORY.md": "# Ann\n\n- likes herons\n",
        "memory/HISTORY.md": "# All\n\n[2026-01-02 10:00] We met.\n\n[2026-01-03 11:00] She asked\nabout boats.\n",
        "memory/history.jsonl": '{"cursor":1,"timestamp":"2026-02-01 08:00","content":"- bought a boat"}\nbroken\n',
        "skills/boats/SKILL.md": "---\nname: boats\ndescription: about boats\n---\nSail.",
        "skills/boats/knots/bowline.txt": "loop",
        "sessions/telegram_1.jsonl": "{}",
    }.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text)
    (workspace / "USER.md").symlink_to("/etc/passwd")
    token = telegram.bot.token if telegram else ""
    settings = {
        "agents": {
            "defaults": {"workspace": str(workspace), "model": "openrouter/maker/some-model", "timezone": "Asia/Tokyo"}
        },
        "providers": provider or {"openrouter": {"apiKey": KEY}, "groq": {"apiKey": ""}},
        "channels": {"telegram": {"enabled": True, "token": token, "allowFrom": ["4711|ann", "@eve"]}},
    }
    (root / "config.json").write_text(json.dumps(settings))
    return root


def openclaw(folder: Path) -> Path:
    root = folder / ".openclaw"
    workspace = root / "workspace"
    for path, text in {
        "MEMORY.md": "- allergic to nuts", "memory/2026-03-01.md": "walked",
        "memory/2026-03-02-boat-trip.md": "sailed", "memory/2026-99-99.md": "no day", "memory/projects.md": "a pond",
        "IDENTITY.md": "Clawd", "BOOT.md": "x",
    }.items():  # fmt: skip
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text)
    os.utime(workspace / "memory/projects.md", (1_772_600_000, 1_772_600_000))
    (root / "openclaw.json").write_text(
        """{ // as people write it
  env: { "MY_KEY": 'sk-very-secret-key' },
  agents: { defaults: { model: { primary: "pond/some-model" } } },
  models: { providers: { pond: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "${MY_KEY}", api: "openai", } } },
  /* a block */ channels: { telegram: { accounts: { main: { botToken: "TOKEN", allowFrom: ["tg:4711"] } } } },
}
""".replace("TOKEN", TOKEN)
    )
    return root


def test_a_nanobot_is_taken_over_once(place: Place, telegram: FakeTelegram) -> None:
    source = nanobot(place.folder, telegram)
    flags = ("init", "--no-test", "--from", str(source), "--owner", "4711", "--telegram-url", telegram.base_url)

    done = place(*flags)

    assert done.returncode == 0, done.stderr
    bot, channel = place.tables["bots"]["pond"], place.tables["channels"]["telegram"]
    assert bot["time_zone"] == "Asia/Tokyo"
    assert bot["model"] == {
        "base_url": "https://openrouter.ai/api/v1",
        "name": "maker/some-model",
        "api_key_file": "pond.model.key",
    }
    assert channel["access"] == {"policy": "pairing", "allow": ["4711"]}
    assert (place.data / "pond.model.key").read_text().strip() == KEY
    home = place.data / "bots/pond"
    assert (home / "SOUL.md").read_text() == "a heron"
    assert (home / "skills/boats/knots/bowline.txt").read_text() == "loop"
    assert "root:" not in (home / "USER.md").read_text()
    for left in ("HEARTBEAT.md", "sessions", "USER.md: not a regular file"):
        assert left in done.stdout
    scope = "pond:person:telegram:4711"
    assert place("memory", "show", scope, "--json").stdout.count("likes herons") == 1
    history = place("memory", "show", scope, "--history").stdout
    assert [line for line in history.splitlines() if line.startswith("[")] == [
        "[2026-01-02 10:00] We met.",
        "[2026-01-03 11:00] She asked",
        "[2026-02-01 08:00] - bought a boat",
    ]
    (memory,) = home.glob("memory/*/MEMORY.md")
    assert memory.read_text() == "# Ann\n\n- likes herons"
    log = json.loads(place("memory", "log", scope, "--json").stdout)["versions"]
    assert [(each["kind"], each["reason"]) for each in log] == [
        ("import", f"imported from nanobot, {source / 'workspace'}")
    ]

    again = place(*flags, "--yes")

    assert "nothing new" in again.stdout
    assert place("memory", "show", scope, "--history").stdout == history
    assert len(json.loads(place("memory", "log", scope, "--json").stdout)["versions"]) == 1


def test_an_openclaw_is_taken_over_into_whose_memory_is_named(place: Place) -> None:
    source = openclaw(place.folder)

    done = place("init", "--no-test", "--from", str(source), "--memory-of", "terminal:ann", "--bot", "clawd")

    assert done.returncode == 0, done.stderr
    assert place.tables["bots"]["clawd"]["model"]["base_url"] == "http://127.0.0.1:9/v1"
    assert (place.data / "telegram.token").read_text().strip() == TOKEN
    assert (place.data / "clawd.model.key").read_text().strip() == KEY
    notes = json.loads(place("memory", "show", "clawd:person:terminal:ann", "--notes", "--json").stdout)["entries"]
    assert [(note["date"], note["text"]) for note in notes] == [
        ("2026-03-01", "walked"),
        ("2026-03-02", "sailed"),
        ("2026-03-04", "projects:\n\na pond"),
    ]
    assert "allergic to nuts" in place("memory", "show", "clawd:person:terminal:ann").stdout


def test_a_nanobot_is_taken_over_on_a_terminal(place: Place, telegram: FakeTelegram, portal: BlockingPortal) -> None:
    ann = telegram.direct(telegram.person("Ann", id=4711))
    with model() as server:
        source = nanobot(place.folder, telegram, provider={"custom": {"apiKey": KEY, "apiBase": server.base_url}})
        with place.sits("init", "--from", str(source), "--telegram-url", telegram.base_url, *NO_WEB) as terminal:
            terminal.shows("Found nanobot")
            terminal.shows("Stop the old bot before you start Millpond")
            for question in ("Bot name", "Which", r"Time zone \[Asia/Tokyo\]", "Server address"):
                terminal.answer(question)
            terminal.answer("API key", "")
            terminal.answer(r"Model name \[openrouter/maker/some-model\]", "m")
            terminal.answer("Bot token", "")
            portal.call(ann.say, f"/start {terminal.shows(r'start=([A-Z0-9]+)')[1]}")
            terminal.answer("Which", "private")
            assert terminal.ends() == 0, terminal.screen

    assert "MEMORY.md, version 1, 3 entries of HISTORY.md" in terminal.screen
    assert place.tables["channels"]["telegram"]["access"] == {"policy": "allow", "allow": ["4711"]}
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_whose_memory_it_is_is_asked_until_it_can_be_used(place: Place) -> None:
    source = nanobot(place.folder)
    with place.sits("init", "--from", str(source), *QUIET, "--no-telegram") as terminal:
        terminal.answer("Person who owns the imported memory", "ann")
        terminal.shows("cannot be parsed")
        terminal.answer("Person who owns the imported memory", "slack:ann")
        terminal.shows("The channels are")
        terminal.answer("Person who owns the imported memory", "terminal:ann")
        assert terminal.ends() == 0, terminal.screen

    assert "likes herons" in place("memory", "show", "b:person:terminal:ann").stdout


def test_a_folder_and_a_memory_of_nobody_s_are_told_before_anything_is_written(place: Place) -> None:
    folder = place("init", "--from", str(place.folder))
    memory = place("init", "--no-test", "--from", str(nanobot(place.folder)), "--memory-of", "slack:ann")

    assert (folder.returncode, memory.returncode) == (65, 78)
    assert "no nanobot" in folder.stderr
    assert "--memory-of slack:ann" in memory.stderr
    assert place.files() == {}


def test_a_folder_that_cannot_be_written_is_said(place: Place) -> None:
    (place.home / "file").write_text("no folder")

    done = place("init", "--workspace", str(place.home / "file" / "bot"))
    other = place("init", "--data-dir", str(place.home / "file" / "data"))

    assert (done.returncode, other.returncode) == (73, 78)
    assert "AGENTS.md cannot be written: Not a directory" in done.stderr
    assert "cannot be read: Not a directory" in other.stderr


def test_without_an_owner_nothing_is_remembered_of_nobody(place: Place) -> None:
    done = place("init", "--no-test", "--no-telegram", "--from", str(nanobot(place.folder)))

    assert done.returncode == 0, done.stderr
    assert "Specify the memory's owner with --memory-of" in done.stdout
    assert not (place.data / "redis").exists()


@each_row(
    ("flags", "key", "web", "tools"),
    [
        (
            ("--web-search", "brave", "--web-key", KEY),
            KEY,
            {"search": "brave", "api_key_file": "b.web.key"},
            ["web_search", "web_fetch"],
        ),
        (("--web-search", "none", "--web-fetch"), "", None, ["web_fetch"]),
        (NO_WEB, "", None, []),
    ],
)
def test_the_web_is_set_up_with_flags(
    tmp_path_factory: pytest.TempPathFactory, flags: tuple[str, ...], key: str, web: Any, tools: list[str]
) -> None:
    place = Place(tmp_path_factory.mktemp("p"))
    base = ("init", "--offline", "--no-telegram", "--bot", "b", "--no-test", "--yes")
    done = place(*base, "--web-search", "tavily", "--web-key", "another", "--web-fetch")
    assert done.returncode == 0, done.stderr

    done = place(*base, *flags)

    assert done.returncode == 0, done.stderr
    bot = place.tables["bots"]["b"]
    assert (bot.get("web"), bot["tools"]) == (web, [*TOOLS, *tools])
    if key:
        assert (place.data / "b.web.key").read_text() == f"{key}\n"
        assert key not in place.config.read_text() + done.stdout


@contextmanager
def audio_server() -> Iterator[FakeOpenAI]:
    """A server that speaks, and that understands its own recordings."""

    def reply(body: dict[str, Any]) -> Plain:
        return Plain(b"OggS" + bytes(8)) if "voice" in body else Plain(b'{"text": "Hello."}', "application/json")

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(fake_openai(reply)) as server:
        yield server


MODELS = ("--transcription-model", "whisper-1", "--speech-model", "tts-1", "--voice", "nova")


@each_row(
    ("flags", "said", "paths"),
    [
        (
            ("--language", "en", *MODELS),
            "tts-1 spoke a word (12 bytes), and whisper-1 transcribed the word as “Hello.”",
            2,
        ),
        (("--language", "zh", *MODELS), "tts-1 读出了一个词（12 字节），whisper-1 把这个词转成了“Hello.”", 2),
        (("--language", "en"), "whisper-1 transcribed a recording", 1),
    ],
)
def test_voice_messages_are_set_up_with_flags_after_a_trial(
    tmp_path_factory: pytest.TempPathFactory, flags: tuple[str, ...], said: str, paths: int
) -> None:
    place = Place(tmp_path_factory.mktemp("p"))
    with audio_server() as server:
        base = ("init", "--offline", "--no-telegram", "--bot", "b", "--yes", "--voice-url", server.base_url)
        done = place(*base, "--voice-key", KEY, *flags)
        again = place("init", "--offline", "--no-telegram", "--bot", "b", "--yes", "--no-test")

    assert (done.returncode, again.returncode) == (0, 0), done.stderr
    assert said in done.stdout
    assert [request.path.removeprefix("/v1/audio/") for request in server.requests] == ["speech", "transcriptions"][
        -paths:
    ]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    bot, where = place.tables["bots"]["b"], {"base_url": server.base_url, "api_key_file": "b.voice.key"}
    assert bot["transcription"] == {"name": "whisper-1", **where}
    assert bot.get("speech") == ({"name": "tts-1", "voice": "nova", **where} if paths == 2 else None)
    assert (place.data / "b.voice.key").read_text() == f"{KEY}\n"
    assert KEY not in place.config.read_text() + done.stdout

    gone = place("init", "--offline", "--no-telegram", "--bot", "b", "--yes", "--no-test", "--voice-url", "-")
    assert gone.returncode == 0, gone.stderr
    assert not {"transcription", "speech"} & place.tables["bots"]["b"].keys()


def test_a_server_for_voice_messages_that_fails_is_told_and_asked_for_again(place: Place) -> None:
    base = ("init", "--offline", "--no-telegram", "--bot", "b", "--language", "en", "--time-zone", "UTC")
    refused = place(*base, "--yes", "--voice-url", "http://127.0.0.1:1/v1", *MODELS)
    deaf = place(
        *base, "--yes", "--no-test", "--voice-url", "http://127.0.0.1:1/v1", *MODELS, "--transcription-model", "-"
    )
    with audio_server() as server, place.sits(*base, *NO_WEB[:-2]) as terminal:
        terminal.answer("Voice messages: address", "http://127.0.0.1:1/v1")
        for question, word in (
            ("API key of the server", ""),
            ("Speech-to-text model", ""),
            ("Text-to-speech model", ""),
        ):
            terminal.answer(question, word)
        terminal.answer("Keep this server anyway", "n")
        terminal.answer("Voice messages: address", server.base_url)
        for question, word in (
            ("API key", ""),
            ("Speech-to-text model", ""),
            ("Text-to-speech model", "tts-1"),
            ("Voice", ""),
        ):
            terminal.answer(question, word)
        terminal.shows("transcribed the word as")
        assert terminal.ends() == 0, terminal.screen

    assert "127.0.0.1:1" in refused.stderr
    assert "--transcription-model: spoken answers also require a speech-to-text model" in deaf.stderr
    assert place.tables["bots"]["b"]["speech"]["voice"] == "alloy"


def test_the_models_own_server_for_voice_messages_is_not_written_twice(place: Place) -> None:
    with audio_server() as server:
        flags = ("--model-url", server.base_url, "--model", "m", "--model-key", KEY, "--voice-url", server.base_url)
        done = place("init", "--no-telegram", "--bot", "b", "--yes", "--no-test", *flags)
        again = place("init", "--no-telegram", "--bot", "b", "--yes", "--no-test", "--voice-url", server.base_url)

    assert (done.returncode, again.returncode) == (0, 0), done.stderr + again.stderr
    assert place.tables["bots"]["b"]["transcription"]["name"] == "whisper-1"
    assert "base_url" not in place.tables["bots"]["b"]["transcription"]
    assert "already contains exactly these settings" in again.stdout
