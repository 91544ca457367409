"""Sessions for the page: the list, the contents of a prompt, the timeline, and traces of turns."""

from channels.web.session.session_list import SessionList
from channels.web.session.session_routing import session_routes

__all__ = ["SessionList", "session_routes"]
