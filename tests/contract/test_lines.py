"""The example of docs/channels-example.md, installed as it is, found by its entry point, and held to the contract."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import msgspec
import pytest

from channels.push import serve
from channels.push_checks import examine
from channels.testing.channel_contract import ChannelContract
from channels.testing.lab import Said
from daemon.config import AccessConfig, RedisConfig
from daemon.process import Process
from daemon.testing import ScriptedModel
from tests.contract.lines_lab import CHANNEL, NAME, LinesLab, configured, lines_lab
from tests.fakes.lines import KEY
from tests.limits import HANG_S
from workers.agent.service import serve as serve_agents

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "channels-example.md"


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


@pytest.mark.usefixtures("installed")
class TestLines(ChannelContract, missing=LinesLab.missing):
    @pytest.fixture
    async def lab(self, installed: Path, process: Process, tmp_path: Path) -> AsyncIterator[LinesLab]:
        async with lines_lab(process, tmp_path) as lab:
            sys.modules["millpond_lines.adapter"].AWAY_PAUSE_S = 0.02
            yield lab


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


def test_its_configuration_is_the_one_that_the_page_shows() -> None:
    assert CHANNEL.lstrip() == blocks()["millpond.toml"]


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
