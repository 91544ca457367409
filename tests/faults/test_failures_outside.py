"""Each kind of failure as people meet it: the real command, and a server that fails so (docs/failures.md).

One process has a bot for each row of the table, and each bot a model of the same name at the one server.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from daemon.wording import text as say
from tests.fakes.openai_server import Events, Failure, Plain, Reply, Say, delta, fake_openai
from tests.fakes.telegram import Chat, fake_telegram
from tests.limits import HANG_S
from tests.places import TEMPORARY
from tests.ports import free_port
from tests.processes import Daemon, environment_of, running, shut_down

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

EVIL = "what is not to be said"
PAGE = b"<html><title>Sign in</title></html>"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A way to fail."""

    kind: Literal["outage", "setup", "refused", "broken"]
    reply: Reply | None = None
    """What the server says; of an outage and a fault of the set-up to everything, else to messages with ``EVIL``."""
    reason: str
    """Stands in what ``doctor``, ``queue list`` and the page show, or in the dead letter."""
    url: str = ""
    """Where the server should be; empty: where it is."""

    @property
    def parks(self) -> bool:
        return self.kind in ("outage", "setup")


def outage(reply: Reply, reason: str) -> Row:
    return Row(kind="outage", reply=reply, reason=reason)


def setup(reply: Reply | None, reason: str, url: str = "") -> Row:
    return Row(kind="setup", reply=reply, reason=reason, url=url)


def refused(status: int, reason: str = "rejected the request ({})") -> Row:
    return Row(kind="refused", reply=Failure(status, f"I will not read {EVIL}"), reason=reason.format(status))


def broken(reply: Reply) -> Row:
    return Row(kind="broken", reply=reply, reason="attempts")


ROWS: Mapping[str, Row] = {
    "overloaded": outage(Failure(503), "failed (503)"),
    "hour": outage(Failure(429, headers={"Retry-After": "3600"}), "rate-limiting requests (429)"),
    "soon": outage(Failure(429, headers={"Retry-After": "soon"}), "rate-limiting requests (429)"),
    "gateway": outage(Plain(PAGE, status=502), "failed (502)"),
    "late": outage(Failure(408), "failed (408)"),
    "ends": outage(Events([{"error": {"message": "overloaded", "code": 503}}]), "failed (503)"),
    "key": setup(Failure(401, "Incorrect API key"), "The server rejected the API key (401)."),
    "credit": setup(Failure(429, "no", code="insufficient_quota"), "The account has no credit left (402)."),
    "rights": setup(Failure(403), "The API key does not have access to this model (403)."),
    "model": setup(Failure(404, "no such model"), "The model or the address was not found (404)."),
    "unknown": setup(Failure(400, "Model Not Exist"), "The model or the address was not found (404)."),
    "method": setup(Failure(405), "The address does not accept chat requests (405)."),
    "gone": setup(Failure(410), "The model is no longer available (410)."),
    "moved": setup(Failure(302, headers={"Location": "/login"}), "The server redirects the request to another address"),
    "page": setup(Plain(PAGE), "returned a web page instead of an answer from the model."),
    "no-server": setup(None, "No server listens at 127.0.0.1:9.", url="http://127.0.0.1:9/v1"),
    "no-tls": setup(None, "does not use TLS.", url="https://{host}/v1"),
    "tls": setup(Plain(b"<html>The plain HTTP request was sent to HTTPS port", status=400), "The server expects TLS"),
    "refuses-all": setup(Failure(400, "no"), "The server rejects every request, even a short test message"),
    "garbage-for-all": setup(Plain(b"{'single': 'quotes'}", "application/json"), "The server returns unusable answers"),
    "bad": refused(400),
    "large": refused(413),
    "odd": refused(422),
    "moderated": refused(403, "rejected this message ({})"),
    "firewall": Row(kind="refused", reply=Plain(PAGE), reason="returned a web page for this message"),
    "empty": broken(Say("")),
    "garbage": broken(Plain(b"{'single': 'quotes'}", "application/json")),
    "breaks-off": broken(Events([delta(content="half of it")], done=False, abort=True)),
}  # fmt: skip

