"""Rules for addresses of platforms. Pure. Texts about an address never contain it, because it may hold a password."""

import re
from collections.abc import Callable
from urllib.parse import SplitResult, urlsplit

SERVER = "expected http:// or https:// and a host, without a user or password"
PUBLIC = "expected https://host/path, an address that the platform can reach, without a user or password"

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
