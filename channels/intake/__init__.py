"""Decides how to handle each event from a platform: access, group rules, commands, and the queues.

Public: ``receive`` passes the events of one channel to its ``Intake``.
Begin with ``intake``. ``group_messages`` has the rules of groups, ``message_bursts`` the order of many messages.
"""

from channels.intake.intake import Intake, Shown
from channels.intake.receive_loop import receive

__all__ = ["Intake", "Shown", "receive"]
