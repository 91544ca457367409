"""Who may look at everything and operate it from a browser: links to log in with, who used one, and what was done."""

from daemon.operators.audit import Audit, Deed
from daemon.operators.logins import CODE_VALID_S, VISITOR_VALID_S, Logins, Visit, link, short_id

__all__ = ["CODE_VALID_S", "VISITOR_VALID_S", "Audit", "Deed", "Logins", "Visit", "link", "short_id"]
