"""Importing another program's data: files into the workspace, its memory into a memory."""

import getpass
from pathlib import Path

import msgspec
from anyio import to_thread

from daemon.archive import Archive
from daemon.bus import open_bus
from daemon.clock import SystemClock, stamp
from daemon.config import Config, bot_workspace, data_path
from daemon.errors import ConfigError
from daemon.events import Inbound
from daemon.memory import ImportResult, Memories, MemoryFiles
from daemon.scope import scope_of
from daemon.sessionkey import SessionKey
from daemon.setup.foreign_data import ForeignData
from daemon.setup.setup_files import put_new

PATIENCE_S = 10.0
"""How long is waited for a Redis that is not there."""


class CopyResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result for the files."""

    taken: tuple[str, ...]
    there: tuple[str, ...]
    """Not imported, because a different file of that name exists."""


def copy_files(found: ForeignData, workspace: Path) -> CopyResult:
    """Put bootstrap files and skills into a workspace. It blocks.

    Raises:
        OutputError: one cannot be written.
    """
    taken: list[str] = []
    there: list[str] = []
    skills = {f"skills/{path}": content for path, content in found.skills.items()}
    for name, content in {**found.bootstrap, **skills}.items():
        if put_new(workspace / name, content):
            taken.append(name)
        elif not _holds(workspace / name, content):
            there.append(name)
    return CopyResult(taken=tuple(taken), there=tuple(there))


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False


def scope_in(config: Config, bot: str, identity: str) -> str:
    """The scope of a person's direct chat with a bot; ``identity`` is ``<channel>:<sender>``.

    Raises:
        ConfigError: there is no such channel, or it is no identity.
        BadSessionKey: it is none.
    """
    key = SessionKey.parse(identity)
    if key.channel not in config.channels or key.thread:
        raise ConfigError(
            f"--memory-of {identity}: write <channel>:<sender>, such as telegram:12345. The channels "
            f"are {', '.join(config.channels)}."
        )
    inbound = Inbound(
        id="init",
        bot=bot,
        channel=key.channel,
        chat=key.chat,
        sender_id=key.chat,
        text="",
        received_at="",
        correlation="",
    )
    return scope_of(inbound, config.bots[bot])


async def remember(config: Config, bot: str, scope: str, found: ForeignData) -> ImportResult:
    """Import the found memory into the memory of ``scope``, once. Starts the embedded server if necessary.

    Raises:
        MillpondError: Redis cannot be used, or the memory is busy; the text says what to do.
    """
    async with open_bus(config.redis, data_path(config), patience_s=PATIENCE_S) as bus:
        memories = Memories(bus, Archive(bus, data_path(config), config=config.archive))
        done = await memories.take_over(
            scope,
            found.remembered,
            by=await to_thread.run_sync(_user),
            time=stamp(SystemClock().now()),
            reason=f"imported from {found.program}, {found.workspace}",
        )
        files = MemoryFiles(memories, workspace_of=lambda name: bot_workspace(config, name))
        await files.sync(await memories.home(scope), at_once=True)
        return done


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, as in containers
        return "somebody"
