"""The outbox: what is committed for a push channel is sent, in order for each chat, as good as exactly once."""

from channels.outbox.outbox import Outbox

__all__ = ["Outbox"]
