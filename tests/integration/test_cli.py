"""The ``millpond`` command, as real processes on one embedded server."""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from daemon.cli.run_command import is_read_by_one
from tests import forked
from tests.limits import HANG_S
from tests.places import TEMPORARY
from tests.tables import each_row
from tests.terminals import on_terminal

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Running:
    process: Any
    stdout: IO[bytes]
    stderr: IO[bytes]

    def ended(self) -> tuple[int, bytes]:
        """Wait for its end: its exit code, and the rest of its complaints."""
        rest = self.stderr.read()
        return self.process.wait(HANG_S), rest

    def said(self, pattern: str, *, stream: str = "stdout") -> re.Match[str]:
        """What matches ``pattern`` in the output, waiting for it."""
        pipe, text = getattr(self, stream), ""
        while (found := re.search(pattern, text)) is None:
            assert select.select([pipe], [], [], HANG_S)[0], f"{pattern!r} not in {text!r}"
            piece = pipe.read(65_536)
            assert piece, f"ended without {pattern!r}: {text!r}"
            text += piece.decode()
        return found


class Place:
    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MILLPOND_", "OPENAI_"))}
        self.environ = kept | {
            "MILLPOND_DATA_DIR": str(self.data), "MILLPOND_CHANNELS__WEB__PORT": "0", "XDG_RUNTIME_DIR": str(folder),
            "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm",
        }  # fmt: skip

    def __call__(self, *args: str, given: str | bytes = b"", **environ: str) -> subprocess.CompletedProcess[str]:
        text = given if isinstance(given, bytes) else given.encode()
        return forked.run(args, self.environ | environ, text)

    @contextlib.contextmanager
    def running(self, *args: str, anew: bool = False) -> Iterator[Running]:
        """``millpond run`` during the block; ``anew``: a process that has imported nothing yet."""
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        with Path(os.devnull).open() as nothing, os.fdopen(out, "rb", 0) as stdout, os.fdopen(err, "rb", 0) as stderr:
            if anew:
                command = [sys.executable, "-m", "millpond", "run", *args]
                streams = {"stdin": nothing, "stdout": its_out, "stderr": its_err}
                process: Any = subprocess.Popen(command, **streams, cwd=ROOT, env=self.environ)  # type: ignore[call-overload]
            else:
                process = forked.Process(("run", *args), self.environ, nothing.fileno(), its_out, its_err)
            os.close(its_out)
            os.close(its_err)
            running = Running(process, stdout, stderr)
            try:
                yield running
            finally:
                process.terminate()
                running.ended()


@contextlib.contextmanager
def a_place() -> Iterator[Place]:
    """A place during the block; its server ends with it, which would go on for a while without its folder."""
    folder = Path(tempfile.mkdtemp(prefix="mp-", dir=TEMPORARY))
    place = Place(folder)
    try:
        yield place
    finally:
        place("redis-cli", "shutdown")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with a_place() as place:
        yield place


@each_row(
    "imported, heavy",
    [
        ("daemon.cli", {"anyio", "msgspec", "redis", "structlog", "prompt_toolkit", "rich", "openai", "starlette"}),
        ("daemon.cli", {"daemon.cli.run_command"}),
        ("daemon.overview", {"daemon.model", "openai", "httpx2"}),
        (
            "channels.terminal.service, channels.terminal.send_message",
            {"prompt_toolkit", "rich.markdown", "markdown_it"},
        ),
    ],
)
def test_help_and_pipes_import_nothing_heavy(imported: str, heavy: set[str]) -> None:
    code = f"import sys, {imported}; print(sorted({heavy} & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)

    assert done.stdout == "[]\n"


def test_version_and_help_work_without_anything(place: Place) -> None:
    assert re.fullmatch(r"millpond, version \S+\n", place("--version").stdout)
    assert place("version").stdout.startswith("millpond ")
    for command in ("run", "chat", "send", "session", "queue", "redis-cli", "doctor", "config"):
        assert place(command, "--help").returncode == 0
    assert not place.data.exists()


