"""Permissions of a Slack app. The manifest, ``deploy/slack/manifest.yaml``, requests exactly these."""

from collections.abc import Iterable
from pathlib import Path

from daemon.errors import OutputError

SCOPES = {
    "app_mentions:read": "to receive mentions",
    "channels:history": "to receive channel messages",
    "chat:write": "to answer",
    "commands": "for /millpond",
    "files:read": "permission to download files that people send",
    "files:write": "to upload files",
    "groups:history": "permission to receive messages in private channels",
    "im:history": "to receive direct messages",
    "mpim:history": "permission to receive group direct messages",
    "reactions:write": "to add reactions",
    "users:read": "to look up names",
}
"""Each scope of the bot's token, and its purpose."""

REACTION_SCOPE = "reactions:read"
"""For ``hear_reactions``: people's reactions to the bot's messages."""

VIEW_SCOPE = "assistant:write"
"""Comes with ``agent_view``, which only some plans of Slack have; nothing is missing without it."""

_HERE = Path(__file__)
PLACES = (_HERE.with_name("slack_manifest.yaml"), _HERE.parents[3] / "deploy" / "slack" / "manifest.yaml")
"""In an installed package, and in a checkout."""


def missing_of(granted: Iterable[str], *, hears_reactions: bool = False) -> list[str]:
    """Scopes that a token lacks, as ``scope (purpose)``; ``hears_reactions``: also the one for reactions."""
    there = frozenset(granted)
    needed = {**SCOPES, **({REACTION_SCOPE: "to receive reactions"} if hears_reactions else {})}
    return [f"{scope} ({why})" for scope, why in needed.items() if scope not in there]


_BY_HTTP = (
    ("      should_escape", "      url: {url}\n      should_escape"),
    ("  event_subscriptions:\n", "  event_subscriptions:\n    request_url: {url}\n"),
    ("    is_enabled: true\n", "    is_enabled: true\n    request_url: {url}\n"),
    ("socket_mode_enabled: true", "socket_mode_enabled: false"),
)
"""Lines of the manifest that differ if Slack sends events to ``url``."""


def manifest(events_url: str = "") -> str:
    """The manifest of an app that receives events over Socket Mode, or at ``events_url``.

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
    raise OutputError(
        "slack_manifest.yaml was not found in this installation. Use deploy/slack/manifest.yaml from the source code."
    )
