"""What becomes of what a platform says: who is heard, what a group's talk is to the bot, and then onto the queues."""

from channels.intake.intake import Intake, Shown, receive

__all__ = ["Intake", "Shown", "receive"]
