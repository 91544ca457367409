"""Shows and changes sessions for the page: the list, the prompt, the timeline, files and traces.

Public: ``session_routes`` lists the addresses, ``SessionList`` is the list of sessions.
Begin with ``session_endpoints``, and ``timeline`` for search and traces.
"""

from channels.web.session.session_list import SessionList
from channels.web.session.session_routing import session_routes

__all__ = ["SessionList", "session_routes"]
