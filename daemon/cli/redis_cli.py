"""``millpond redis-cli``: the machine's own redis-cli if it has one, otherwise a small one with the same output.

A password never stands on a command line, where every user of the machine could read it.
"""

import contextlib
import importlib
import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from daemon.config.address import SentinelAddress, is_sentinel, sentinel_address
from daemon.errors import BusUnavailable, ConfigError
from daemon.server import Address
from daemon.server.blocking_client import BlockingClient, Refusal, Reply, Status

PROGRAMS = ("redis-cli", "valkey-cli")
DEFAULT_PORT = 6379
CONNECT_TIMEOUT_S = 5.0
ENDLESS = frozenset({"monitor", "subscribe", "psubscribe", "ssubscribe"})
"""Commands after which replies keep coming."""
SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\a": "\\a", "\b": "\\b"}


@dataclass(frozen=True)
class Target:
    """The server's address and the login."""

    socket: str = ""
    """Path of a unix socket; if empty, host and port are used."""
    host: str = "localhost"
    port: int = DEFAULT_PORT
    tls: bool = False
    user: str = ""
    password: str = ""
    database: int = 0

    def __repr__(self) -> str:
        return f"Target({self.socket or f'{self.host}:{self.port}'})"


def run(address_or_url: Address | str, args: list[str]) -> int:
    """Run one command, or a prompt without ``args``; returns the exit code. Does not return if redis-cli is installed.

    Raises:
        ConfigError: the URL cannot be read.
        BusUnavailable: nothing answers there.
    """
    target = target_of(address_or_url)
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is not None:
        _become(program, target, args)
    try:
        return _once(target, args) if args else _prompt(target, sys.stdin)
    except KeyboardInterrupt:
        return 130


def target_of(address_or_url: Address | str) -> Target:
    """The target of an address, or of a URL as ``redis.url`` has it.

    Raises:
        ConfigError: it means nothing; the URL is not quoted, it may hold a password.
        BusUnavailable: no sentinel knows a master.
    """
    if isinstance(address_or_url, Address):
        return Target(socket=str(address_or_url.socket), password=address_or_url.password.reveal())
    try:
        if is_sentinel(address_or_url):
            return _master(sentinel_address(address_or_url))
        return _parsed(urlsplit(address_or_url))
    except ValueError:
        raise ConfigError(
            "redis.url is not a valid address. Write redis://host:6379/0, rediss://host:6379/0 or unix:///path."
        ) from None


def _parsed(url: SplitResult) -> Target:
    if url.scheme not in ("redis", "rediss", "unix"):
        raise ValueError(url.scheme)
    unix = url.scheme == "unix"
    database = parse_qs(url.query).get("db", ["" if unix else url.path.strip("/")])[-1]
    return Target(
        socket=unquote(url.path) if unix else "",
        host=url.hostname or "localhost",
        port=url.port or DEFAULT_PORT,
        tls=url.scheme == "rediss",
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        database=int(database or 0),
    )


def _master(address: SentinelAddress) -> Target:
    user, password, tls = address.sentinel_user, address.sentinel_password.reveal(), address.tls is not None
    for host, port in address.sentinels:
        with (
            contextlib.suppress(BusUnavailable),
            _connect(Target(host=host, port=port, tls=tls, user=user, password=password)) as link,
        ):
            found = link.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", address.service)
            if isinstance(found, list) and len(found) == 2:
                return Target(
                    host=_text(found[0]),
                    port=int(_text(found[1])),
                    tls=tls,
                    user=address.user,
                    password=address.password.reveal(),
                    database=address.database,
                )
    raise BusUnavailable(
        f"no sentinel in redis.url knows a Redis master named {address.service}. Start the sentinels, or "
        "correct the name."
    )


def _text(word: object) -> str:
    return word.decode() if isinstance(word, bytes) else str(word)


def _become(program: str, target: Target, args: list[str]) -> None:
    where = ["-s", target.socket] if target.socket else ["-h", target.host, "-p", str(target.port)]
    where += ["--tls"] * target.tls + (["--user", target.user] if target.user else [])
    where += ["-n", str(target.database)] if target.database else []
    environment = os.environ | ({"REDISCLI_AUTH": target.password} if target.password else {})
    sys.stdout.flush()
    os.execve(program, [program, *where, *args], environment)  # noqa: S606 - becoming redis-cli is the point


def _once(target: Target, args: list[str]) -> int:
    with _connect(target) as link:
        return _execute(link, args)


