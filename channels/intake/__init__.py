"""What becomes of what a platform says: who is heard, what a group's talk is to the bot, and then onto the queues."""

from channels.intake.intake import Intake, Shown
from channels.intake.receive_loop import receive

__all__ = ["Intake", "Shown", "receive"]
