"""Decides how to handle each event from a platform: access, group rules, commands, and the queues.

Public: ``Intake`` takes the events of one channel; ``Shown`` is what it shows at once.
Begin with ``intake``. ``group_messages`` has the rules of groups, ``message_bursts`` the order of many messages.
"""

from channels.intake.intake import Intake, Shown

__all__ = ["Intake", "Shown"]
