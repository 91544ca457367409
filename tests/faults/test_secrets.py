"""Secrets planted everywhere in a configuration, and a whole Millpond that runs with it through success and failure.

Every server that is given a secret repeats it in what it says, as badly written ones do. Then all that anybody could
read is searched: logs at their most talkative, both outputs, every key of Redis, every file, what HTTP answers, what
commands print, what models and platform were sent. Each secret may stand where it belongs, and nowhere else.

The words of a conversation are planted beside them: in messages, names, files, calls and results of tools, and in what
servers say. These words may stand anywhere but in a log.
"""

import base64
import json
import re
import secrets
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from anyio import to_thread
from anyio.abc import SocketAttribute, SocketStream
from msgspec.structs import replace

from channels.inbound import accept, make_inbound
from daemon.config import load
from daemon.events import Attachment
from daemon.process import Process
from daemon.run import open_process
from daemon.server import EmbeddedServer
from daemon.wording import text as say
from tests.conftest import dump
from tests.fakes import tool_server
from tests.fakes.openai_server import Call, Events, Failure, FakeOpenAI, Plain, Reply, Say, delta, fake_openai
from tests.fakes.sink import Sink, sink
from tests.limits import HANG_S
from tests.places import TEMPORARY
from tests.processes import ADDRESS, START_LIMIT_S, STOP_LIMIT_S, environment_of, shut_down
from tests.tables import each_row

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

LIMIT_S = 5 * HANG_S
SHORT_CHARS = 10
"""So much of a secret counts as the secret: texts are cut, and the end of a key is enough to guess the rest."""

CONFIG = """
data_dir = "{data_dir}"
[redis]
url = "redis://:{redis_password}@127.0.0.1:{redis_port}"
[run]
log_level = "debug"
grace_s = 5.0
[queue]
attempts_max = 20
backoff_min_s = 0.05
backoff_max_s = 0.3
park_max_s = 4.0
[channels.web]
token_file = "token"
port = 0

[bots.pond]
tools = ["time", "write_file"]
[bots.pond.model]
name = "first"
base_url = "{model}"
api_key = "{inline}"
[[bots.pond.model.fallbacks]]
name = "second"
base_url = "{other_model}"
api_key = "{fallback}"
[[bots.pond.model.fallbacks]]
name = "third"
base_url = "{other_model}"
api_key_file = "fallback-key"
[bots.pond.mcp.fake]
command = "{python}"
args = ["{tool_server}"]
env = {{ TOKEN = "{tool_variable}" }}
[bots.pond.mcp.nobody]
url = "http://127.0.0.1:1/mcp"
headers = {{ "X-Key" = "{nobodys_header}" }}

[bots.nobody]
[bots.nobody.model]
name = "nobody"
base_url = "http://127.0.0.1:1/v1"
api_key = "{nobodys_key}"

[bots.plain]
[bots.plain.model]
name = "plain"
base_url = "{model}"

{repeating_servers}
{ways}
[channels.pond]
type = "testing"
bot = "pond"
url = "{platform}"
[channels.nobody]
type = "testing"
bot = "nobody"
url = "{platform}"
[channels.plain]
type = "testing"
bot = "plain"
url = "{platform}"
[channels.telegram]
type = "telegram"
bot = "plain"
token = "1:{telegram_token}"
base_url = "{repeating}/400"
[channels.slack]
type = "slack"
bot = "plain"
bot_token = "xoxb-{slack_bot_token}"
app_token = "xapp-{slack_app_token}"
base_url = "{repeating}/400"
[channels.brought]
type = "slack"
bot = "plain"
bot_token = "xoxb-{slack_other_token}"
signing_secret = "{slack_secret}"
base_url = "{repeating}/200"
events = {{ url = "https://bot.example.org/slack", port = 0 }}
"""
NAMES = (
    *("inline", "fallback", "fallback_file", "refused_file", "nobodys_key", "environment", "web_token"),
    *("telegram_token", "slack_bot_token", "slack_app_token", "slack_other_token", "slack_secret"),
    *("tool_variable", "tool_header", "tool_other_header", "tool_query", "nobodys_header", "model_query"),
)
REPEATING = """
[bots.pond.mcp.repeating-{status}]
url = "{address}/{status}?key={tool_query}"
headers = {{ Authorization = "Bearer {tool_header}", "X-Key" = "{tool_other_header}" }}
"""
STATUSES = (200, 302, 400, 401, 404, 500)  # with which tool servers repeat what they were sent
WAY = """
[bots.way{number}.model]
name = "way{number}"
base_url = "{model}?key={model_query}"
api_key_file = "refused-key"
[channels.way{number}]
type = "testing"
bot = "way{number}"
url = "{platform}"
"""
"""A bot whose model fails in one way, each time: a fault of the set-up and an outage hold up all that ask the model."""


