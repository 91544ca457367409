"""Damaged files of the embedded server: no server starts without the data, and no process waits for ever."""

import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from daemon.errors import BusError, EngineRefused, ServerNotReady
from daemon.server.redis_program import FOLDER, MANIFEST
from daemon.server.server_files import ServerFiles, ServerState, write_state
from tests.integration.test_server import IDLE_S, _free, _is_zombie, _keepers, connect, data_dir, eventually, server
from tests.limits import HANG_S
from tests.ports import free_port

__all__ = ["data_dir"]

Damage = Callable[[Path], None]


def shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/nowhere")


LISTS = f"{FOLDER}/{MANIFEST}"
COMMANDS = f"{FOLDER}/appendonly.aof.1.incr.aof"
A_PIPE = "the path is a pipe"
ROWS: list[tuple[str, Damage, type[BusError] | None, str]] = [
    # file, damage, the refusal, a part of its sentence; without a refusal, all data is there
    (LISTS, Path.unlink, EngineRefused, "does not list appendonly.aof.1.incr.aof"),
    (LISTS, shortened, EngineRefused, "does not list appendonly.aof.1.incr.aof"),
    (LISTS, lambda path: path.write_bytes(b"") and None, EngineRefused, "does not list"),
    (LISTS, pipe, ServerNotReady, A_PIPE),
    (LISTS, folder, ServerNotReady, "the path is a folder"),
    (LISTS, link, ServerNotReady, "the path is a link"),
    (COMMANDS, Path.unlink, ServerNotReady, "appendonly.aof.1.incr.aof"),
    (COMMANDS, folder, ServerNotReady, "appendonly.aof.1.incr.aof"),
    ("engine.json", Path.unlink, None, ""),
    ("engine.json", shortened, EngineRefused, "engine.json cannot be read"),
    ("engine.json", pipe, ServerNotReady, A_PIPE),
    ("engine.json", folder, ServerNotReady, "the path is a folder"),
    ("server.json", Path.unlink, None, ""),
    ("server.json", shortened, None, ""),
    ("server.json", pipe, ServerNotReady, A_PIPE),
    ("server.conf", pipe, None, ""),
    ("wanted", pipe, None, ""),
    ("server.log", Path.unlink, None, ""),
]


async def stopped(address_pid: int, layout: ServerFiles) -> None:
    os.kill(address_pid, signal.SIGKILL)
    for keeper in _keepers(layout.data_dir):
        os.kill(keeper, signal.SIGKILL)
    await eventually(lambda: _free(layout.alive_lock) and not _keepers(layout.data_dir))


async def test_no_server_starts_without_the_data_of_a_damaged_folder(data_dir: Path, tmp_path: Path) -> None:
    layout = ServerFiles(data_dir)
    first = await server(data_dir).ensure()
    with connect(first) as client:
        client.call("SET", "kept", "yes")
    await stopped(first.pid, layout)
    whole = tmp_path / "whole"
    shutil.copytree(layout.folder, whole)

    for name, damage, refusal, sentence in ROWS:
        shutil.rmtree(layout.folder)
        shutil.copytree(whole, layout.folder)
        damage(layout.folder / name)
        with anyio.fail_after(HANG_S):
            if refusal is None:
                found = await server(data_dir).ensure()
                with connect(found) as client:
                    assert client.call("GET", "kept") == b"yes", name
                await stopped(found.pid, layout)
            else:
                with pytest.raises(refusal, match=sentence):
                    await server(data_dir).ensure()
                assert _free(layout.alive_lock), name


async def test_data_whose_end_was_cut_off_is_told(data_dir: Path) -> None:
    first = await server(data_dir).ensure()
    with connect(first) as client:
        for name in ("kept", "cut"):
            client.call("SET", name, "yes")
    await stopped(first.pid, ServerFiles(data_dir))
    path = ServerFiles(data_dir).folder / COMMANDS

    os.truncate(path, path.stat().st_size - 1)
    with capture_logs() as logged:
        again = await server(data_dir).ensure()

    (told,) = [each["reason"] for each in logged if each["event"] == "server.cut_off"]
    assert "compare the data with a backup" in told
    with connect(again) as client:
        assert (client.call("GET", "kept"), client.call("GET", "cut")) == (b"yes", None)


async def test_the_keeper_of_a_folder_that_was_replaced_leaves_the_new_server_alone(data_dir: Path) -> None:
    old = await server(data_dir).ensure()
    (keeper,) = _keepers(data_dir)
    os.kill(old.pid, signal.SIGKILL)
    await eventually(lambda: _free(ServerFiles(data_dir).alive_lock))
    shutil.rmtree(data_dir)

    # Before the keeper has noticed: it looks once a second.
    new = await server(data_dir, idle_s=IDLE_S).ensure()

    with connect(new) as client:
        await eventually(lambda: keeper not in _keepers(data_dir))
        assert client.call("PING") == b"PONG"
    await eventually(lambda: not _keepers(data_dir))


async def test_the_keeper_of_a_folder_that_was_replaced_stops_its_own_server_though_its_connection_was_lost(
    data_dir: Path,
) -> None:
    address = await server(data_dir, idle_s=IDLE_S).ensure()
    with connect(address) as client:
        await eventually(lambda: len(client.call("CLIENT", "LIST").splitlines()) > 1)  # type: ignore[union-attr]
        shutil.rmtree(data_dir)
        new = ServerFiles(data_dir)
        new.create()
        new.keeper_lock.touch()
        write_state(new, ServerState(socket=str(data_dir / "redis.sock"), port=free_port(), password="", pid=0))
        client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    await eventually(lambda: not Path(f"/proc/{address.pid}").exists() or _is_zombie(address.pid))


@pytest.mark.parametrize("is_killed", [False, True])
async def test_the_folder_of_the_socket_is_removed_though_the_keeper_never_reached_the_server(
    data_dir: Path, is_killed: bool
) -> None:
    """All is gone before the keeper looks for the first time."""
    address = await server(data_dir).ensure()
    with connect(address) as client, suppress(OSError):
        if is_killed:
            os.kill(address.pid, signal.SIGKILL)
        client.call("SHUTDOWN")
    await eventually(lambda: _free(ServerFiles(data_dir).alive_lock))

    shutil.rmtree(data_dir)

    await eventually(lambda: not _keepers(data_dir))
    assert not address.socket.parent.exists()
