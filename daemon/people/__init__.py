"""Links the identities of a person, so that they share one memory.

Public: ``LinkRequests`` takes requests by code, by hand or from the configuration, ``LinkIndex`` knows the links.
Begin with ``link_requests``, then ``link_job`` and ``unlink_job``, which do the work.
"""

from daemon.people.link_codes import Party, Request, shown
from daemon.people.link_dependencies import Link, LinkIndex, is_person, name_of
from daemon.people.link_requests import LinkRequests, link_configured, wanted
from daemon.people.operator_identity import is_operator, operator_sender
from daemon.people.scope_locks import sessions_of, under_locks

__all__ = [
    "Link",
    "LinkIndex",
    "LinkRequests",
    "Party",
    "Request",
    "is_operator",
    "is_person",
    "link_configured",
    "name_of",
    "operator_sender",
    "sessions_of",
    "shown",
    "under_locks",
    "wanted",
]
