"""People: several identities of one person that share a memory.

``Asking`` takes wishes, by code, by hand or by configuration; ``linking`` and ``parting`` are the jobs that do them;
``People`` tells who is linked with whom.
"""

from daemon.people.configured_links import link_configured, wanted
from daemon.people.link_codes import Party, Request, shown
from daemon.people.link_dependencies import is_person, name_of
from daemon.people.link_index import Link, People
from daemon.people.link_requests import Asking
from daemon.people.operator_identity import is_operator, operator_sender
from daemon.people.scope_locks import sessions_of, under_locks

__all__ = [
    "Asking",
    "Link",
    "Party",
    "People",
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