CONFIG = """
data_dir = "{data}"
[queue]
backoff_min_s = 0.1
backoff_max_s = 0.2
attempts_max = 2
[channels.web]
type = "web"
bot = "bad"
port = {port}
[channels.terminal]
bot = "bad"
[channels.lake]
type = "telegram"
bot = "key"
token = "{token}"
base_url = "{telegram}"
debounce_s = 0
access = {{policy = "open"}}
[bots.key]
admins = ["lake:{admin}"]
"""
BOT = """
[bots.{name}.model]
name = "{name}"
base_url = "{url}"
api_key = "sk-1234567890"
[channels.{name}]
type = "web"
bot = "{name}"
port = {port}
"""


class Server:
    """Fails by the model's name, until it is mended."""

    def __init__(self) -> None:
        self.mended = False

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        row = ROWS[str(body["model"])]
        # A refused message is not sent again; one without a usable answer stays in the conversation.
        is_evil = EVIL in json.dumps(body["messages"] if row.kind == "refused" else body["messages"][-1])
        fails = not self.mended if row.parks else is_evil
        return row.reply if fails and row.reply is not None else Say("fine")


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="mp-", dir=TEMPORARY))
    yield folder
    shut_down(folder)
    shutil.rmtree(folder, ignore_errors=True)


def until(found: Callable[[], Any]) -> Any:
    ends = time.monotonic() + HANG_S
    while not (result := found()):
        assert time.monotonic() < ends, "it never came"
        time.sleep(0.05)
    return result


