"""The example of docs/channels-example.md, installed as it is, found by its entry point, and held to the contract."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from channels.base import Channel
from channels.push import connect, serve
from channels.push_checks import examine
from daemon.config import AccessConfig, Config, PushConfig, RedisConfig, load
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.testing import ScriptedModel
from tests.contract.lab import RETRY_AFTER_S, Fault, Feature, Lab, Said, Shown
from tests.contract.suite import ChannelContract
from tests.fakes.lines import KEY, Answered, Dropped, LinesServer, Request
from tests.limits import HANG_S
from workers.agent.service import serve as serve_agents

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "channels-example.md"
NAME = "harbour"

FAULTS = {
    Fault.TOO_MANY: Answered(f'{{"later_s": {RETRY_AFTER_S}}}'.encode()),
    Fault.SERVER_ERROR: Answered(b'{"later_s": 0}'),
    Fault.REJECTED: Answered(b'{"never": "you are blocked"}'),
    Fault.CUT_BEFORE: Dropped(done=False),
    Fault.CUT_AFTER: Dropped(done=True),
    Fault.HANG: Dropped(done=True, hangs=True),
}


def blocks() -> dict[str, str]:
    found = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return dict(found)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of packages with the example in it, as an installer leaves it."""
    site = tmp_path_factory.mktemp("site")
    install(site, blocks())
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        yield site
        for name in [name for name in sys.modules if name.partition(".")[0] == "millpond_lines"]:
            del sys.modules[name]


def install(site: Path, files: dict[str, str]) -> None:
    """Put a package there with its metadata, and the entry points that its pyproject.toml names."""
    [(name, version)] = re.findall(r'^name = "(.+)"\nversion = "(.+)"$', files["pyproject.toml"], re.MULTILINE)
    metadata = site / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    points = re.findall(r'^\[project\.entry-points\."(.+)"\]\n(\w+) = "(.+)"$', files["pyproject.toml"], re.MULTILINE)
    (metadata / "entry_points.txt").write_text("".join(f"[{group}]\n{key} = {at}\n" for group, key, at in points))
    for file, content in files.items():
        if file.endswith(".py"):
            (site / file).parent.mkdir(exist_ok=True)
            (site / file).write_text(content, encoding="utf-8")


def configured(folder: Path, port: int, *, key: str = KEY) -> Config:
    (folder / "key").write_text(key)
    (folder / "key").chmod(0o600)
    text = blocks()["millpond.toml"].replace("port = 7070", f"port = {port}").replace("~/.secrets/lines", "key")
    file = folder / "millpond.toml"
    file.write_text(f'data_dir = "{folder}"\n{text}')
    return load(file, environ={}).config


class LinesLab(Lab):
    missing = frozenset(
        {
            *(Feature.ALBUMS, Feature.BUTTONS, Feature.THREADS, Feature.DELETING),
            *(Feature.REACTING, Feature.FINDING, Feature.LOOKING_BACK),
        }
    )
    impossible = frozenset({Fault.PAGE})

    def __init__(self, process: Process, folder: Path) -> None:
        super().__init__()
        self.chat = SessionKey(channel=NAME, chat="ann")
        self.group = SessionKey(channel=NAME, chat="#tides")
        self._process = process
        self._folder = folder
        self._numbers = 0
        self.server = LinesServer(self._decide)
        self.serving = anyio.CancelScope()

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with self.serving:
            await self.server.serve(task_status=task_status)

    def again(self) -> AbstractAsyncContextManager[Channel]:
        config = configured(self._folder, self.server.port)
        channel: Any = config.channels[NAME]
        assert isinstance(channel, PushConfig)
        self.workspace = self._folder / "bots" / "pond"
        return connect(replace(self._process, config=config), NAME, channel)

    def a_chat(self, number: int) -> str:
        return f"chat-{number}"

    def shown(self, chat: SessionKey) -> list[Shown]:
        return [
            Shown(
                id=number,
                text=message["text"],
                files=(message["file"]["name"],) if "file" in message else (),
                reply_to=message["answers"],
            )
            for number, message in self.server.messages.items()
            if message["chat"] == chat.chat
        ]

    def typings(self, chat: SessionKey) -> int:
        return sum(act["do"] == "writing" and act["chat"] == chat.chat for act in self.server.acts)

    def reaction(self, chat: SessionKey, message_id: str) -> str:
        signs = [act["sign"] for act in self.server.acts if act["do"] == "mark" and act["id"] == message_id]
        return signs[-1] if signs else ""

    async def say(self, said: Said) -> str:
        self._numbers += 1
        number = said.edits or f"p{self._numbers}"
        chat = said.chat or self.chat.chat
        group = chat == self.group.chat
        message: Request = {"id": number, "chat": chat, "who": said.sender, "bot": said.is_bot, "group": group}
        message["text"] = f"@pond {said.text}" if group and said.mentioned else said.text
        message["instead"], message["answers"] = bool(said.edits), said.answers
        message["answers_you"] = said.answers in self.server.messages
        if said.file is not None:
            self.server.files[number] = said.file
            message["file"] = {"id": number, "name": "file", "bytes": len(said.file)}
        self.server.say(message)
        return number

    async def say_nonsense(self) -> None:
        for nonsense in ({"id": 7}, {"chat": "x"}, {"id": "1", "chat": [], "who": {}}):
            self.server.say(nonsense)

    async def settled(self) -> None:
        with anyio.fail_after(HANG_S):
            await self.server.until(lambda: not self.server.said)

    def unsettled(self) -> bool:
        return bool(self.server.said)

    def lock_out(self) -> None:
        self.server.key = "another"

    async def shut_down(self) -> None:
        self.serving.cancel()
        await anyio.wait_all_tasks_blocked()

    def _decide(self, request: Request) -> Answered | Dropped | None:
        faults = self.update_faults if request["do"] == "listen" else self.faults
        return FAULTS[faults.pop(0)] if faults else None