def test_run_without_a_terminal_announces_its_address_stays_up_and_ends_orderly(place: Place) -> None:
    with place.running(anew=True) as running:
        said = running.said(r"Millpond listens on (http://127\.0\.0\.1:\d+)\nAPI: curl -H @(\S+) .*\n(page: .*)\n")
        address, file, page = said.groups()
        with urllib.request.urlopen(f"{address}/healthz", timeout=HANG_S) as answer:
            assert json.load(answer) == {"status": "ok"}
        curl = ["curl", "-sfH", f"@{file}", f"{address}/api/me"]
        assert json.loads(subprocess.run(curl, capture_output=True, check=True).stdout)["who"] == "token"
        assert "`millpond page`" in page and "#" not in page, "a link in the output of a service is kept by its journal"
        assert running.process.poll() is None

        running.process.send_signal(signal.SIGTERM)

        assert running.ended()[0] == 0


@each_row(
    "is_terminal, first, shown",
    [
        (True, "other", True),
        (True, "same", False),
        (True, "missing", True),
        (False, "other", False),
        (False, "same", False),
    ],
)
def test_a_link_is_shown_where_one_person_reads(tmp_path: Path, is_terminal: bool, first: str, shown: bool) -> None:
    master, slave = os.openpty()
    with os.fdopen(master), os.fdopen(slave, "w") as terminal, (tmp_path / "out").open("w") as journal:
        output = terminal if is_terminal else journal
        firsts = {"other": "/dev/null", "same": f"/proc/self/fd/{output.fileno()}", "missing": str(tmp_path / "none")}
        assert is_read_by_one(output, Path(firsts[first])) is shown


def test_run_on_a_terminal_shows_a_link_that_logs_in_once_and_writes_it_nowhere_else(place: Place) -> None:
    with on_terminal("run", "--role", "web", environ=place.environ) as process:
        address, place_of_page, code = process.shows(
            r"listens on (http://\S+)\nAPI: curl [\s\S]*\npage: (http://\S+)/login#(\S+)\n"
        ).groups()
        asked = urllib.request.Request(
            f"{address}/api/login",
            data=json.dumps({"code": code}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=HANG_S) as answer:
            assert answer.status == 204
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(asked, timeout=HANG_S)
        process.interrupt()
        process.ends()

    assert process.screen.count(code) == 1
    assert place_of_page == address
    assert code not in place("redis-cli", "KEYS", "*").stdout


def test_two_runs_share_one_server(place: Place) -> None:
    with place.running() as one, place.running() as other:
        one.said("listens on")
        other.said("listens on")

        clients = place("redis-cli", "client", "list").stdout.splitlines()
        workers = place("redis-cli", "hkeys", "mp:workers").stdout.splitlines()

    assert len(clients) > 4
    assert len({name.split()[0] for name in workers if name.endswith(" agent")}) == 2


def test_what_is_wrong_with_a_run_is_one_sentence(place: Place) -> None:
    role = place("run", "--role", "cook")
    assert (role.returncode, "'cook' is not one of" in role.stderr) == (2, True)

    config = place("run", MILLPOND_QUEUE__LEASE_S="soon")
    assert config.returncode == 78
    assert config.stderr.startswith("millpond: the configuration has errors")
    assert "Traceback" not in config.stderr


FAULTY = """
[bots.pond]
tools = ["time", "teleport"]
workspace = "{file}/pond"
model = {{ base_url = "https://model.example/v1", name = "m", fallbacks = [{{ base_url = "x", name = "n" }}] }}
[bots.reed]
tools = ["message", "read_file", "write_file", "edit_file", "list_files", "grep", "memory_search"]
model = {{ context_window_tokens = 4096, safety_buffer_tokens = 2000 }}
[bots.rush]
workspace = "{root}"
model = {{ api_key = "sk-1234567890", name = "n" }}
summary_model = {{ api = "anthropic" }}
[channels.web]
port = 8901
bot = "pond"
[channels.terminal]
bot = "pund"
[archive]
url = "az://container/folder"
[health]
port = 8901
"""
FAULTS = {
    "data_dir": "{file} is not a folder. Move the file, or set another folder",
    "archive.url": "az://container/folder cannot be used: ",
    "channels.web.port": "8901 is also used by health. Set a port that is not used by another part of this process",
    "channels.terminal.bot": "bot 'pund' was not found. Choose one of: pond, reed, rush",
    "bots.pond.tools": "unknown tool teleport. The tools are: time, ",
    "bots.pond.workspace": "{file} is not a folder. Move the file, or set another folder",
    "bots.rush.workspace": "{root} is the folder in which Millpond stores its own data (data_dir). Set another folder",
    "bots.pond.model.base_url": "the proxy in the environment has an unsupported scheme, ftp://. ",
    "bots.pond.model.fallbacks[1].base_url": "expected http:// or https:// and a host",
    "bots.reed.model.context_window_tokens": "the value is too small. A prompt can have ",
    "bots.rush.summary_model.api_key": "this setting is missing, and the API key for the bot's own model is for a "
    "different API",
}


@each_row("command", [("run",), ("run", "--role", "agent"), ("chat",), ("config", "check")])
def test_all_faults_of_a_configuration_are_listed_before_a_port_opens(
    place: Place, tmp_path: Path, command: tuple[str, ...]
) -> None:
    file, blocked = tmp_path / "faulty.toml", tmp_path / "blocked"
    file.write_text(FAULTY.format(file=blocked, root=tmp_path))
    blocked.touch()
    environ = {name: value for name, value in place.environ.items() if name != "MILLPOND_CHANNELS__WEB__PORT"}
    changes = {"MILLPOND_DATA_DIR": str(blocked / "data"), "HTTPS_PROXY": "ftp://proxy.example:1"}

    done = forked.run(("--config", str(file), *command), environ | changes)

    first, *lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout, first) == (78, "", "millpond: the configuration has errors:")
    told = dict(line.strip().split(": ", 1) for line in lines)
    assert told.keys() == FAULTS.keys()
    assert [
        path for path, text in FAULTS.items() if not told[path].startswith(text.format(file=blocked, root=tmp_path))
    ] == []


