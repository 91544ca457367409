"""The embedded server, with real processes throughout."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from daemon.cli.redis_cli import run, shown, target_of
from daemon.config.secret import Secret
from daemon.errors import BusUnavailable, ConfigError, EngineRefused, ServerNotReady
from daemon.server import Address, EmbeddedServer, redis_program
from daemon.server.blocking_client import BlockingClient, Refusal, Status
from daemon.server.launch import Launcher
from daemon.server.redis_program import find_program
from daemon.server.server_files import ServerFiles, read_state, try_lock
from tests.limits import HANG_S
from tests.places import TEMPORARY

IDLE_S = 0.6
ROOT = Path(__file__).resolve().parents[2]
ENSURE = """
import signal, sys, anyio
# Whoever runs the tests in the background ignores interrupts, and so would this process.
signal.signal(signal.SIGINT, signal.default_int_handler)
from pathlib import Path
from daemon.server import EmbeddedServer
address = anyio.run(EmbeddedServer(Path(sys.argv[1]), idle_s=float(sys.argv[2])).ensure)
print(address.pid, file=sys.stderr, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def data_dir(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data directory with a runtime directory of its own; its server is gone after the test."""
    folder = Path(tempfile.mkdtemp(prefix="mp-", dir=TEMPORARY))
    (folder / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder / "run"))
    data = folder / "data dir"
    yield data
    layout = ServerFiles(data)
    if (state := read_state(layout)) is not None and Path(state.socket).exists():
        with contextlib.suppress(OSError), _link(Path(state.socket), state.password) as link:
            link.call("SHUTDOWN")
    until(lambda: layout.folder.is_dir() is False or _free(layout.alive_lock))
    # Mounts of the full-disk test are already gone here.
    shutil.rmtree(folder)


def server(data_dir: Path, idle_s: float = 60.0, binary: str = "") -> EmbeddedServer:
    return EmbeddedServer(data_dir, binary=binary, idle_s=idle_s)


def _link(socket: Path, password: str) -> BlockingClient:
    link = BlockingClient.unix(socket, timeout_s=HANG_S)
    assert link.call("AUTH", password) == b"OK"
    return link


def connect(address: Address) -> BlockingClient:
    return _link(address.socket, address.password.reveal())


def until(condition: Callable[[], bool]) -> None:
    """Processes send no events: look often."""
    deadline = time.monotonic() + HANG_S
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.01)


async def eventually(condition: Callable[[], bool]) -> None:
    await anyio.to_thread.run_sync(until, condition)


def _free(lock: Path) -> bool:
    descriptor = try_lock(lock)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is not None


def _words(pid: int | str) -> list[str]:
    with contextlib.suppress(OSError):
        return Path("/proc", str(pid), "cmdline").read_bytes().decode().split("\0")
    return []


def _environment(pid: int) -> list[str]:
    return Path("/proc", str(pid), "environ").read_bytes().decode().split("\0")


def _keepers(data_dir: Path) -> list[int]:
    pids = [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [int(pid) for pid in pids if str(data_dir) in (found := _words(pid)) and "idle_watchdog" in " ".join(found)]


def _child(data_dir: Path, idle_s: float = 60.0) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", ENSURE, str(data_dir), str(idle_s)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, start_new_session=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def _first_line(child: subprocess.Popen[bytes]) -> bytes:
    assert child.stderr is not None
    return child.stderr.readline()


def _end(child: subprocess.Popen[bytes]) -> None:
    with child:
        child.kill()


async def test_ensure_starts_a_server_that_is_reached_by_socket_and_port_with_its_password_only(data_dir: Path) -> None:
    address = await server(data_dir).ensure()

    with BlockingClient.unix(address.socket, timeout_s=HANG_S) as stranger, connect(address) as friend:
        assert str(stranger.call("PING")).startswith("NOAUTH")
        assert friend.call("CONFIG", "GET", "appendfsync") == [b"appendfsync", b"always"]
    with BlockingClient.tcp("127.0.0.1", address.port, timeout_s=HANG_S) as friend:
        assert friend.call("AUTH", address.password.reveal()) == b"OK"
    # No outgoing connection can hold the port while it is down: Linux gives them none below, macOS begins higher.
    assert address.port < 32_768


async def test_what_it_writes_is_readable_by_its_owner_only_and_no_argument_holds_the_password(data_dir: Path) -> None:
    address = await server(data_dir).ensure()

    layout = ServerFiles(data_dir)
    assert layout.folder.stat().st_mode & 0o077 == 0
    assert address.socket.parent.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in layout.folder.iterdir())
    secret = address.password.reveal()
    for pid in (address.pid, *_keepers(data_dir)):
        assert secret not in _words(pid)
        assert secret not in repr(read_state(layout))


async def test_the_server_gets_only_the_environment_it_needs(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234")

    address = await server(data_dir).ensure()

    environment = _environment(address.pid)
    assert not [setting for setting in environment if "1234" in setting]
    # glibc cuts the setting where it is written.
    first, second = redis_program.TCACHE.split(":")
    tuned = environment.index(f"GLIBC_TUNABLES={first}")
    assert environment[tuned + 1] == second


@pytest.mark.skipif(sys.platform != "linux", reason="the library is put before programs on Linux alone")
async def test_the_servers_memory_comes_from_the_library_that_came_with_it(data_dir: Path) -> None:
    address = await server(data_dir).ensure()

    assert "libmimalloc" in await anyio.Path(f"/proc/{address.pid}/maps").read_text()
    # Huge pages would more than double the memory of an empty server.
    assert re.search(r"AnonHugePages: +0 kB", await anyio.Path(f"/proc/{address.pid}/smaps_rollup").read_text())


async def test_a_program_that_did_not_come_with_it_keeps_its_own_memory(data_dir: Path, tmp_path: Path) -> None:
    program = tmp_path / "valkey-server"
    program.symlink_to(find_program("").path)

    address = await server(data_dir, binary=str(program)).ensure()

    assert not [setting for setting in _environment(address.pid) if setting.startswith("LD_PRELOAD")]


async def test_a_running_server_is_found_without_a_start(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await server(data_dir).ensure()
    monkeypatch.delattr(Launcher, "lead")

    assert await server(data_dir).ensure() == first


async def test_many_callers_and_processes_at_once_start_one_server(data_dir: Path) -> None:
    ours = server(data_dir)
    pids: list[int] = []

    async def call() -> None:
        pids.append((await ours.ensure()).pid)

    children = [_child(data_dir) for _ in range(2)]
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(call)
    pids += [int(await anyio.to_thread.run_sync(_first_line, child)) for child in children]

    assert len(set(pids)) == 1
    await eventually(lambda: len(_keepers(data_dir)) == 1)
    for child in children:
        _end(child)


async def test_the_server_outlives_the_interrupt_of_the_terminal_that_started_it(data_dir: Path) -> None:
    child = _child(data_dir)
    pid = int(await anyio.to_thread.run_sync(_first_line, child))

    os.killpg(child.pid, signal.SIGINT)
    with child:
        await anyio.to_thread.run_sync(child.wait, HANG_S)

    assert (await server(data_dir).ensure()).pid == pid


async def test_the_keeper_stops_the_server_after_its_last_client_and_the_data_stays(data_dir: Path) -> None:
    ours = server(data_dir, idle_s=IDLE_S)
    first = await ours.ensure()
    with connect(first) as link:
        link.call("SET", "kept", "yes")
        # A client that says nothing for longer than the idle time holds the server.
        await anyio.sleep(IDLE_S * 2)
        assert link.call("PING") == b"PONG"

    await eventually(lambda: _free(ServerFiles(data_dir).alive_lock))
    await eventually(lambda: not _keepers(data_dir))
    second = await ours.ensure()

    assert (second.socket, second.port, second.password) == (first.socket, first.port, first.password)
    with connect(second) as link:
        assert link.call("GET", "kept") == b"yes"
    await eventually(lambda: len(_keepers(data_dir)) == 1)


async def test_a_caller_that_has_not_connected_yet_is_waited_for(data_dir: Path) -> None:
    ours = server(data_dir, idle_s=IDLE_S)
    pid = (await ours.ensure()).pid

    for _ in range(8):
        began = time.monotonic()
        await anyio.sleep(IDLE_S / 3)
        again = (await ours.ensure()).pid
        assert again == pid or time.monotonic() - began > IDLE_S, "on a busy machine it may have had no caller"
        pid = again


async def test_every_acknowledged_write_survives_the_kill_of_server_and_keeper(data_dir: Path) -> None:
    ours = server(data_dir)
    address = await ours.ensure()
    acknowledged: list[int] = []

    def write() -> None:
        with contextlib.suppress(OSError), connect(address) as link:
            for number in range(1_000_000):
                assert link.call("SET", f"key:{number}", "x" * 100) == b"OK"
                acknowledged.append(number)

    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, write)
        await eventually(lambda: len(acknowledged) > 200)
        for pid in (address.pid, *_keepers(data_dir)):
            os.kill(pid, signal.SIGKILL)
    again = await ours.ensure()

    assert again.pid != address.pid
    assert (again.socket, again.port, again.password) == (address.socket, address.port, address.password)
    with connect(again) as link:
        assert link.call("EXISTS", *[f"key:{number}" for number in acknowledged]) == len(acknowledged)
    await eventually(lambda: len(_keepers(data_dir)) == 1)


async def test_a_killed_keeper_is_replaced_by_the_next_call(data_dir: Path) -> None:
    ours = server(data_dir)
    await ours.ensure()
    await eventually(lambda: len(_keepers(data_dir)) == 1)
    (killed,) = _keepers(data_dir)

    os.kill(killed, signal.SIGKILL)
    await eventually(lambda: _free(ServerFiles(data_dir).keeper_lock))
    await ours.ensure()

    await eventually(lambda: len(_keepers(data_dir)) == 1)
    assert _keepers(data_dir) != [killed]


async def test_files_that_name_another_process_are_not_believed(data_dir: Path) -> None:
    layout = ServerFiles(data_dir)
    layout.create()
    stale = {"socket": str(data_dir / "gone.sock"), "port": 1, "password": "old", "pid": os.getpid()}
    layout.state.write_text(json.dumps(stale))
    (layout.folder / "server.pid").write_text(str(os.getpid()))

    address = await server(data_dir).ensure()

    assert address.pid != os.getpid()
    assert json.loads(layout.state.read_text())["pid"] == address.pid


async def test_a_torn_server_json_is_replaced(data_dir: Path) -> None:
    layout = ServerFiles(data_dir)
    layout.create()
    layout.state.write_text('{"socket": "/tmp')

    address = await server(data_dir).ensure()

    with connect(address) as link:
        assert link.call("PING") == b"PONG"


async def test_a_server_whose_socket_was_removed_is_started_anew_with_its_data(data_dir: Path) -> None:
    ours = server(data_dir)
    first = await ours.ensure()
    with connect(first) as link:
        link.call("SET", "kept", "yes")
    shutil.rmtree(first.socket.parent)

    second = await ours.ensure()

    with connect(second) as link:
        assert link.call("GET", "kept") == b"yes"


async def test_a_server_with_another_password_is_left_alone_and_named(data_dir: Path) -> None:
    ours = server(data_dir)
    address = await ours.ensure()
    with connect(address) as link:
        link.call("CONFIG", "SET", "requirepass", "other")

        with pytest.raises(ServerNotReady, match="rejects the password"):
            await ours.ensure()

        link.call("CONFIG", "SET", "requirepass", address.password.reveal())
    assert (await ours.ensure()).pid == address.pid


async def test_a_data_directory_that_is_removed_takes_its_server_along(data_dir: Path) -> None:
    address = await server(data_dir, idle_s=IDLE_S).ensure()
    with connect(address) as link:  # the keeper has to have seen the server once
        await eventually(lambda: len(link.call("CLIENT", "LIST").splitlines()) > 1)  # type: ignore[union-attr]

    shutil.rmtree(data_dir)

    await eventually(lambda: not Path(f"/proc/{address.pid}").exists() or _is_zombie(address.pid))


def _is_zombie(pid: int) -> bool:
    # In a container without an init nobody reaps it.
    with contextlib.suppress(OSError):
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    return True


async def test_data_of_a_newer_engine_is_refused_and_nothing_is_started(data_dir: Path) -> None:
    layout = ServerFiles(data_dir)
    layout.create()
    layout.engine.write_text('{"engine":"valkey","version":"99.0.0"}')

    with pytest.raises(EngineRefused, match=r"Valkey 99\.0\.0"):
        await server(data_dir).ensure()

    assert _free(layout.alive_lock)
    assert not (layout.folder / "appendonlydir").exists()


async def test_an_unusable_data_directory_or_program_is_a_configuration_error(data_dir: Path) -> None:
    await anyio.Path(data_dir).write_text("a file")
    with pytest.raises(ConfigError, match=r"data_dir .* cannot be used"):
        await server(data_dir).ensure()
    await anyio.Path(data_dir).unlink()
    with pytest.raises(ConfigError, match="was not found"):
        await server(data_dir, binary="/nowhere/redis-server").ensure()


async def test_a_server_that_dies_at_its_start_is_reported_with_its_words_and_not_started_for_every_call(
    data_dir: Path, tmp_path: Path
) -> None:
    program = tmp_path / "broken-server"
    program.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "Valkey server v=9.1.2 sha=0"; exit; fi\n'
        "echo 'Bad file format reading the append only file'; exit 1\n"
    )
    program.chmod(0o755)
    ours = server(data_dir, binary=str(program))

    for _ in range(5):
        with pytest.raises(ServerNotReady, match="Bad file format reading the append only file"):
            await ours.ensure()

    assert ServerFiles(data_dir).log.read_text().count("Bad file format") == 1


async def test_a_start_that_takes_long_ends_when_its_caller_is_cancelled(data_dir: Path) -> None:
    layout = ServerFiles(data_dir)
    layout.create()
    lock = try_lock(layout.start_lock)
    assert lock is not None

    with anyio.move_on_after(0.1) as limit:
        await server(data_dir).ensure()

    assert limit.cancelled_caught
    os.close(lock)


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mount needs root with CAP_SYS_ADMIN: no disk can be made full here")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def test_a_full_disk_loses_nothing_acknowledged_and_the_server_is_back_when_there_is_room(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(data_dir, "20m"):
        ours = server(data_dir)
        address = await ours.ensure()
        acknowledged = await anyio.to_thread.run_sync(_fill, address)
        await eventually(lambda: _free(ServerFiles(data_dir).alive_lock))

        with monkeypatch.context() as patch:
            patch.delattr(Launcher, "lead")  # it is not even tried
            with pytest.raises(ServerNotReady, match=r"disk that holds .* is full"):
                await ours.ensure()

        await anyio.run_process(["mount", "-o", "remount,size=60m", str(data_dir)])
        again = await ours.ensure()
        with connect(again) as link:
            assert acknowledged > 100
            assert link.call("EXISTS", *[f"key:{number}" for number in range(acknowledged)]) == acknowledged
            with contextlib.suppress(OSError):
                link.call("SHUTDOWN")
        await eventually(lambda: _free(ServerFiles(data_dir).alive_lock))


def _fill(address: Address) -> int:
    """Write until the server ends; the number of acknowledged keys."""
    with connect(address) as link:
        for number in range(10_000):
            try:
                reply = link.call("SET", f"key:{number}", "x" * 65_536)
            except OSError:
                return number
            assert reply == b"OK", reply
    raise AssertionError("the disk never got full")


async def test_the_built_in_redis_cli_runs_a_command(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setenv("PATH", "")
    address = await server(data_dir).ensure()
    capfdbinary.readouterr()  # the log's

    assert run(address, ["SET", "greeting", "grüß dich 你好"]) == 0
    assert run(address, ["GET", "greeting"]) == 0
    assert run(address, ["NONSENSE"]) == 1
    url = f"redis://:{address.password.reveal()}@127.0.0.1:{address.port}/3"
    assert run(url, ["GET", "greeting"]) == 0

    status, value, error, other_database = capfdbinary.readouterr().out.splitlines()
    assert (status, value, other_database) == (b"OK", "grüß dich 你好".encode(), b"")
    assert error.startswith(b"(error) ERR unknown command")


async def test_the_built_in_redis_cli_reads_commands_from_a_pipe(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "")
    (tmp_path / "lines").write_text("RPUSH list 'a b' c\n\nLRANGE list 0 -1\nbroken '\nquit\nPING\n")
    address = await server(data_dir).ensure()
    capfdbinary.readouterr()  # the log's

    with (tmp_path / "lines").open() as lines:
        monkeypatch.setattr("sys.stdin", lines)
        assert run(address, []) == 0

    assert capfdbinary.readouterr().out == b"2\na b\nc\nInvalid argument(s): No closing quotation\n"


def test_a_redis_cli_of_the_machine_gets_the_password_by_its_environment(tmp_path: Path) -> None:
    program = tmp_path / "redis-cli"
    program.write_text('#!/bin/sh\necho "$@" "[$REDISCLI_AUTH]"\n')
    program.chmod(0o755)
    script = "import sys; from daemon.cli.redis_cli import run; run(sys.argv[1], ['PING'])"

    answer = subprocess.run(
        [sys.executable, "-c", script, "rediss://me:pa%20ss@box:7000/2"],
        env=os.environ | {"PATH": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )

    assert answer.stdout == b"-h box -p 7000 --tls --user me -n 2 PING [pa ss]\n"


def test_replies_are_shown_as_redis_cli_shows_them() -> None:
    reply = [b"a", 1, None, [b"caf\xc3\xa9 \xff\n", [Status(b"OK")]], [], Refusal("ERR no")]

    assert shown(reply, readable=True).decode().splitlines() == [
        '1) "a"', "2) (integer) 1", "3) (nil)", '4) 1) "café \\xff\\n"', "   2) 1) OK", "5) (empty array)",
        "6) (error) ERR no",
    ]  # fmt: skip


def test_urls_name_their_target() -> None:
    assert target_of("unix:///run/redis.sock?db=2").socket == "/run/redis.sock"
    assert target_of("unix://:secret@/run/redis.sock?db=2").database == 2
    assert target_of("redis://[::1]:7000").host == "::1"
    assert target_of(Address(Path("/a"), 1, Secret("s"), 1)).password == "s"
    for url in ("http://box", "redis://box:port", "redis://box/name", "/path"):
        with pytest.raises(ConfigError, match="is not a valid address"):
            target_of(url)


def test_a_redis_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(BusUnavailable, match=r"Redis was not found at /nowhere\.sock"):
        run("unix:///nowhere.sock", ["PING"])
