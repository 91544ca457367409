"""Shows unfinished answers, typing indicators and reactions in a chat.

Public: ``LiveDisplay`` shows the progress of one channel's chats, ``DisplayLeader`` is the leadership under which
previews are sent.
Begin with ``live_display``. ``typing_indicator`` and ``streamer`` are its parts.
"""

from channels.live_display.live_display import LiveDisplay
from channels.live_display.shown_messages import DisplayLeader

__all__ = ["DisplayLeader", "LiveDisplay"]