@pytest.mark.parametrize("roles", [(), ("--role", "web")], ids=["all roles", "web"])
def test_a_taken_port_is_one_sentence_and_78(place: Place, roles: tuple[str, ...]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])

        done = place("run", *roles, MILLPOND_CHANNELS__WEB__PORT=port)

    assert done.returncode == 78
    assert "channels.web.port" in done.stderr
    assert "Traceback" not in done.stderr


def test_looking_at_a_folder_without_a_millpond_makes_none(place: Place, tmp_path: Path) -> None:
    for command in ("queue", "transcript"):
        done = place(command, "list", MILLPOND_DATA_DIR=str(tmp_path / "mistyped"))

        assert done.returncode == 78
        assert "does not contain Millpond data yet" in done.stderr
        assert not (tmp_path / "mistyped").exists()


def test_a_second_signal_ends_at_once_and_without_a_traceback(place: Place) -> None:
    with place.running() as process:
        process.said("listens on")
        place("send", "web:long", "count to 100")
        process.said("message|started", stream="stderr")
        process.process.send_signal(signal.SIGINT)
        process.said("process.stopping", stream="stderr")
        process.process.send_signal(signal.SIGINT)
        code, errors = process.ended()

    assert code == 130
    assert "Traceback" not in errors.decode()
    place("send", "web:long", "/stop")


@pytest.mark.slow
def test_an_unreachable_redis_is_69(place: Place) -> None:
    done = place("queue", "list", MILLPOND_REDIS__URL="redis://127.0.0.1:1/0")

    assert done.returncode == 69
    assert done.stderr.startswith("millpond: ")
    assert "Traceback" not in done.stderr