@dataclass(kw_only=True)
class Found:
    planted: dict[str, str]
    words: str = "Anna"
    """Said in the conversations."""
    texts: dict[str, str] = field(default_factory=dict[str, str])
    used: set[str] = field(default_factory=set[str])  # secrets that reached whom they are meant for
    said: dict[str, list[str]] = field(default_factory=dict[str, list[str]])  # what people got, by channel

    def logged(self) -> list[str]:
        """Each log with the words of a conversation."""
        logs = {where: text for where, text in self.texts.items() if where == "errors" or "logs/" in where}
        return [f"{where}: …{around(text, self.words)}…" for where, text in logs.items() if self.words in text]

    def leaks(self) -> list[str]:
        """Each secret with each place where it, or a part of it, stands."""
        return [
            f"{name} in {where}: …{around(text, piece)}…"
            for where, text in self.texts.items()
            for name, secret in self.planted.items()
            if (piece := next((piece for piece in pieces(secret) if piece in text), ""))
        ]


def pieces(secret: str) -> Iterator[str]:
    yield from (secret[at : at + SHORT_CHARS] for at in range(len(secret) - SHORT_CHARS + 1))
    yield quote(secret, safe="")
    yield base64.b64encode(secret.encode()).decode().rstrip("=")


def around(text: str, piece: str) -> str:
    at = text.index(piece)
    return text[max(0, at - 120) : at + 40].replace("\n", " ")


def plant() -> dict[str, str]:
    planted = {name: f"sk-{secrets.token_hex(6)}+{secrets.token_hex(8)}" for name in NAMES}
    # Of these it is known what they are made of.
    signs = {"telegram": str.maketrans("+", "_"), "slack": str.maketrans("+", "x", "-")}
    return {name: text.translate(signs.get(name.partition("_")[0], {})) for name, text in planted.items()}


def everyway(key: str, words: str) -> list[Reply]:
    """Every way in which a model's server can say the key and the words that it was sent."""
    text = f"{words}: incorrect API key provided: {key}. You sent Authorization: Bearer {key} " + "x" * 200 + key
    error: dict[str, object] = {"error": {"message": text, "type": "invalid_request_error", "code": key}}
    return [
        *(Failure(status, text, code=key, param=key) for status in (400, 401, 403, 404, 409, 422, 500, 503)),
        Failure(429, text, headers={"Retry-After": "0.1", "X-Key": key}),
        Failure(302, text, headers={"Location": f"/v1/elsewhere?key={key}"}),
        Events([error]),
        Events([delta(content="I begin "), error]),
        Events([delta(content="I begin "), {"error": {"message": text, "code": 500}}]),
        Events([f"data: {{{key} {words}\n\n".encode()]),
        Events([f'data: {{"choices": "{key} {words}"}}\n\n'.encode()]),
        Events([f'data: {{"choices": [{{"delta": {{"{words}": 1, "content": {{"a": "{words}"}}}}}}]}}\n\n'.encode()]),
        Events([delta(finish=key)], done=False, abort=True),
        Plain(f"<html>{key} {words}</html>".encode()),
        Failure(400, f"the prompt is too long: {words}", code="context_length_exceeded"),
        Plain(
            json.dumps({"detail": [{"loc": key, "input": words}]}).encode(), content_type="application/json", status=422
        ),
        Plain(f"{key} {words}".encode(), content_type="text/plain", status=500),
        Plain(b"\xff" + f"{key} {words}".encode(), content_type="application/json"),
    ]


