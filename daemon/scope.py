"""Scopes: whose memory a conversation belongs to, fixed by publish from a session's first message on."""

from daemon.config import BotConfig
from daemon.events import Inbound
from daemon.sessionkey import encode_part


def scope_of(inbound: Inbound, bot: BotConfig) -> str:
    """The scope of ``inbound``'s session.

    ``<bot>:person:<channel instance>:<sender>``, ``<bot>:group:<session>``, ``<bot>:session:<session>`` or
    ``<bot>:workspace``; each part percent-encoded.
    """
    kind: str = bot.memory.scope
    if kind == "auto":
        kind = "person" if inbound.chat_kind == "direct" else "group"
    name = encode_part(inbound.bot)
    if kind == "workspace":
        return f"{name}:workspace"
    if kind == "person":
        return f"{name}:person:{encode_part(inbound.channel)}:{encode_part(inbound.sender_id)}"
    return f"{name}:{kind}:{inbound.session}"
