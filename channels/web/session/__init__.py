"""Sessions for the page: the list, the contents of a prompt, the timeline, and traces of turns."""

from channels.web.session.session_list import Sessions
from channels.web.session.session_routing import session_routes

__all__ = ["Sessions", "session_routes"]