WAYS = len(everyway("", ""))
CHATS = {"pond": 2, "nobody": 1, "plain": 1} | {f"way{number}": 1 for number in range(WAYS)}
"""By channel."""


class Talker:
    """All models; knows by the name in the request which one it is."""

    def __init__(self, found: Found) -> None:
        self._planted = found.planted
        self._words = found.words
        self._ways = everyway(found.planted["refused_file"], found.words)
        self._firsts = everyway(found.planted["inline"], found.words)
        self._seconds = everyway(found.planted["fallback"], found.words)

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        if "model" not in body:
            return Failure(404)  # whoever followed us elsewhere
        messages: Sequence[Mapping[str, Any]] = body["messages"]
        match body["model"]:
            case str(name) if name.startswith("way"):
                return self._ways[int(name.removeprefix("way"))]
            case "first" if self._firsts:
                return self._firsts.pop(0)
            case "second" if self._seconds:
                return self._seconds.pop(0)
            case "third" if messages[-1]["role"] == "user":
                offered = {tool["function"]["name"] for tool in body.get("tools", ())}
                written = {"path": f"{self._words}.md", "content": self._words}
                calls = [
                    Call("fake_where", "{}", id="where"),
                    Call("fake_echo", json.dumps({"text": self._words}), id="echo"),
                    Call("write_file", json.dumps(written), id="write"),
                    Call("write_file", f"{{{self._words}", id="broken"),
                    Call(self._words, "{}", id="nothing"),
                    Call("fake_act", json.dumps({"what": f"quote {self._words}"}), id="quote"),
                    Call("fake_act", json.dumps({"what": f"garble {self._words}"}), id="garble"),
                    Call("fake_act", '{"what": "die"}', id="die"),
                ]
                return Say(calls=calls) if "fake_act" in offered else Say("no tools")
        return Say("fine")


async def repeat(stream: SocketStream, heard: list[str]) -> None:
    """A tool server that answers with the status that its path names, and says no more than what it was sent."""
    async with stream:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            request = ""
            while "\r\n\r\n" not in request:
                request += (await stream.receive()).decode(errors="replace")
            heard.append(request)
            path = request.split(" ")[1]
            head = f"HTTP/1.1 {path[1:4]} {path}\r\nLocation: {path}\r\nContent-Type: application/json"
            length = f"Content-Length: {len(request)}\r\nConnection: close"
            await stream.send(f"{head}\r\n{length}\r\n\r\n{request}".encode())


def files_of(folder: Path, planted: Mapping[str, str], *, repeating: str, **more: object) -> None:
    for name, key in (("token", "web_token"), ("fallback-key", "fallback_file"), ("refused-key", "refused_file")):
        (folder / name).write_text(planted[key])
    text = CONFIG.format(
        data_dir=folder / "data",
        python=sys.executable,
        tool_server=tool_server.__file__,
        repeating_servers="".join(REPEATING.format(status=each, address=repeating, **planted) for each in STATUSES),
        ways="".join(WAY.format(number=number, **planted, **more) for number in range(WAYS)),
        repeating=repeating,
        **planted,
        **more,
    )
    (folder / "millpond.toml").write_text(text)
    for path in folder.iterdir():
        if path.is_file():
            path.chmod(0o600)


