"""``sentinel://``, the address of a Redis service monitored by sentinels. Pure."""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from daemon.config.secret import Secret

SCHEME = "sentinel"
FORM = "sentinel://[[user]:password@]host:port,host:port/service[?db=1&sentinel_password=…]"
DEFAULT_PORT = 26_379
"""Of a sentinel (https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/)."""

_HOST = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?\Z")
_OPTIONS = {"db", "sentinel_user", "sentinel_password"}
_PORT_MAX = 65_535


@dataclass(frozen=True, kw_only=True)
class SentinelAddress:
    """The addresses of the sentinels, and the options of their service."""

    sentinels: tuple[tuple[str, int], ...]
    """Host and port of each, one at least."""
    service: str
    """Name of the master in the sentinels' configuration."""
    user: str
    password: Secret
    """Of the servers."""
    sentinel_user: str
    sentinel_password: Secret
    """Of the sentinels, which have none of their own unless it is set there."""
    database: int


def is_sentinel(text: str) -> bool:
    """Whether an address is that of sentinels."""
    return text.startswith(f"{SCHEME}://")


def sentinel_address(text: str) -> SentinelAddress:
    """The parsed address, which has the form ``FORM``.

    Raises:
        ValueError: it has another form; the text says nothing of what it holds.
    """
    try:
        return _read(urlsplit(text))
    except ValueError:
        raise ValueError(FORM) from None


def _read(parts: SplitResult) -> SentinelAddress:
    login, _, hosts = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    options = parse_qs(parts.query, strict_parsing=bool(parts.query), keep_blank_values=True)
    service, database = unquote(parts.path.removeprefix("/")), options.get("db", ["0"])[-1]
    if parts.scheme != SCHEME or not service or "/" in service or not database.isdecimal() or options.keys() - _OPTIONS:
        raise ValueError(FORM)
    return SentinelAddress(
        sentinels=tuple(map(_host_and_port, hosts.split(","))),
        service=service,
        user=unquote(user),
        password=Secret(unquote(password)),
        sentinel_user=options.get("sentinel_user", [""])[-1],
        sentinel_password=Secret(options.get("sentinel_password", [""])[-1]),
        database=int(database),
    )


def _host_and_port(text: str) -> tuple[str, int]:
    found = _HOST.match(text)
    port = int(found["port"] or DEFAULT_PORT) if found else 0
    if found is None or not 0 < port <= _PORT_MAX:
        raise ValueError(FORM)
    return found["host"].strip("[]"), port
