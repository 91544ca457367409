"""The workspaces that an app has in this process, and whose an event is.

Sections of the configuration with the same app token, or the same signing secret, are one app in several workspaces.
Slack gives an event to any one of the app's sockets, and brings all of them to the app's one address: so whoever
listens does it for all sections, and an event goes by the id of its workspace (``team``) to the section it belongs to.
"""

import re
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import anyio
import msgspec
import structlog

from channels.log_throttle import LogThrottle
from daemon import metrics
from daemon.config import Config, SlackConfig
from daemon.errors import BusUnavailable, brief
from daemon.process import Process

Kind = Literal["events_api", "slash_commands", "interactive", "other"]
"""What a payload is, in the words of Socket Mode's envelopes."""

_log = structlog.get_logger()


class Taker(Protocol):
    """A section's way into its intake."""

    async def take(self, payload: msgspec.Raw | bytes) -> None:
        """Deal with an event, as the Events API wraps it; once this returns, it need not be said again.

        Raises:
            BusUnavailable: it has to be said again.
        """
        ...

    async def take_command(self, payload: msgspec.Raw | bytes) -> None:
        """As ``take``, for the fields of a slash command, as JSON."""
        ...

    async def take_press(self, payload: msgspec.Raw | bytes) -> None:
        """As ``take``, for the payload of a pressed button."""
        ...


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Whose a payload is."""

    type: str
    """Of the payload itself: ``event_callback``, ``app_rate_limited``, …"""
    teams: tuple[str, ...]
    """The workspaces it may belong to, the likeliest first: in a shared channel the speaker's is another one than the
    one that the app hears it in."""
    chat: bytes
    """What it is about, as JSON, unique among all workspaces; empty: no chat."""
    order: float = 0.0
    """When it happened, in seconds of the epoch; 0: not told."""


class _Event(msgspec.Struct, frozen=True):
    channel: msgspec.Raw = msgspec.Raw(b"")
    event_ts: Any = None


class _Authorization(msgspec.Struct, frozen=True):
    team_id: Any = None


class _Identified(msgspec.Struct, frozen=True):
    id: msgspec.Raw = msgspec.Raw(b"")


class _Head(msgspec.Struct, frozen=True):
    """No more than is needed, and in any shape: what cannot be read here would be lost for whoever can read it."""

    type: Any = ""
    team_id: Any = None
    context_team_id: Any = None
    authorizations: msgspec.Raw = msgspec.Raw(b"[]")
    event: msgspec.Raw = msgspec.Raw(b"{}")
    channel_id: msgspec.Raw = msgspec.Raw(b"")
    team: msgspec.Raw = msgspec.Raw(b"{}")
    channel: msgspec.Raw = msgspec.Raw(b"{}")


_ts = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?").fullmatch
_read_identified = msgspec.json.Decoder(_Identified).decode
_read_head = msgspec.json.Decoder(_Head).decode
_read_authorizations = msgspec.json.Decoder(list[_Authorization]).decode
_read_event = msgspec.json.Decoder(_Event).decode


def address_of(payload: msgspec.Raw | bytes) -> Address:
    """Whose a payload is.

    Raises:
        ValueError: it is no JSON object, or no UTF-8.
        RecursionError: it is nested beyond reason.
    """
    head = _read_head(payload)
    teams = (*_authorized(head.authorizations), head.context_team_id, head.team_id, _text(_id_of(head.team)))
    known = dict.fromkeys(each for each in teams if isinstance(each, str) and each)
    event = _event_of(head.event)
    return Address(
        type=head.type if isinstance(head.type, str) else "",
        teams=tuple(known),
        chat=bytes(head.channel_id) or bytes(event.channel) or _id_of(head.channel),
        order=_seconds_of(event.event_ts),
    )


def _id_of(named: msgspec.Raw) -> bytes:
    """The id of a team or channel that comes as an object, as JSON; empty: none."""
    try:
        return bytes(_read_identified(named).id)
    except ValueError:
        return b""


def _text(found: bytes) -> str:
    try:
        return msgspec.json.decode(found, type=str)
    except ValueError:
        return ""


def _authorized(authorizations: msgspec.Raw) -> tuple[Any, ...]:
    try:
        return tuple(each.team_id for each in _read_authorizations(authorizations))
    except ValueError:
        return ()


def _seconds_of(ts: Any) -> float:
    return float(ts) if isinstance(ts, str) and _ts(ts) else 0.0


def _event_of(event: msgspec.Raw) -> _Event:
    try:
        return _read_event(event)
    except ValueError:
        return _Event()


@dataclass(eq=False)
class _Section:
    """One that hears."""

    team: str
    taker: Taker
    takes: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope])
    """What it is taking just now."""


class App:
    """One app in this process: its sections that hear, and who of them listens for all."""

    def __init__(self, sections: frozenset[str], *, channel: str) -> None:
        """``sections``: the names of all that are configured; ``channel``: one of them, for logs."""
        self._sections = sections
        self._channel = channel
        self._joined: dict[str, _Section] = {}
        self._turns: dict[str, anyio.Lock] = {}
        self._seldom = LogThrottle()

    @contextmanager
    def joined(self, name: str, team: str, taker: Taker) -> Generator[None]:
        """Have events of the workspace ``team`` go to the section ``name`` for the length of the block."""
        if any(team == other.team for other in self._joined.values()):
            _log.error(
                "workspace.twice",
                channel=name,
                reason=f"workspace {team} is already used by another Millpond channel with the same Slack app",
            )
        section = self._joined[name] = _Section(team, taker)
        try:
            yield
        finally:
            del self._joined[name]
            # What ``taker`` stands on ends with it: what is not kept by now has to be said again.
            for take in section.takes:
                take.cancel()

    def turn(self, at: str) -> anyio.Lock:
        """Held by whoever listens ``at`` an address; when that section ends, another one takes over."""
        return self._turns.setdefault(at, anyio.Lock())

    async def take(self, kind: Kind, payload: msgspec.Raw | bytes) -> bool:
        """Have the section take a payload that it belongs to: whether it need not be said again."""
        try:
            address = address_of(payload)
        except (ValueError, RecursionError) as error:
            metrics.UPDATES.labels(self._channel, "unreadable").inc()
            _log.warning("event.unreadable", channel=self._channel, reason=type(error).__name__)
            return True
        if address.type == "app_rate_limited":
            metrics.UPDATES.labels(self._channel, "limited").inc()
            _log.error(
                "event.limited",
                channel=self._channel,
                reason="Slack is dropping events because the app received more than 30,000 events within an hour",
            )
            return True
        if kind == "other":
            _log.debug("event.ignored", channel=self._channel, kind=address.type)
            return True
        section = self._section_of(address)
        if section is None:
            return self._unknown(address)
        with anyio.CancelScope() as take:
            section.takes.add(take)
            try:
                await _takes(section.taker, kind)(payload)
            except BusUnavailable as error:
                # What waits is tried again and again.
                if self._seldom.now("waits"):
                    _log.warning("event.waits", channel=self._channel, reason=brief(error))
            else:
                return True
            finally:
                section.takes.remove(take)
        return False

    def _section_of(self, address: Address) -> _Section | None:
        for team in address.teams:
            for section in self._joined.values():
                if section.team == team:
                    return section
        return None

    def _unknown(self, address: Address) -> bool:
        if self._sections - self._joined.keys():
            # It may be that of a section which does not know yet whose it is.
            return False
        metrics.UPDATES.labels(self._channel, "foreign").inc()
        team = ", ".join(address.teams) or "none"
        if self._seldom.now(team):
            reason = f"the configuration has no channel that uses this app in workspace {team}"
            _log.warning("event.foreign", channel=self._channel, reason=reason)
        return True


def _takes(taker: Taker, kind: Kind) -> Callable[[msgspec.Raw | bytes], Awaitable[None]]:
    if kind == "events_api":
        return taker.take
    return taker.take_press if kind == "interactive" else taker.take_command


def hears_by_http(config: SlackConfig) -> bool:
    """Whether events are brought, to this section's address or to that of another one of the app."""
    return bool(config.events.url) or not config.app_token.reveal()


def app_of(process: Process, name: str, config: SlackConfig) -> App:
    """The app that a section is one workspace of."""
    identity = _identity(config)
    apps = process.shared(_Apps)
    if identity not in apps.found:
        apps.found[identity] = App(_siblings(process.config, identity), channel=name)
    return apps.found[identity]


class _Apps:
    """The apps of a process."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], App] = {}


def _identity(config: SlackConfig) -> tuple[str, str]:
    if hears_by_http(config):
        return ("http", config.signing_secret.reveal())
    return ("socket", config.app_token.reveal())


def _siblings(config: Config, identity: tuple[str, str]) -> frozenset[str]:
    return frozenset(
        name
        for name, channel in config.channels.items()
        if isinstance(channel, SlackConfig) and channel.enabled and _identity(channel) == identity
    )