@dataclass(kw_only=True)
class Stage:
    folder: Path
    found: Found
    worker: subprocess.Popen[bytes]
    url: str = ""

    async def address(self) -> str:
        with anyio.fail_after(START_LIMIT_S):
            while not (match := ADDRESS.search((self.folder / "output").read_text())):  # noqa: ASYNC110 - its own time
                await anyio.sleep(0.05)
        self.url = match.group()
        return self.url

    def ask(self, method: str, path: str, *, token: str, body: object = None, max_bytes: int = 1_000_000) -> None:
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=START_LIMIT_S) as response:
                text = f"{response.status} {response.headers}\n"
                text += response.read1(max_bytes).decode() if "events" in path else response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                text = f"{error.code} {error.headers}\n{error.read().decode()}"
        self.found.texts[f"HTTP {method} {path} {'with' if token else 'without'} token"] = text

    def command(self, *words: str, **environment: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "millpond", "--config", str(self.folder / "millpond.toml"), *words],
            env=self.environment(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
        )
        text = f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        self.found.texts[f"command {len(self.found.texts)}: {' '.join(words)}"] = text

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        return {**environment_of(self.folder / "data", {}), "OPENAI_API_KEY": self.found.planted["environment"], **more}

    def keep_files(self) -> None:
        """Keep what lies in the data directory, and what anybody on the machine sees of the processes."""
        for path in (self.folder / "data").rglob("*"):
            if path.is_file():
                self.found.texts[f"file {path.relative_to(self.folder)}"] = path.read_bytes().decode("latin-1")
        for name in ("output", "errors"):
            self.found.texts[name] = (self.folder / name).read_text(errors="replace")

    def keep_command_lines(self) -> None:
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                line = file.read_bytes().decode(errors="replace")
                if str(self.folder) in line or tool_server.__file__ in line:
                    self.found.texts[f"command line {file.parent.name}"] = line


COMMANDS = (
    *(("config", "show"), ("config", "show", "--json"), ("config", "show", "--defaults"), ("config", "check")),
    *(("doctor",), ("doctor", "--json"), ("doctor", "--probe-model")),
    *(("session", "list"), ("session", "show", "pond:ann0"), ("session", "show", "pond:ann0", "--prompt")),
    *(("session", "show", "way0:ann0", "--prompt", "--json"), ("queue", "list"), ("queue", "dead", "list")),
    *(("queue", "unknown"), ("worker", "list"), ("usage",), ("redis-cli", "PING"), ("send", "web:cy", "hello")),
)
PATHS = (
    *("/", "/healthz", "/readyz", "/metrics", "/api/sessions", "/api/sessions/web:bob/messages"),
    *("/api/events?session=web:bob", "/nowhere", "/api/sessions/::/messages"),
)


async def play(folder: Path) -> Found:
    found, heard = Found(planted=plant(), words=f"Anna{secrets.token_hex(8)}"), list[str]()
    redis = await EmbeddedServer(folder / "server", idle_s=600.0).ensure()
    found.planted["redis_password"] = redis.password.reveal()
    talker = Talker(found)
    async with (
        fake_openai(talker) as model,
        fake_openai(talker) as other,
        sink() as platform,
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tg,
    ):
        tg.start_soon(listener.serve, partial(repeat, heard=heard))
        files_of(
            folder,
            found.planted,
            redis_port=redis.port,
            model=model.base_url,
            other_model=other.base_url,
            platform=platform.url,
            repeating=f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}",
        )
        await through_it_all(folder, found, platform)
        keep_requests(found, [model, other], heard)
        tg.cancel_scope.cancel()
    return found


async def through_it_all(folder: Path, found: Found, platform: Sink) -> None:
    config = load(folder / "millpond.toml", environ={"OPENAI_API_KEY": found.planted["environment"]}).config
    async with open_process(config, folder / "data") as process:
        stage = begun(folder, found)
        try:
            await stage.address()
            await talk(process, found.words)
            token = found.planted["web_token"]
            post = {"session": "bob", "text": "hello"}
            asked = [partial(stage.ask, "POST", "/api/messages", token=token, body=post)]
            asked += [partial(stage.ask, "POST", "/api/messages", token=token, body={"session": 7})]
            await in_threads(*asked)
            await until_quiet(process)
            await in_threads(*(partial(stage.ask, "GET", path, token=each) for path in PATHS for each in (token, "")))
            await in_threads(partial(stage.ask, "GET", "/api/sessions", token="no" + token[2:]))
            await in_threads(*(partial(stage.command, *words) for words in COMMANDS), stage.keep_command_lines)
            await in_threads(*wrong_redis(stage, found.planted["redis_password"]))
            await in_threads(*wrong_settings(stage, found.planted["inline"]))
            found.texts["Redis"] = repr(await dump(process.bus))
            found.said = {chat: platform.texts(chat) for chat in chats()}
            found.texts["platform"] = repr(platform.posts)
        finally:
            stage.worker.send_signal(signal.SIGTERM)
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(stage.worker.wait, STOP_LIMIT_S)
            stage.keep_files()


