"""Rules for addresses of platforms. Pure. Texts about an address never contain it, because it may hold a password."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import msgspec

from daemon.config.secret import Secret

SERVER = "expected http:// or https:// and a host, without a user name or password"
PUBLIC = "expected https://host/path, an address that the platform can reach, without a user name or password"

SLACK = "slack.com"
"""Below it lies all that Slack names in its answers; see its pages on ``url_private`` and Socket Mode."""
DISCORD = ("discord.com", "discord.gg", "discordapp.com", "discordapp.net", "discord.media")
"""Below them are Discord's API, its gateway and its files."""
FEISHU = ("feishu.cn", "larksuite.com")
"""Below them lie the servers of long connections."""
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:]+")
"""Of a name or an IP address; those that came as capital letters are small here."""


def is_server(text: str) -> bool:
    """Whether it is an address of a server that Millpond can call."""
    return _is(text, _names_server)


def is_public(text: str) -> bool:
    """Whether it is an address at which a platform can call Millpond."""
    return _is(text, _names_public)


def is_slacks(text: str, base_url: str) -> bool:
    """Whether an address in a response of Slack belongs to Slack.

    It is when it has the host and port of ``base_url``. It is as well when it lies at ``SLACK`` or the host of
    ``base_url``, or below them, and is spoken to under TLS, which holds a name to its owner whatever it resolves to.
    """
    return _is_platforms(text, base_url, (SLACK,))


def is_discords(text: str, base_url: str) -> bool:
    """As ``is_slacks``, for an address in a response of Discord."""
    return _is_platforms(text, base_url, DISCORD)


def is_feishus(text: str, base_url: str) -> bool:
    """As ``is_slacks``, for an address in a response of Feishu."""
    return _is_platforms(text, base_url, FEISHU)


def _is_platforms(text: str, base_url: str, own: tuple[str, ...]) -> bool:
    base = urlsplit(base_url)
    try:
        there, port = urlsplit(text), urlsplit(text).port
    except ValueError:
        return False
    host, home = there.hostname or "", base.hostname or ""
    # Whatever two libraries may read in two ways is nobody's address.
    if there.username is not None or not _HOST.fullmatch(host) or "\\" in there.netloc:
        return False
    is_secure, is_base_secure = there.scheme in ("https", "wss"), base.scheme == "https"
    if (host, port) == (home, base.port) and is_secure == is_base_secure:
        return True
    domains = (*own, home) if is_base_secure else own
    return is_secure and any(host == each or host.endswith(f".{each}") for each in domains)


def _is(text: str, fits: Callable[[SplitResult], bool]) -> bool:
    try:
        parts = urlsplit(text)
        return text.isascii() and text.isprintable() and " " not in text and parts.port != 0 and fits(parts)
    except ValueError:  # brackets without end, a port that is no number
        return False


def _names_server(parts: SplitResult) -> bool:
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None and not parts.query


def _names_public(parts: SplitResult) -> bool:
    return parts.scheme == "https" and _names_server(parts) and not parts.fragment


# ``sentinel://`` or, with TLS, ``sentinels://``, the address of a Redis service that sentinels watch. Pure.

SCHEME, TLS_SCHEME = "sentinel", "sentinels"
FORM = "sentinel://[[user]:password@]host:port,host:port/service[?db=1&sentinel_password=…]"
DEFAULT_PORT = 26_379
"""Of a sentinel (https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/)."""

_SENTINEL_HOST = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?\Z")
_OPTIONS = {"db", "sentinel_user", "sentinel_password"}
_TLS_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_TLS_OPTIONS = {*_TLS_FILES, "ssl_check_hostname"}
"""Named as redis-py reads them from ``rediss://``."""
_PORT_MAX = 65_535


class SentinelAddress(msgspec.Struct, frozen=True, kw_only=True):
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
    found = _SENTINEL_HOST.match(text)
    port = int(found["port"] or DEFAULT_PORT) if found else 0
    if found is None or not 0 < port <= _PORT_MAX:
        raise ValueError(FORM)
    return found["host"].strip("[]"), port
