"""``millpond init``, as a real process with flags and on a terminal, against servers of its own."""

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from anyio.from_thread import start_blocking_portal

from tests.fakes.openai_server import Failure, FakeOpenAI, Plain, Say, fake_openai
from tests.processes import shut_down
from tests.terminals import ROOT, OnTerminal, on_terminal

TOKEN = "123456789:AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQr"
KEY = "sk-very-secret-key"
LIMIT_S = 40.0


class Telegram(BaseHTTPRequestHandler):
    """What setting up asks of a Bot API."""

    pending: ClassVar[list[dict[str, Any]]]
    sent: ClassVar[list[dict[str, Any]]]
    conflict: ClassVar[bool]

    def do_POST(self) -> None:
        _, bot, method = self.path.split("/")
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        if bot != f"bot{TOKEN}":
            return self.reply(401, {"ok": False, "error_code": 401, "description": "Unauthorized"})
        if method == "getUpdates":
            if self.conflict:
                said = "Conflict: terminated by other getUpdates request"
                return self.reply(409, {"ok": False, "error_code": 409, "description": said})
            first = body.get("offset", 0)
            self.pending[:] = [update for update in self.pending if update["update_id"] >= first]
            return self.reply(200, {"ok": True, "result": self.pending})
        if method == "sendMessage":
            self.sent.append(body)
        result = {"id": 123456789, "is_bot": True, "first_name": "Heron", "username": "heron_bot", "new_field": [1]}
        return self.reply(200, {"ok": True, "result": result})

    def reply(self, status: int, answer: dict[str, Any]) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: tests say themselves what they saw."""


def started(update_id: int, sender: int, text: str) -> dict[str, Any]:
    """Somebody writes to the bot in a direct chat."""
    person = {"id": sender, "is_bot": False, "first_name": "Ann", "last_name": "Lee"}
    message = {"message_id": update_id, "from": person, "chat": {"id": sender, "type": "private"}, "text": text}
    return {"update_id": update_id, "message": message}


@pytest.fixture
def telegram() -> Iterator[str]:
    """Address of a Bot API."""
    Telegram.pending, Telegram.sent, Telegram.conflict = [], [], False
    server = ThreadingHTTPServer(("127.0.0.1", 0), Telegram)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def model(*replies: Any) -> Iterator[FakeOpenAI]:
    """A model's server; without replies it echoes."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(fake_openai(replies)) as server:
        yield server


