"""``sentinel://`` or, with TLS, ``sentinels://``, the address of a Redis service that sentinels watch. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from daemon.config.secret import Secret

SCHEME, TLS_SCHEME = "sentinel", "sentinels"
FORM = "sentinel://[[user]:password@]host:port,host:port/service[?db=1&sentinel_password=…]"
DEFAULT_PORT = 26_379
"""Of a sentinel (https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/)."""

_HOST = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?\Z")
_OPTIONS = {"db", "sentinel_user", "sentinel_password"}
_TLS_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_TLS_OPTIONS = {*_TLS_FILES, "ssl_check_hostname"}
"""Named as redis-py reads them from ``rediss://``."""
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
    tls: Mapping[str, str | bool] | None = None
    """Options of TLS to the sentinels and to the servers, as redis-py names them; None: no TLS."""


def is_sentinel(text: str) -> bool:
    """Whether an address names sentinels."""
    return text.startswith((f"{SCHEME}://", f"{TLS_SCHEME}://"))


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
    with_tls = parts.scheme == TLS_SCHEME
    known = _OPTIONS | _TLS_OPTIONS if with_tls else _OPTIONS
    if not service or "/" in service or not database.isdecimal() or options.keys() - known:
        raise ValueError(FORM)
    return SentinelAddress(
        sentinels=tuple(map(_host_and_port, hosts.split(","))),
        service=service,
        user=unquote(user),
        password=Secret(unquote(password)),
        sentinel_user=options.get("sentinel_user", [""])[-1],
        sentinel_password=Secret(options.get("sentinel_password", [""])[-1]),
        database=int(database),
        tls=_tls({name: values[-1] for name, values in options.items()}) if with_tls else None,
    )


def _tls(options: Mapping[str, str]) -> dict[str, str | bool]:
    checks = options.get("ssl_check_hostname", "true")
    if checks not in ("true", "false"):
        raise ValueError(FORM)
    files = {name: options[name] for name in _TLS_FILES if name in options}
    return {**files, "ssl_check_hostname": checks == "true"}


def _host_and_port(text: str) -> tuple[str, int]:
    found = _HOST.match(text)
    port = int(found["port"] or DEFAULT_PORT) if found else 0
    if found is None or not 0 < port <= _PORT_MAX:
        raise ValueError(FORM)
    return found["host"].strip("[]"), port
