"""What a chat is shown while its answer is being written: the text so far, a sign that somebody writes, a mark."""

from channels.live_display.display_leader import Lead
from channels.live_display.live_display import Showing

__all__ = ["Lead", "Showing"]
