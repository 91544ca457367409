"""People: several identities of one person that share a memory.

``Asking`` takes wishes, by code, by hand or by configuration; ``linking`` and ``parting`` are the jobs that do them;
``People`` tells who is linked with whom.
"""

from daemon.people.asking import Asking
from daemon.people.codes import Party, Request, shown
from daemon.people.configured import link_configured, wanted
from daemon.people.ground import is_person, name_of
from daemon.people.links import Link, People
from daemon.people.locked import sessions_of, under_locks
from daemon.people.operators import is_operator, operator_sender

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