@pytest.mark.usefixtures("installed")
class TestLines(ChannelContract, missing=LinesLab.missing):
    @pytest.fixture
    async def lab(self, installed: Path, process: Process, tmp_path: Path) -> AsyncIterator[LinesLab]:
        lab = LinesLab(process, tmp_path)
        async with AsyncExitStack() as stack, anyio.create_task_group() as tg:
            await tg.start(lab.serve)
            lab.channel = await stack.enter_async_context(lab.again())
            sys.modules["millpond_lines.adapter"].AWAY_PAUSE_S = 0.02
            yield lab
            tg.cancel_scope.cancel()


def millpond(folder: Path, site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of a process that finds the folder of packages on its path."""
    command = [
        sys.executable,
        "-c",
        "import millpond; millpond.main()",
        "--config",
        str(folder / "millpond.toml"),
        *words,
    ]
    path = os.pathsep.join([str(ROOT), str(site)])
    return subprocess.run(command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False, cwd=folder)


def test_the_command_line_knows_it(installed: Path, tmp_path: Path) -> None:
    configured(tmp_path, 7071)

    checked = millpond(tmp_path, installed, "config", "check")
    shown = millpond(tmp_path, installed, "config", "show")

    assert checked.returncode == 0, checked.stderr
    assert 'type = "lines"' in shown.stdout and "port = 7071" in shown.stdout and KEY not in shown.stdout


async def test_doctor_asks_it_how_it_fares(
    installed: Path, process: Process, redis: tuple[RedisConfig, Path], prefix: str, tmp_path: Path
) -> None:
    lab = LinesLab(process, tmp_path)
    async with anyio.create_task_group() as tg:
        await tg.start(lab.serve)
        config = msgspec.structs.replace(
            configured(tmp_path, lab.server.port),
            redis=msgspec.structs.replace(redis[0], prefix=prefix),
            data_dir=str(redis[1]),
        )
        well = await examine(NAME, config)
        lab.lock_out()
        locked_out = await examine(NAME, config)
        await lab.shut_down()
        sys.modules["millpond_lines.adapter"].connect = None
        broken = await examine(NAME, config)
        del sys.modules["millpond_lines.adapter"]
        tg.cancel_scope.cancel()

    assert [(found.state, found.check, found.text) for found in well] == [
        ("ok", "channel harbour", f"pond at 127.0.0.1:{lab.server.port}")
    ]
    assert [found.state for found in locked_out] == ["error"]
    assert "wrong key; look at channels.harbour.host" in locked_out[0].text
    assert [found.state for found in broken] == ["error"]
    assert broken[0].text.startswith("the channel could not be checked: TypeError")


def test_the_command_line_names_it_when_it_is_broken(installed: Path, tmp_path: Path) -> None:
    configured(tmp_path, 7071)
    site = tmp_path / "broken"
    site.mkdir()
    install(site, {**blocks(), "millpond_lines/__init__.py": "import a_package_that_is_missing"})

    checked = millpond(tmp_path, site, "config", "check")

    assert checked.returncode == 78
    assert (
        "channels.harbour.type: package millpond-lines 1.0, which provides type 'lines', cannot be used"
        in checked.stderr
    )
    assert "Traceback" not in checked.stderr


async def test_a_bot_answers_on_it(installed: Path, process: Process, tmp_path: Path) -> None:
    """The whole way, with nothing of it named anywhere but in the configuration."""

    async def model(_config: object, *, language: str) -> ScriptedModel:
        return ScriptedModel("High at noon.")

    lab = LinesLab(process, tmp_path)
    async with anyio.create_task_group() as tg:
        await tg.start(lab.serve)
        (tmp_path / "key").write_text(KEY)
        config = configured(tmp_path, lab.server.port)
        config = msgspec.structs.replace(config, queue=process.config.queue)
        access = AccessConfig(policy="open")
        channel = msgspec.structs.replace(config.channels[NAME], access=access)
        config = msgspec.structs.replace(config, channels={NAME: channel})
        one = replace(process, config=config, connect_model=model, stopping=anyio.Event())
        await tg.start(serve_agents, one)
        await tg.start(serve, one)
        await lab.say(Said(text="When is the tide?"))

        with anyio.fail_after(HANG_S):
            await lab.server.until(lambda: "High at noon." in [shown.text for shown in lab.shown(lab.chat)])
            await lab.settled()
        one.stopping.set()
        lab.serving.cancel()
