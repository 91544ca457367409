"""What a chat is shown while its answer is being written: the text so far, a sign that somebody writes, a mark."""

from channels.showing.lead import Lead
from channels.showing.showing import Showing

__all__ = ["Lead", "Showing"]
