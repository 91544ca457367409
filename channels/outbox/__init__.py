"""Sends replies to chat platforms in order, and records the delivery state of each part of a reply.

Public: ``Outbox`` is the outbox of one channel.
Begin with ``outbox``, then ``leader_term`` (which reply is next), ``delivery`` (one reply), ``delivery_state`` (the
marks of its parts) and ``retry_schedule``.
"""

from channels.outbox.outbox import Outbox

__all__ = ["Outbox"]
