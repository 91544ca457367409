"""How fast a platform may be sent to."""

from channels.pacing.pace import Pace

__all__ = ["Pace"]
