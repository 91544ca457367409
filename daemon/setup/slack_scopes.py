"""What an app at Slack has to be allowed. The manifest, ``deploy/slack/manifest.yaml``, asks for exactly that."""

from collections.abc import Iterable
from pathlib import Path

from daemon.errors import OutputError

SCOPES = {
    "app_mentions:read": "to hear when it is mentioned",
    "channels:history": "to hear channels",
    "chat:write": "to answer",
    "commands": "for /millpond",
    "files:read": "to get files that people send",
    "files:write": "to send files",
    "groups:history": "to hear private channels",
    "im:history": "to hear direct messages",
    "mpim:history": "to hear direct messages of several people",
    "reactions:write": "to mark messages",
    "users:read": "to know names",
}
"""Each scope of the bot's token, and what it is for."""

VIEW_SCOPE = "assistant:write"
"""Comes with ``agent_view``, which only some plans of Slack have; nothing is missing without it."""

_HERE = Path(__file__)
PLACES = (_HERE.with_name("slack_manifest.yaml"), _HERE.parents[2] / "deploy" / "slack" / "manifest.yaml")
"""In an installed package, and in a checkout."""


def missing_of(granted: Iterable[str]) -> list[str]:
    """What the scopes of a token do not allow, as ``scope (what it is for)``."""
    there = frozenset(granted)
    return [f"{scope} ({why})" for scope, why in SCOPES.items() if scope not in there]


_BY_HTTP = (
    ("      should_escape", "      url: {url}\n      should_escape"),
    ("  event_subscriptions:\n", "  event_subscriptions:\n    request_url: {url}\n"),
    ("socket_mode_enabled: true", "socket_mode_enabled: false"),
)
"""What is another line in the manifest of an app to which Slack brings everything at ``url``."""


def manifest(events_url: str = "") -> str:
    """The text that Slack makes an app from: one that hears over a socket, or at ``events_url``.

    Raises:
        OutputError: it is not where it was installed.
    """
    for place in PLACES:
        try:
            text = place.read_text(encoding="utf-8")
        except OSError:
            continue
        for line, other in _BY_HTTP if events_url else ():
            text = text.replace(line, other.format(url=events_url))
        return text
    raise OutputError("the manifest is missing from this installation; it is deploy/slack/manifest.yaml in the sources")
