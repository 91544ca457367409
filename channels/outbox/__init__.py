"""Sends committed replies in order for each chat, and records the delivery state of each part.

Public: ``Outbox`` is the outbox of one channel.
Begin with ``outbox``, then ``leader_term`` (which reply is next), ``delivery`` (one reply), ``delivery_state`` (the
marks of its parts) and ``retry_schedule``.
"""

from channels.outbox.outbox import Outbox

__all__ = ["Outbox"]
