"""What a chat is shown while its answer is being written: the text so far, a sign that somebody writes, a mark."""

from channels.live_display.live_display import LiveDisplay
from channels.live_display.shown_messages import DisplayLeader

__all__ = ["DisplayLeader", "LiveDisplay"]
