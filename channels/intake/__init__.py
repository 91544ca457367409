"""Decides how to handle each message and event from a chat platform.

Public: ``Intake`` takes the events of one channel; ``Shown`` is what it shows at once.
Begin with ``intake``. ``group_messages`` has the rules of groups, ``message_bursts`` the order of many messages.
"""

from channels.intake.intake import Intake, Shown

__all__ = ["Intake", "Shown"]
