"""Each role with a Redis user of its own: all work gets done, the server refuses nothing of it, and all else."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio import to_thread

from daemon.bus.permissions import RIGHTS
from daemon.services import ROLES
from tests.deploy.served import Server, server
from tests.fakes.telegram import Chat, FakeTelegram, fake_telegram
from tests.limits import HANG_S, until
from tests.ports import free_port

__all__ = ["server"]

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(600)]

TOKEN = "a-token-of-the-api"
CONFIG = """
data_dir = "{data}"
[queue]
lease_s = 3.0
renew_s = 0.5
[bots.pond]
admins = ["telegram:{admin}"]
tools = ["time", "message", "compact", "write_file", "memory_search", "conversation_search"]
[bots.pond.limits]
messages_per_minute = {{ person = 1000 }}
[channels.telegram]
token = "{token}"
base_url = "{telegram}"
send_timeout_s = 2.0
access = {{ policy = "pairing" }}
[channels.web]
port = {port}
token = "{api}"
[channels.terminal]
enabled = false
"""


@dataclass(kw_only=True)
class Pond:
    """The processes of all roles, each with its own user of the server."""

    server: Server
    folder: Path
    telegram: FakeTelegram
    admin: Chat
    client: httpx2.AsyncClient
    ports: dict[str, int]
    running: dict[str, subprocess.Popen[bytes]]

    def environment(self, role: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MILLPOND_", "OPENAI_"))}
        ours = {
            "CONFIG": str(self.folder / "millpond.toml"),
            "REDIS__URL_FILE": str(self.server.url_file(role)),
            "HEALTH__PORT": str(self.ports.get(role, 0)),
        }
        return kept | {f"MILLPOND_{name}": value for name, value in ours.items()}

    def start(self, role: str) -> None:
        with (self.folder / f"{role}.log").open("ab") as log:
            command = [sys.executable, "-m", "millpond", "run", "--role", role]
            self.running[role] = subprocess.Popen(command, stdout=log, stderr=log, env=self.environment(role))

    async def ready(self, role: str) -> bool:
        assert self.running[role].poll() is None, (self.folder / f"{role}.log").read_text()[-2_000:]
        return (await self.health(role, "readyz"))[0] == 200

    async def health(self, role: str, path: str) -> tuple[int, str]:
        try:
            answer = await self.client.get(f"http://127.0.0.1:{self.ports[role]}/{path}")
        except httpx2.HTTPError:
            return 0, ""
        return answer.status_code, answer.text

    async def millpond(self, role: str, *words: str) -> str:
        command = [sys.executable, "-m", "millpond", *words]
        with anyio.fail_after(HANG_S):
            done = await anyio.run_process(command, env=self.environment(role), stderr=subprocess.STDOUT, check=False)
        return done.stdout.decode()

    async def ask(self, text: str, wanted: str = "", chat: Chat | None = None) -> str:
        """Say something on Telegram; the first answer with ``wanted`` in it."""
        chat = chat or self.admin
        seen = len(chat.texts())
        chat.say(text)

        def found() -> list[str]:
            return [each for each in chat.texts()[seen:] if re.search(wanted, each)]

        try:
            await self.telegram.until(lambda: bool(found()), within_s=HANG_S)
        except TimeoutError:
            pytest.fail(f"{text!r} was answered by {chat.texts()[seen:]}; rejected: {self.server.refused()}")
        return found()[0]

    async def api(self, method: str, path: str, **body: Any) -> Any:
        answer = await self.client.request(method, f"{self.url}{path}", json=body or None)
        refused = f"{method} {path}: {answer.status_code} {answer.text}; rejected: {self.server.refused()}"
        assert answer.status_code in (200, 202, 204), refused
        return answer.json() if answer.content else None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['api']}"


@asynccontextmanager
async def pond(server: Server, folder: Path) -> AsyncGenerator[Pond]:
    ports = {name: free_port() for name in (*ROLES, "api")}
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        fake_telegram(floods=False) as telegram,
        httpx2.AsyncClient(trust_env=False, timeout=HANG_S, headers=headers) as client,
    ):
        admin = telegram.direct(telegram.person("Ann"))
        config = CONFIG.format(
            data=folder / "data",
            admin=admin.id,
            token=telegram.bot.token,
            telegram=telegram.base_url,
            port=ports["api"],
            api=TOKEN,
        )
        (folder / "millpond.toml").write_text(config)
        (folder / "millpond.toml").chmod(0o600)
        here = Pond(
            server=server, folder=folder, telegram=telegram, admin=admin, client=client, ports=ports, running={}
        )
        try:
            for role in ROLES:
                here.start(role)
            for role in ROLES:
                await until(lambda role=role: here.ready(role))
            yield here
        finally:
            for process in here.running.values():
                process.terminate()
            with anyio.CancelScope(shield=True):
                for process in here.running.values():
                    await to_thread.run_sync(process.wait, HANG_S)


async def talk(here: Pond) -> None:
    """Everything that people do in a chat."""
    stranger = here.telegram.direct(here.telegram.person("Bob"))
    code = re.search(r"[A-Z0-9]{4}-?[A-Z0-9]{4}", await here.ask("hello?", chat=stranger))
    assert code is not None
    await here.ask(f"/pair {code[0]}", r".")
    await here.ask("hello", "(?i)hello", chat=stranger)
    await here.ask("my dog is called Rex")
    await here.ask("what time is it")
    await here.ask('use write_file {"path": "a.md", "content": "Rex"}')
    await here.ask('use memory_search {"query": "Rex"}')
    await here.ask('use message {"content": "by the way"}', "by the way")
    for command in (
        "/status",
        "/usage",
        "/whoami",
        "/help",
        "/memory",
        "/model",
        "/pause",
        "/resume",
        "/link",
        "/stop",
    ):
        await here.ask(command)
    await here.ask("/compact", "(?i)summar|consolidat|compact")
    await here.ask("/memory Rex")
    await here.ask("/export")
    await here.ask("/forget Rex", "(?s)1.*Rex")
    await here.ask("/forget all", "(?i)forgotten")
    await here.ask("/new")


async def look(here: Pond) -> None:
    """What the page shows and does."""
    await here.api("POST", "/api/messages", session="cat", text="my cat is called Tom", id="c1")
    await until(lambda: _answered(here, "cat", "c1"))
    path = f"/api/memory/pond:person:telegram:{here.admin.id}"
    memory = await here.api("GET", path)
    await here.api("PUT", path, text="# Ann\n- Tom\n", expect=memory["version"])
    await here.api("POST", f"{path}/restore", version=memory["version"], expect=memory["version"] + 1)
    for rest in ("/versions", "/history", "/notes", "/search?q=Tom"):
        await here.api("GET", f"{path}{rest}")
    listed = await here.api("POST", f"{path}/forget", words="Tom")
    await here.api("POST", f"{path}/forget", token=listed["token"], choose="all")
    for rest in ("context", "prompt", "timeline", "search?q=Tom", "turns"):
        await here.api("GET", f"/api/sessions/web%3Acat/{rest}")
    for rest in ("sessions", "system", "dead", "unknown", "audit", "memory", "me"):
        await here.api("GET", f"/api/{rest}")
    people = "/api/settings/people"
    stranger = here.telegram.direct(here.telegram.person("Eve"))
    await here.ask("hello?", "[A-Z0-9]{4}-?[A-Z0-9]{4}", chat=stranger)
    known = {"channel": "telegram", "id": str(stranger.id)}
    asking = (await here.api("GET", people))["channels"][0]["asking"]
    assert [each["id"] for each in asking] == [known["id"]]
    for change in ("approve", "ban", "unban"):
        await here.api("POST", f"{people}/{change}", **known)
    pair = {"person": f"telegram:{here.admin.id}", "other": f"telegram:{stranger.id}"}
    for change in ("link", "unlink"):
        await here.api("POST", f"{people}/{change}", **pair)
    link = re.search(r"http://\S+#(\S+)", await here.millpond("", "page"))
    assert link is not None
    await here.api("POST", "/api/login", code=link[1])


async def _answered(here: Pond, session: str, message_id: str) -> bool:
    messages = (await here.api("GET", f"/api/sessions/{session}/messages"))["messages"]
    return any(message_id in message.get("answers", ()) for message in messages)


async def die(here: Pond) -> None:
    """A worker dies in a turn, and the reaper of its successor wakes the session."""
    here.admin.say("count to 30")
    await here.telegram.until(lambda: any("7" in text for text in here.admin.texts()[-2:]), within_s=HANG_S)
    here.running["agent"].send_signal(signal.SIGKILL)
    here.running["agent"].wait(HANG_S)
    here.start("agent")
    await here.telegram.until(lambda: any("30" in text for text in here.admin.texts()), within_s=HANG_S)


async def test_all_roles_do_their_work_and_the_server_refuses_nothing(server: Server, tmp_path: Path) -> None:
    async with pond(server, tmp_path) as here:
        for walk in (talk, look, die):
            await walk(here)
            assert server.refused() == [], walk.__name__
        for role in ROLES:
            await until(lambda role=role: here.ready(role))
            status, text = await here.health(role, "metrics")
            assert (status, "millpond_backlog" in text) == (200, True)
        assert server.refused() == []
        for role in ROLES:
            found = await here.millpond(role, "doctor")
            assert f"the Redis user has the permissions for the {role} role" in found, found
        assert "the Redis user has the permissions for every role" in await here.millpond("", "doctor")


EVERYBODY = """
FLUSHALL|CONFIG GET dir|ACL LIST|SHUTDOWN NOSAVE|KEYS *|GET other|REPLICAOF NO ONE|MONITOR|SAVE
CLIENT LIST|CLIENT KILL TYPE normal|SET mp:new x|MODULE LIST|FUNCTION LIST|GET mp:new|PUBLISH other x|EVAL return 0
"""
REFUSED = {
    "web": """
        HSET mp:{0}:lock:s a b|HSET mp:poller:{t} a b|HSET mp:paused:{p} a b|DEL mp:{0}:segments:s
    """,
    "agent": """
        SET mp:visitor:{login}:x y|SET mp:login:{login}:x y|GET mp:visitor:{login}:x|XTRIM mp:audit MAXLEN 0
        HSET mp:poller:{t} a b|HSET mp:{0}:leader:t a b|DEL mp:{0}:sent:x
    """,
    "channels": """
        HGETALL mp:{0}:memory:s|LRANGE mp:{0}:history:s 0 -1|LPUSH mp:{0}:versions:s x|HSET mp:people a b
        HSET mp:access:{t} a b|GET mp:visitor:{login}:x|HSET mp:job:{jobs}:x a b|HSET mp:{0}:lock:s a b
    """,
    "consolidation": """
        SET mp:visitor:{login}:x y|GET mp:login:{login}:x|HGETALL mp:access:{t}|HSET mp:codes:{t} a b
        HSET mp:poller:{t} a b|DEL mp:{0}:seen:s:x|DEL mp:{0}:sent:x|HSET mp:paused:{p} a b
    """,
}
"""What the user of a role asks of the server in vain."""


def commands_of(text: str) -> list[str]:
    return [command.strip() for line in text.split("\n") for command in line.split("|") if command.strip()]


def test_the_user_of_a_role_can_do_nothing_else(server: Server) -> None:
    passed = set[str]()
    if not server.read_only:  # Redis 6.2, which knows no functions
        passed = {"FUNCTION LIST", "HSET mp:access:{t} a b", "HSET mp:paused:{p} a b"}
        passed |= {
            "HSET mp:{0}:lock:s a b",
            "HSET mp:poller:{t} a b",
            "DEL mp:{0}:segments:s",
        }

    assert set(REFUSED) == set(RIGHTS) == set(ROLES)
    for role, commands in REFUSED.items():
        with server.link(role) as link:
            answers = {each: str(link.call(*each.split())) for each in commands_of(EVERYBODY + commands)}
        allowed = {command: answer for command, answer in answers.items() if "NOPERM" not in answer}
        assert set(allowed) <= passed, f"{role}: {allowed}"