def begun(folder: Path, found: Found) -> Stage:
    command = [sys.executable, "-m", "millpond", "--config", str(folder / "millpond.toml"), "run"]
    environment = {**environment_of(folder / "data", {}), "OPENAI_API_KEY": found.planted["environment"]}
    with (folder / "output").open("wb") as output, (folder / "errors").open("wb") as errors:
        worker = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=environment)
    return Stage(folder=folder, found=found, worker=worker)


def wrong_redis(stage: Stage, password: str) -> list[Callable[[], None]]:
    """Commands with a Redis that is not there, or refuses the password."""
    port = load(stage.folder / "millpond.toml", environ={}).config.redis.url.reveal().rpartition(":")[2]
    urls = (
        f"redis://:{password}@127.0.0.1:1",
        f"redis://somebody:{password}@127.0.0.1:{port}",
        f"redis://127.0.0.1:{port}?password={password}x",
        f"redis://:{password}@[::1",
        f"http://:{password}@h",
    )
    return [partial(stage.command, "queue", "list", MILLPOND_REDIS__URL=url) for url in urls]


def wrong_settings(stage: Stage, secret: str) -> list[Callable[[], None]]:
    """Checks of configurations that cannot be used, for what stands where a secret does."""
    settings = (
        {"MILLPOND_BOTS__POND__MODEL__API_KEY": f"{secret} and more"},
        {"MILLPOND_BOTS__POND__MODEL__BASE_URL": f"http://user:{secret}@h/v1"},
        {"MILLPOND_BOTS__POND__MODEL__API_KEY_FILE": str(stage.folder / "token"), "OPENAI_API_KEY": f"\n{secret}"},
        {"MILLPOND_BOTS__WAY0__MODEL__API_KEY": secret},
        {"MILLPOND_CHANNELS__WEB__TOKEN": secret},
        {"MILLPOND_CHANNELS__TELEGRAM__TOKEN": secret},
        {"MILLPOND_CHANNELS__TELEGRAM__BASE_URL": f"http://user:{secret}@h"},
        {"MILLPOND_CHANNELS__TELEGRAM__WEBHOOK__SECRET": f"{secret} and more"},
        {"MILLPOND_CHANNELS__SLACK__BOT_TOKEN": secret},
        {"MILLPOND_CHANNELS__SLACK__APP_TOKEN": secret},
        {"MILLPOND_CHANNELS__SLACK__SIGNING_SECRET": f"{secret} and more"},
        {"MILLPOND_CHANNELS__SLACK__BASE_URL": f"http://user:{secret}@h"},
        {"MILLPOND_CHANNELS__BROUGHT__EVENTS__URL": f"https://user:{secret}@h/slack"},
    )
    return [partial(stage.command, "config", "check", **each) for each in settings]


async def in_threads(*works: Callable[[], None]) -> None:
    limiter = anyio.CapacityLimiter(6)
    async with anyio.create_task_group() as tg:
        for work in works:
            tg.start_soon(partial(to_thread.run_sync, work, limiter=limiter))


def chats() -> Iterator[str]:
    for channel, count in CHATS.items():
        yield from (f"{channel}:ann{number}" for number in range(count))


async def talk(process: Process, words: str) -> None:
    file = Attachment(kind="document", name=f"{words}.pdf", source=words)
    for session in chats():
        channel, _, chat = session.partition(":")
        for name in ("m0", "m1") if channel in ("pond", "plain") else ("m0",):
            inbound = make_inbound(
                process,
                channel=channel,
                chat=chat,
                text=f"hello {name}, {words}",
                sender_id="ann",
                sender_name=words,
                message_id=name,
            )
            await accept(process, replace(inbound, attachments=(file,)))


async def until_quiet(process: Process) -> None:
    keys, bus = process.bus.keys, process.bus
    streams = [keys.inbox(0), *(keys.out(0, channel) for channel in CHATS)]
    with anyio.move_on_after(LIMIT_S):
        while any([await bus.call("XLEN", stream) for stream in streams]):  # noqa: ASYNC110 - other processes
            await anyio.sleep(0.1)


