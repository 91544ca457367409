"""Sessions as the page looks at them: which there are, what fills a prompt, what became memory, what turns took."""

from channels.web.session.listing import Sessions
from channels.web.session.routes import session_routes

__all__ = ["Sessions", "session_routes"]