def command(folder: Path, *words: str) -> Any:
    """What a command says in JSON, or as text without ``--json``."""
    result = subprocess.run(
        [sys.executable, "-m", "millpond", *words],
        env=environment_of(folder, {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    return json.loads(result.stdout) if "--json" in words else result.stdout


class Site:
    """The web channels of the process: one for each row."""

    def __init__(self, ports: Mapping[str, int], folder: Path) -> None:
        self._ports = ports
        self._folder = folder

    def of(self, name: str) -> Daemon:
        daemon = Daemon.__new__(Daemon)
        daemon.folder = self._folder
        daemon.url = f"http://127.0.0.1:{self._ports[name]}"
        return daemon

    def post(self, name: str, text: str) -> None:
        self.of(name).post(f"{name}:ann", text)

    def answers(self, name: str) -> list[str]:
        return [each["content"] for each in self.of(name).messages(f"{name}:ann") if each["role"] == "assistant"]

    def notice(self, name: str) -> str:
        """The first notice that a viewer of the page is shown."""
        with self.of(name).opened(f"/api/events?session={name}:ann") as events:
            for line in events:
                if line.startswith(b"data:") and b'"notice"' in line:
                    return str(json.loads(line.removeprefix(b"data:"))["text"])
        raise AssertionError("the stream ended")


class Operator:
    """A browser that is logged in."""

    def __init__(self, folder: Path, site: Site) -> None:
        self._url = site.of("web").url
        [code] = [
            line.rpartition("#")[2] for line in command(folder, "page", "--channel", "web").splitlines() if "#" in line
        ]
        request = urllib.request.Request(
            f"{self._url}/api/login", json.dumps({"code": code}).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=HANG_S) as response:
            self._cookie = response.headers["Set-Cookie"].partition(";")[0]

    def get(self, path: str) -> Any:
        request = urllib.request.Request(self._url + path, headers={"Cookie": self._cookie})
        with urllib.request.urlopen(request, timeout=HANG_S) as response:
            return json.load(response)


def test_each_failure_is_reported_for_what_it_is_and_blocks_no_other_message(
    portal: BlockingPortal, folder: Path
) -> None:
    script = Server()
    with (
        portal.wrap_async_context_manager(fake_openai(script)) as server,
        portal.wrap_async_context_manager(fake_telegram(floods=False)) as telegram,
    ):
        boss, eve = (telegram.direct(telegram.person(name)) for name in ("Boss", "Eve"))
        ports = {name: free_port() for name in ("web", *ROWS)}
        values = {"token": telegram.bot.token, "telegram": telegram.base_url, "admin": boss.id}
        host = server.base_url.split("/")[2]
        bots = [
            BOT.format(name=name, port=ports[name], url=(row.url or server.base_url).format(host=host))
            for name, row in ROWS.items()
        ]
        file = folder / "millpond.toml"
        file.write_text(CONFIG.format(data=folder, port=ports["web"], **values) + "".join(bots))
        file.chmod(0o600)
        site, here = Site(ports, folder), {"MILLPOND_CHANNELS__WEB__PORT": str(ports["web"])}

        with running(folder, **here):
            for name in ROWS:
                site.post(name, EVIL)
                site.post(name, "are you there?")
            _see_what_is_not_parked(folder, site)
            portal.call(_say, eve, boss)
            _see_what_is_parked(folder, site, boss, eve)
            _see_all_together(folder, site)

        script.mended = True
        mended = "".join(BOT.format(name=name, port=ports[name], url=server.base_url) for name in ROWS)
        file.write_text(CONFIG.format(data=folder, port=ports["web"], **values) + mended)
        with running(folder, **here):
            for name, row in ROWS.items():
                if row.parks:
                    until(lambda name=name: site.answers(name) == ["fine", "fine"])
            assert until(lambda: not command(folder, "queue", "list", "--json")["reasons"])
            findings = command(folder, "doctor", "--json")["findings"]
    assert [each for each in findings if each["state"] == "error"] == []


async def _say(*chats: Chat) -> None:
    for chat in chats:
        chat.say("hello")


def _see_what_is_not_parked(folder: Path, site: Site) -> None:
    """A refused message, and one without a usable answer, are answered by a sentence, and the next one as usual."""
    for name, row in ROWS.items():
        if row.parks:
            continue
        first, last = until(lambda name=name: (found := site.answers(name)) and len(found) == 2 and found)
        status = "HTML" if isinstance(row.reply, Plain) else getattr(row.reply, "status", 0)
        key, values = ("message_refused", {"status": status}) if row.kind == "refused" else ("poison", {"attempts": 2})
        assert (first.rpartition(" ")[0], last) == (
            *(say(key, "en", correlation="ID", **values).rpartition(" ")[0], "fine"),
        ), name


def _see_what_is_parked(folder: Path, site: Site, boss: Chat, eve: Chat) -> None:
    """People are told, the cause to those who can mend it."""
    for name, row in ROWS.items():
        if not row.parks:
            continue
        told = site.notice(name)
        if row.kind == "outage":
            assert told == say("parked", "en"), name
        else:
            assert told.startswith("The bot cannot use its model: ") and row.reason in told, name
    until(lambda: len(eve.texts()) == 1 and len(boss.texts()) == 2)
    assert eve.texts() == [say("setup_fault_others", "en")]
    assert all(ROWS["key"].reason in text for text in boss.texts())
    assert {text.partition(" cannot use")[0] for text in boss.texts()} == {"The bot", "Bot key"}


def _see_all_together(folder: Path, site: Site) -> None:
    """``doctor``, ``queue``, the page and the metrics."""
    operator, parks = Operator(folder, site), {name: row for name, row in ROWS.items() if row.parks}

    listed, page = set[str](), dict[str, str]()

    def are_listed() -> bool:
        listed.update(command(folder, "queue", "list", "--json")["reasons"])
        return all(any(is_reason(row, reason) for reason in listed) for row in parks.values())

    def are_on_the_page() -> bool:
        page.update({each["session"]: each["reason"] for each in operator.get("/api/system")["parked"]})
        return all(is_reason(row, page.get(f"{name}:ann", "")) for name, row in parks.items())

    # A session that looks whether its model works is not listed meanwhile.
    until(are_listed)
    until(are_on_the_page)
    findings = command(folder, "doctor", "--json")["findings"]
    errors = {each["check"]: each["text"] for each in findings if each["state"] == "error"}
    assert errors.keys() == {f"model {name}" for name in parks}
    assert [name for name, row in parks.items() if row.reason not in errors[f"model {name}"]] == []
    given_up = {f"{name}:ann": row.reason for name, row in ROWS.items() if not row.parks}
    for found in (command(folder, "queue", "dead", "list", "--json"), operator.get("/api/dead")):
        reasons = {each["session"]: each["reason"] for each in found["dead"]}
        assert reasons.keys() == given_up.keys()
        assert {session: reason for session, reason in reasons.items() if given_up[session] not in reason} == {}
        assert "I will not read" not in json.dumps(found)
    assert any(each["check"] == "dead letters" and "delivered: 8." in each["text"] for each in findings)
    with site.of("web").opened("/metrics") as response:
        metrics = response.read().decode()
    for outcome in ("parked", "failed", "dead"):
        assert f'\nmillpond_turns_total{{outcome="{outcome}"}}' in metrics
    assert "\nmillpond_dead 8.0" in metrics


def is_reason(row: Row, reason: str) -> bool:
    return reason.startswith(f"{row.kind}: ") and row.reason in reason