OWN_KEYS = {
    "first": "inline",
    "second": "fallback",
    "third": "fallback_file",
    "plain": "environment",
} | {f"way{number}": "refused_file" for number in range(WAYS)}


REPEATED = (
    *("tool_header", "tool_other_header", "tool_query"),
    *("telegram_token", "slack_bot_token", "slack_other_token"),
)
"""What is sent to a server that repeats it."""


def keep_requests(found: Found, models: Sequence[FakeOpenAI], heard: Sequence[str]) -> None:
    """Keep what was sent, without each secret in the one place where it belongs."""
    for number, request in enumerate(each for model in models for each in model.requests):
        if request.raw == b"":
            continue  # see ``Talker``
        name = OWN_KEYS[str(request.body["model"])]
        headers = dict(request.headers)
        if headers.get("authorization") == f"Bearer {found.planted[name]}":
            found.used.add(name)
            del headers["authorization"]
        path = request.path
        if name == "refused_file":
            path = path.replace(quote(found.planted["model_query"], safe=""), "")
            path = path.replace(found.planted["model_query"], "")
        found.texts[f"request {number} to {request.body['model']}"] = f"{path} {headers} {request.raw.decode()}"
    for number, text in enumerate(heard):
        for name in REPEATED:
            if found.planted[name] in text:
                found.used.add(name)
                text = text.replace(found.planted[name], "")  # noqa: PLW2901 - what is left is searched
        found.texts[f"request {number} to a server that repeats it"] = text


@pytest.fixture
def found() -> Iterator[Found]:
    with TemporaryDirectory(prefix="mp-", dir=TEMPORARY) as name:
        try:
            yield anyio.run(play, Path(name))
        finally:
            shut_down(Path(name) / "server")


def no_secret_stands_where_anybody_reads(found: Found) -> None:
    assert found.leaks() == []


def no_words_of_a_conversation_stand_in_a_log(found: Found) -> None:
    assert found.words in found.texts["Redis"]
    assert found.logged() == []


def all_that_could_be_read_was_searched(found: Found) -> None:
    kinds = {re.split(r"[ /]", where)[0] for where in found.texts}

    assert kinds >= {"HTTP", "command", "request", "Redis", "platform", "output", "errors"}
    assert '"level":"debug"' in found.texts["errors"]
    assert "ModelRefused" in found.texts["errors"]


def secrets_reached_whom_they_are_meant_for(found: Found) -> None:
    assert found.used == {*OWN_KEYS.values(), *REPEATED}


def conversations_went_on_beside_what_failed(found: Found) -> None:
    outage = say("outage", "en", correlation="")[:60]
    assert found.said["nobody:ann0"][-1].startswith(outage)
    assert found.said["plain:ann0"] == ["fine"] * 2
    assert {found.said[f"pond:ann{number}"][-1] for number in range(CHATS["pond"])} == {"fine"}
    given_up = [found.said[f"way{number}:ann0"][-1][:60] for number in range(WAYS)]
    told = {outage, say("too_long", "en", correlation="")[:60]}
    # A text that was shown while it was written became the sentence by an edit, which is no message of its own.
    assert told <= {*given_up} <= {*told, "I begin"}


RULES = (
    no_secret_stands_where_anybody_reads,
    no_words_of_a_conversation_stand_in_a_log,
    all_that_could_be_read_was_searched,
    secrets_reached_whom_they_are_meant_for,
    conversations_went_on_beside_what_failed,
)


@each_row("rule", RULES)
def test_no_secret_stands_where_anybody_reads_and_no_words_of_a_conversation_in_a_log(
    found: Found, rule: Callable[[Found], None]
) -> None:
    rule(found)


def test_a_secret_is_found_in_part_and_in_other_forms() -> None:
    secret = "sk-0123456789+abcdef"

    for text in (
        secret,
        f"Bearer {secret[:12]}…",
        f"…{secret[-10:]}",
        quote(secret, safe=""),
        "c2stMDEyMzQ1Njc4OSthYmNkZWY=",
    ):
        assert Found(planted={"key": secret}, texts={"log": text}).leaks(), text
    assert Found(planted={"key": secret}, texts={"log": "sk-012345…"}).leaks() == []