def test_all_in_the_data_directory_is_its_owners_alone_whatever_the_umask() -> None:
    before = os.umask(0)  # what is open under 022 is open under it, too
    try:
        with a_place() as place, place.running() as running:
            running.said(r"Millpond listens on \S+")
            folder = place.data.parent
            written = b"Remember that I row.\nhello\n/compact\n/memory row\n/export\n"
            for given, *command in (
                (written, "chat", "--session", "terminal:ann"),
                (b"", "memory", "show", "terminal:ann"),
                (b"", "session", "export", "terminal:ann", "-o", str(folder / "ann.zip")),
                (b"", "transcript", "export", "terminal:ann", "-o", str(folder / "ann.jsonl.gz")),
                (b"", "data", "backup", str(folder / "backup")),
            ):
                assert place(*command, given=given).returncode == 0
            found = [path for path in folder.rglob("*") if not path.is_symlink()]
            names = {path.name for path in found}
            assert {
                "millpond.log",
                "redis",
                "server.json",
                "ann.zip",
                "ann.jsonl.gz",
                "backup",
                "exports",
                "search",
            } <= names
            assert [path for path in found if path.stat().st_mode & 0o077] == []
    finally:
        os.umask(before)


def test_piped_lines_are_answered_in_order(place: Place) -> None:
    done = place("chat", "--session", "lines", given="hello\n\n   \none fish\ntwo fish\r\nred fish")

    assert done.returncode == 0
    assert done.stdout.splitlines()[2:] == [
        "Hello! What can I do for you?", "You said: one fish", "You said: two fish", "You said: red fish",
    ]  # fmt: skip
    assert "no agent worker is running" in done.stderr


def test_lines_that_cannot_be_accepted_are_named_and_the_others_answered(place: Place) -> None:
    done = place("chat", "--session", "bad", given=b"good\n\xff\xfe\n" + b"x" * 300_000 + b"\nlast\n")

    assert done.returncode == 65
    assert "line 2: this input line is not encoded in UTF-8" in done.stderr
    assert "line 3: the message is" in done.stderr
    assert done.stdout.splitlines()[-1] == "You said: last"


def test_a_chat_with_nothing_to_say_ends_and_one_in_another_channels_session_is_refused(place: Place) -> None:
    silent, foreign = place("chat", "--session", "silent"), place("chat", "--session", "web:ann", given="hello\n")

    assert (silent.returncode, silent.stdout) == (0, "")
    assert foreign.returncode == 65
    assert "belongs to channel web" in foreign.stderr


def test_a_sent_message_is_accepted_once(place: Place) -> None:
    first = place("send", "once", "hello", "--id", "m1")
    second = place("send", "once", "hello", "--id", "m1")
    third = place("send", "terminal:once", "-", "--id", "m1", "--json", given="hello\n")

    assert (first.returncode, first.stdout, first.stderr) == (0, "m1\n", "")
    assert (second.returncode, second.stdout) == (0, "m1\n")
    assert "duplicate" in second.stderr
    assert json.loads(third.stdout) == {"id": "m1", "session": "terminal:once", "status": "duplicate"}


def test_send_waits_for_the_answer(place: Place) -> None:
    with place.running("--role", "agent") as process:
        process.said(rf"Data directory: {place.data}\n(.|\n)*offline mock model")
        process.said("process.started", stream="stderr")

        first = place("send", "web:ann", "hello", "--id", "w1", "--wait", str(HANG_S))
        again = place("send", "web:ann", "hello", "--id", "w1", "--wait", str(HANG_S), "--json")

    assert first.returncode == 0
    assert first.stdout.startswith("w1\n")
    assert first.stdout.endswith("Hello! What can I do for you?\n")
    assert json.loads(again.stdout)["status"] == "duplicate"
    assert first.stdout == f"w1\n{json.loads(again.stdout)['reply']}\n"


def test_an_answer_that_does_not_come_in_time_is_75(place: Place) -> None:
    done = place("send", "patient", "hello", "--id", "p1", "--wait", "0.2")

    assert (done.returncode, done.stdout) == (75, "p1\n")
    assert "no answer arrived within 0.2 s" in done.stderr


def test_no_number_of_seconds_to_wait_is_wrong_usage(place: Place) -> None:
    for seconds in ("nan", "0", "-1", "soon"):
        done = place("send", "patient", "hello", "--wait", seconds)
        assert (done.returncode, done.stdout) == (2, ""), seconds
        assert "Error: Invalid value for '--wait'" in done.stderr


