"""The permissions of a Feishu app, and why it needs them. Pure."""

import json
from collections.abc import Collection

SCOPES = {
    "im:message": "read, edit and recall messages in the bot's chats, download files and add reactions",
    "im:message:send_as_bot": "send messages",
    "im:message.p2p_msg:readonly": "receive direct messages",
    "im:message.group_at_msg:readonly": "receive group messages that mention the bot",
    "im:resource": "upload images and files",
    "cardkit:card:write": "show answers while they are being written, and remove buttons",
    "im:chat:readonly": "show buttons below questions",
    "contact:user.base:readonly": "names of people",
    "contact:contact.base:readonly": "names of people",
}
"""What everything needs."""

GROUP_SCOPE = "im:message.group_msg"
"""All messages of groups, for ``access.groups = "all"`` and the history of threads; an administrator grants it."""

EVENTS = ("im.message.receive_v1", "im.message.recalled_v1")
"""Events that the app subscribes to."""

CALLBACK = "card.action.trigger"
"""Callback that the app subscribes to, for presses of buttons."""

REACTION_EVENTS = ("im.message.reaction.created_v1", "im.message.reaction.deleted_v1")
"""Events for ``hear_reactions``; the scope ``im:message`` covers them."""


def imported_scopes() -> str:
    """The JSON from which Feishu's developer console imports the permissions."""
    return json.dumps({"scopes": {"tenant": list(SCOPES), "user": []}}, indent=2)


def missing_of(granted: Collection[str]) -> list[str]:
    """The permissions that an app lacks."""
    return [scope for scope in SCOPES if scope not in granted]