class Place:
    """A home of its own, and commands in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self.data = self.home / ".millpond"
        self.config = self.data / "millpond.toml"
        outside = ("MILLPOND_", "OPENAI_", "LC_", "LANG", "TZ")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(outside)}
        self.environ = kept | {"HOME": str(self.home), "TZ": "Europe/Berlin", "XDG_RUNTIME_DIR": str(folder)}

    def __call__(self, *args: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        """Run a command without a terminal, to its end."""
        return subprocess.run(
            [sys.executable, "-m", "millpond", *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            cwd=ROOT,
            env=self.environ | environ,
            check=False,
        )

    def sits(self, *args: str) -> "Any":
        """Run a command on a terminal."""
        return on_terminal(*args, environ=self.environ)

    @property
    def tables(self) -> dict[str, Any]:
        """The configuration that was written."""
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
    folder = Path(tempfile.mkdtemp(prefix="mp-", dir="/tmp"))
    place = Place(folder)
    yield place
    shut_down(place.data)
    shutil.rmtree(folder, ignore_errors=True)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# With flags


def test_flags_alone_give_a_configuration_that_can_be_used(place: Place, telegram: str) -> None:
    with model() as server:
        done = place(
            *("init", "--model-url", server.base_url, "--model", "m", "--model-key", KEY),
            *("--telegram-token", TOKEN, "--telegram-url", telegram, "--owner", "4711"),
            *("--language", "zh", "--access", "private"),
        )

    assert (done.returncode, done.stderr) == (0, "")
    assert "https://t.me/heron_bot" in done.stdout
    assert place.tables == {
        "bots": {
            "pond": {
                "language": "zh",
                "time_zone": "Europe/Berlin",
                "tools": ["time", "message", "compact", "read_file", "write_file", "edit_file", "list_files", "grep"],
                "admins": ["telegram:4711"],
                "model": {"base_url": server.base_url, "name": "m", "api_key_file": "pond.model.key"},
            }
        },
        "channels": {
            "telegram": {
                "type": "telegram",
                "bot": "pond",
                "base_url": telegram,
                "token_file": "telegram.token",
                "access": {"policy": "allow", "allow": ["4711"]},
            }
        },
    }
    assert (place.data / "telegram.token").read_text().strip() == TOKEN
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    for file in ("millpond.toml", "pond.model.key", "telegram.token", "bots/pond/SOUL.md"):
        assert mode(place.data / file) == 0o600, file
    assert place("config", "check").stdout.startswith(f"ok: {place.config}\n")
    shown = done.stdout + place("config", "show").stdout + place.config.read_text()
    assert TOKEN not in shown
    assert KEY not in shown


def test_without_anything_there_is_an_offline_bot_and_templates(place: Place) -> None:
    done = place("init")

    assert done.returncode == 0
    assert "stand-in" in done.stdout
    assert set(place.files()) == {f".millpond/{name}" for name in ("millpond.toml", *workspace())}
    assert "pond is calm" in (place.data / "bots/pond/SOUL.md").read_text()


def workspace() -> Iterator[str]:
    yield from (f"bots/pond/{name}" for name in ("AGENTS.md", "SOUL.md", "USER.md"))


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


@pytest.mark.parametrize(
    ("reply", "said", "code"),
    [
        (Failure(401, "no"), "does not accept the API key (401)", 1),
        (Failure(404, "The model does not exist"), "refuses the request (404): The model does not exist", 1),
        (Plain(b"<html>a page</html>"), "no answer", 1),
        (Failure(503), "fails (503)", 69),
    ],
)
def test_a_model_that_does_not_answer_is_said_and_nothing_is_written(
    place: Place, reply: Any, said: str, code: int
) -> None:
    with model(reply) as server:
        done = place("init", "--model-url", server.base_url, "--model", "m", "--model-key", KEY)

    assert done.returncode == code
    assert said in done.stderr
    assert KEY not in done.stderr
    assert place.files() == {}


def test_nothing_listens_at_the_model_s_address(place: Place) -> None:
    done = place("init", "--model-url", "http://127.0.0.1:9/v1", "--model", "m")

    assert done.returncode == 69
    assert "cannot be reached" in done.stderr
    assert place.files() == {}


@pytest.mark.parametrize("token", ["987:wrong", "no token at all", TOKEN[:-1]])
def test_a_wrong_token_is_said_without_showing_it(place: Place, telegram: str, token: str) -> None:
    done = place("init", "--telegram-token", token, "--telegram-url", telegram)

    assert done.returncode == 1
    assert "token" in done.stderr
    assert token not in done.stderr
    assert place.files() == {}


def test_telegram_cannot_be_reached(place: Place) -> None:
    done = place("init", "--telegram-token", TOKEN, "--telegram-url", "http://127.0.0.1:9")

    assert done.returncode == 1
    assert "http://127.0.0.1:9 cannot be reached" in done.stderr
    assert TOKEN not in done.stderr


def test_no_test_tries_nothing(place: Place) -> None:
    flags = ("--model-url", "http://127.0.0.1:9/v1", "--model", "m", "--telegram-token", TOKEN, "--owner", "1")
    done = place("init", "--no-test", *flags, "--telegram-url", "http://127.0.0.1:9")

    assert done.returncode == 0, done.stderr
    assert place.tables["channels"]["telegram"]["access"] == {"policy": "pairing"}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--bot", "Not A Name"), "--bot Not A Name: a name starts with"),
        (("--time-zone", "Mars/Base"), "--time-zone Mars/Base: expected an IANA time zone"),
        (("--model-url", "gpt.example", "--model", "m"), "--model-url gpt.example: an address begins with"),
        (("--model-url", "http://127.0.0.1:9/v1"), "--model: the server has to be told"),
        (("--telegram",), "--telegram-token: missing"),
        (("--telegram-token", TOKEN, "--owner", "ann"), "--owner ann: Telegram's id of a person is a number"),
        (("--model-key", "a", "--model-key-file", "b", "--model-url", "http://h/v1", "--model", "m"), "name one of"),
        (("--telegram-token-file", "/nowhere/at/all"), "--telegram-token-file: '/nowhere/at/all' cannot be read"),
    ],
)
def test_an_answer_that_will_not_do_is_told_by_its_flag(place: Place, flags: tuple[str, ...], said: str) -> None:
    done = place("init", "--no-test", *flags)

    assert done.returncode == 78
    assert said in done.stderr
    assert place.files() == {}


# A second time


def test_what_is_there_is_changed_only_when_it_is_said_so(place: Place) -> None:
    place("init")
    before = place.files()

    done = place("init", "--bot", "heron")

    assert done.returncode == 78
    assert "--yes" in done.stderr
    assert place.files() == before


def test_a_second_run_keeps_what_it_does_not_ask_comments_too_and_leaves_a_copy(place: Place, telegram: str) -> None:
    place("init", "--time-zone", "UTC")
    more = (
        "[queue]\nlease_s = 20.0  # slow disks",
        "[channels.web]\nport = 9000",
        "[bots.pond.limits.tokens_per_day]\nbot = 5",
    )
    text = "\n\n".join((place.config.read_text(), *more)) + "\n"
    place.config.write_text(text)

    done = place("init", "--yes", "--telegram-token", TOKEN, "--telegram-url", telegram, "--owner", "7")

    assert done.returncode == 0, done.stderr
    assert place.tables["queue"] == {"lease_s": 20.0}
    assert place.tables["channels"]["web"] == {"port": 9000}
    assert place.tables["bots"]["pond"]["limits"] == {"tokens_per_day": {"bot": 5}}
    assert place.tables["bots"]["pond"]["time_zone"] == "UTC"
    assert "lease_s = 20.0  # slow disks" in place.config.read_text()
    (backup,) = place.data.glob("millpond.toml.*.bak")
    assert backup.read_text() == text
    assert mode(backup) == 0o600


def test_the_same_again_changes_nothing(place: Place, telegram: str) -> None:
    flags = ("init", "--yes", "--telegram-token", TOKEN, "--telegram-url", telegram, "--owner", "7")
    place(*flags)
    before = place.files()

    done = place(*flags)

    assert "says all of this already" in done.stdout
    assert place.files() == before


def test_a_second_bot_gets_sections_of_its_own(place: Place, telegram: str) -> None:
    place("init", "--telegram-token", TOKEN, "--telegram-url", telegram, "--owner", "7")

    done = place("init", "--yes", "--bot", "heron", "--telegram-token", TOKEN, "--telegram-url", telegram)

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


# On a terminal


def answer_the_first(terminal: OnTerminal) -> None:
    terminal.answer("Name of the bot", "heron")
    terminal.answer("Which", "")
    terminal.answer(r"Time zone \[Europe/Berlin\]", "Mars")
    terminal.shows("expected an IANA time zone")
    terminal.answer("Time zone", "")


def test_the_whole_way_on_a_terminal(place: Place, telegram: str) -> None:
    Telegram.pending = [started(10, 99, "hello, anybody there?")]
    with model(Failure(401), Say("yes")) as server, place.sits("init", "--telegram-url", telegram) as terminal:
        answer_the_first(terminal)
        terminal.answer("Address", server.base_url)
        terminal.answer("Name of the model", "m")
        terminal.answer("Key", "wrong")
        terminal.shows("does not accept the API key")
        terminal.answer("Which", "again")
        terminal.answer("Address", "")
        terminal.answer("Name of the model", "")
        terminal.answer("Key", KEY)
        terminal.shows("It answers")
        terminal.answer("Token", "1:wrong")
        terminal.shows("does not know this token")
        terminal.answer("Which", "a")
        terminal.answer("Token", TOKEN)
        code = terminal.shows(r"https://t\.me/heron_bot\?start=([A-Z0-9]+)")[1]
        Telegram.pending += [started(11, 5, "/start WRONGCODE"), started(12, 4711, f"/start {code}")]
        terminal.shows(r"You are Ann Lee \(4711\)")
        terminal.answer("Which", "")
        assert terminal.ends() == 0, terminal.screen

    assert place.tables["bots"]["heron"]["admins"] == ["telegram:4711"]
    assert place.tables["channels"]["telegram"]["access"] == {"policy": "pairing"}
    assert KEY not in terminal.screen
    assert TOKEN not in terminal.screen
    # What others wrote before is still there for the daemon.
    assert [update["update_id"] for update in Telegram.pending] == [10, 11, 12]
    assert [sent["chat_id"] for sent in Telegram.sent] == [4711]
    assert "Ann Lee" in (place.data / "bots/heron/USER.md").read_text()