def test_a_session_that_cannot_be_and_an_empty_message_are_65(place: Place) -> None:
    for session in ("nowhere:x", "a:b:c:d", "terminal:", "terminal:%zz"):
        done = place("send", session, "hello")
        assert done.returncode == 65, session
        assert done.stderr.startswith("millpond: session ")
    assert place("send", "empty", " ").returncode == 65


def test_sessions_are_listed_and_shown(place: Place) -> None:
    place("chat", "--session", "[red] x", given="hello\n")

    listed = {row["session"]: row for row in json.loads(place("session", "list", "--json").stdout)["sessions"]}
    shown = json.loads(place("session", "show", "[red] x", "--json").stdout)
    plain = place("session", "show", "[red] x", "--limit", "1")

    assert shown["session"] == "terminal:%5Bred%5D%20x"
    assert listed[shown["session"]]["head"] == shown["positions"]["head"] == 2
    assert [message["role"] for message in shown["messages"]] == ["user", "assistant"]
    assert shown["messages"][1]["answers"] == [shown["messages"][0]["id"]]
    assert "[1] " in plain.stdout
    assert "[0] " not in plain.stdout


def test_the_next_prompt_of_a_session_is_shown_by_part(place: Place) -> None:
    place("chat", "--session", "prompted", given="hello\n")

    shown = json.loads(place("session", "show", "prompted", "--prompt", "--json").stdout)
    plain = place("session", "show", "prompted", "--prompt").stdout

    parts = shown["parts"]
    assert sum(parts.values()) == shown["budget_tokens"]
    assert shown["tokens"] == shown["budget_tokens"] - parts["free"]
    assert [message["role"] for message in shown["messages"]] == ["system", "user", "assistant", "user"]
    assert f"history     {parts['history']}" in plain
    assert "user: hello" in plain
    assert "[Runtime context]" in plain
    assert place("session", "show", "nobody-at-all", "--prompt").returncode == 65


def test_nothing_that_somebody_wrote_rules_the_terminal_of_who_looks(place: Place) -> None:
    words = "a\x1b]0;title\x07 \x9b31m \u202eb\tc"
    place("chat", "--session", "hostile", given=words + "\n")

    shown = place("session", "show", "hostile").stdout
    prompt = place("session", "show", "hostile", "--prompt").stdout
    as_json = place("session", "show", "hostile", "--json").stdout

    for printed in (shown, prompt):
        assert "a\ufffd]0;title\ufffd \ufffd31m \ufffdb\tc" in printed
    for printed in (shown, prompt, as_json):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", printed)
    assert json.loads(as_json)["messages"][0]["content"] == words


def test_an_unknown_session_is_65_and_names_the_nearest(place: Place) -> None:
    place("send", "barnaby", "hello")

    done = place("session", "show", "barnabi")

    assert done.returncode == 65
    assert "Did you mean terminal:barnaby" in done.stderr


def test_the_queues_are_listed(place: Place) -> None:
    place("send", "queued", "hello")

    queues = json.loads(place("queue", "list", "--json").stdout)

    assert queues["total"]["backlog"] >= 1
    assert queues["total"]["due"] >= 1
    assert queues["total"] == queues["partitions"][0]
    assert place("queue", "list").stdout.startswith("partition")


def test_usage_is_added_up_by_what_is_asked_for(place: Place) -> None:
    with place.running("--role", "agent") as process:
        process.said("Data directory")
        place("send", "web:counted", "hello there")
        until = time.monotonic() + HANG_S
        while "web:counted" not in (rows := usage_rows(place, "session")):
            assert time.monotonic() < until, rows

    counted = rows["web:counted"]
    assert (counted["messages"], counted["calls"], counted["estimated"], counted["costs"]) == (1, 1, 1, {})
    assert counted["tokens_in"] > 0
    assert (counted["cached_share"], counted["cached_costs"]) == (None, {})
    assert "offline" in usage_rows(place, "model")
    assert len(usage_rows(place, "day")) == 1
    table = place("usage", "--by", "person").stdout
    heads = (
        "person",
        "messages",
        "calls",
        "estimated",
        "tokens in",
        "cached",
        "share",
        "tokens out",
        "cached cost",
        "cost",
    )
    assert re.search(f"^{' +'.join(heads)}\n", table)
    assert "pond web:" in table