def _prompt(target: Target, lines: TextIO) -> int:
    """Run the commands that are typed, or piped in, one a line; 1 when the last one was refused."""
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # gives input() its history and editing, where Python was built with it
    code = 0
    with _connect(target) as link:
        while (line := _next_line(lines)) is not None:
            try:
                words = shlex.split(line)
            except ValueError as error:
                _print(f"Invalid argument(s): {error}\n".encode())
                continue
            if words and words[0].lower() in ("exit", "quit"):
                break
            code = _execute(link, words) if words else code
    return code


def _next_line(lines: TextIO) -> str | None:
    if not lines.isatty():
        return lines.readline() or None
    try:
        return input("redis> ")
    except EOFError:
        _print(b"\n")
        return None


def _execute(link: BlockingClient, words: list[str]) -> int:
    """Send one command and print the reply; 1 if the server refused it."""
    try:
        reply = link.call(*words)
        _print(shown(reply, readable=sys.stdout.isatty()))
        while words[0].lower() in ENDLESS and not isinstance(reply, Refusal):
            _print(shown(link.receive(), readable=sys.stdout.isatty()))
    except OSError as error:
        if words[0].lower() == "shutdown":
            return 0
        raise BusUnavailable(f"the connection to Redis was lost: {error}. Run the command again.") from error
    return int(isinstance(reply, Refusal))


def _connect(target: Target) -> BlockingClient:
    try:
        link = _open(target)
        try:
            _introduce(link, target)
        except BaseException:
            link.close()
            raise
    except OSError as error:
        where = target.socket or f"{target.host}:{target.port}"
        raise BusUnavailable(
            f"Redis was not found at {where} ({error}). Check that the Redis server is running."
        ) from error
    return link


def _introduce(link: BlockingClient, target: Target) -> None:
    greetings = [("AUTH", *filter(None, (target.user, target.password)))] if target.password else []
    greetings += [("SELECT", str(target.database))] if target.database else []
    for greeting in greetings:
        reply = link.call(*greeting)
        if isinstance(reply, Refusal):
            raise BusUnavailable(f"Redis rejected {greeting[0]}: {reply}")


def _open(target: Target) -> BlockingClient:
    if target.socket:
        return BlockingClient.unix(Path(target.socket), timeout_s=CONNECT_TIMEOUT_S).patient()
    return BlockingClient.tcp(target.host, target.port, timeout_s=CONNECT_TIMEOUT_S, tls=target.tls).patient()


def shown(reply: Reply, *, readable: bool) -> bytes:
    """``reply`` as redis-cli prints it: for people (quoted, numbered), or raw for pipes; ends with a line feed."""
    lines = _pretty(reply) if readable else _raw(reply)
    return b"".join(line + b"\n" for line in lines)


def _pretty(reply: Reply) -> list[bytes]:
    if isinstance(reply, list):
        return _numbered(reply) if reply else [b"(empty array)"]
    if reply is None:
        return [b"(nil)"]
    if isinstance(reply, int):
        return [b"(integer) %d" % reply]
    if isinstance(reply, Refusal):
        return [f"(error) {reply}".encode()]
    return [bytes(reply)] if isinstance(reply, Status) else [_quoted(reply)]


def _numbered(items: list[Reply]) -> list[bytes]:
    """The items under each other; a nested array begins beside its number and goes on below itself."""
    width = len(str(len(items)))
    lines: list[bytes] = []
    for number, item in enumerate(items, start=1):
        first, *rest = _pretty(item)
        lines.append(b"%*d) %b" % (width, number, first))
        lines += [b" " * (width + 2) + line for line in rest]
    return lines


def _raw(reply: Reply) -> list[bytes]:
    if isinstance(reply, list):
        return [line for item in reply for line in _raw(item)] or [b""]
    if reply is None:
        return [b""]
    if isinstance(reply, int):
        return [b"%d" % reply]
    return [f"(error) {reply}".encode() if isinstance(reply, Refusal) else bytes(reply)]


def _quoted(value: bytes) -> bytes:
    """``value`` in quotes; printable characters stay, also beyond ASCII, and all others are escaped."""
    text = value.decode("utf-8", "surrogateescape")
    return f'"{"".join(_escaped(char) for char in text)}"'.encode()


def _escaped(char: str) -> str:
    if char in SHORT:
        return SHORT[char]
    if char.isprintable():
        return char
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape"))


def _print(output: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()