def usage_rows(place: Place, by: str) -> dict[str, dict[str, Any]]:
    found = json.loads(place("usage", "--by", by, "--json").stdout)
    return {row[by]: row for row in found["usage"]}


def test_redis_cli_passes_its_arguments_on(place: Place) -> None:
    assert place("redis-cli", "PING").stdout == "PONG\n"
    assert place("redis-cli", "SET", "a", "-1").stdout == "OK\n"
    assert place("redis-cli", given="GET a\nDEL a\n").stdout == "-1\n1\n"


def test_the_doctor_finds_nothing_wrong(place: Place) -> None:
    done = place("doctor", "--json")

    findings = json.loads(done.stdout)["findings"]
    assert done.returncode == 0
    assert {finding["check"] for finding in findings} >= {"python", "packages", "server", "clock", "workers", "backlog"}
    assert not [finding for finding in findings if finding["state"] == "error"]


def test_config_check_and_doctor_say_what_is_wrong(place: Place) -> None:
    checked = place("config", "check", MILLPOND_BOTS__POND__TOOLS="time,tme")
    examined = place("doctor", MILLPOND_BOTS__POND__TOOLS="time,tme")

    assert checked.returncode == 78
    assert "bots.pond.tools: unknown tool tme. The tools are: time," in checked.stderr
    misspelt = place("doctor", MILLPOND_REDIS__PREFX="x")
    assert (examined.returncode, misspelt.returncode) == (1, 1)
    assert re.search(r"^error +configuration: ", misspelt.stdout, re.MULTILINE)
    assert re.search(r"^error +tools: bots\.pond\.tools: unknown tool tme", examined.stdout, re.MULTILINE)


def test_a_tool_server_whose_program_is_not_there_is_a_warning(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "servers.toml"
    file.write_text('[bots.pond.mcp.gone]\ncommand = "no-such-program"\n[bots.pond.mcp.here]\ncommand = "sh"\n')

    checked = place("--config", str(file), "config", "check")

    assert checked.returncode == 0
    assert "warning: bots.pond.mcp.gone.command: program 'no-such-program' was not found" in checked.stdout
    assert "mcp.here" not in checked.stdout


def test_the_doctor_asks_every_model_by_itself(place: Place, tmp_path: Path) -> None:
    """A fallback that answers would say of a first model that is gone that it is fine."""
    file = tmp_path / "models.toml"
    file.write_text(
        '[bots.pond.model]\nbase_url = "http://127.0.0.1:1/v1"\nname = "first"\n'
        '[[bots.pond.model.fallbacks]]\nname = "second"\nbase_url = "http://127.0.0.1:2/v1"\n'
        '[bots.pond.transcription]\nname = "hearer"\n'
        '[bots.pond.speech]\nname = "singer"\nbase_url = "http://127.0.0.1:3/v1"\n'
        '[bots.deaf.speech]\nname = "singer"\nbase_url = "http://127.0.0.1:3/v1"\n'
    )

    done = place("--config", str(file), "doctor", "--probe-model")

    assert done.returncode == 1
    assert re.search(r"^error +model of pond: first: .*127\.0\.0\.1:1\b", done.stdout, re.MULTILINE)
    assert re.search(r"^error +fallback of pond: second: .*127\.0\.0\.1:2\b", done.stdout, re.MULTILINE)
    assert re.search(r"^error +speech of pond: .*127\.0\.0\.1:3\b", done.stdout, re.MULTILINE)
    quick = place("--config", str(file), "doctor")
    assert re.search(
        r"^ok +transcription of pond: hearer was not tested.*\n.*speech of pond: singer was", quick.stdout, re.MULTILINE
    )
    assert re.search(r"^warning +speech of deaf: bots\.deaf\.transcription is not set", done.stdout, re.MULTILINE)
