"""Who may speak on a push channel, and in which chats a bot rests: what the configuration says, and administrators.

``verdict`` judges, ``Access`` and ``Pauses`` keep what was decided in this process's memory, ``Pairing`` deals in the
codes by which strangers are let in, ``Lines`` says a thing once.
"""

from daemon.access.access import Access
from daemon.access.access_notices import Line, Lines
from daemon.access.access_rule import Entry, Speaker, Verdict, verdict
from daemon.access.admins import is_admin, is_listed, person_of
from daemon.access.command_access import allowed, is_kept_from_members, may, may_take
from daemon.access.pairing_codes import LENGTH, VALID_S, WRONG_S, Pairing, Refused, Stranger, welcome
from daemon.access.pauses import EVERYWHERE, Pauses, chat_of

__all__ = [
    "EVERYWHERE",
    "LENGTH",
    "VALID_S",
    "WRONG_S",
    "Access",
    "Entry",
    "Line",
    "Lines",
    "Pairing",
    "Pauses",
    "Refused",
    "Speaker",
    "Stranger",
    "Verdict",
    "allowed",
    "chat_of",
    "is_admin",
    "is_kept_from_members",
    "is_listed",
    "may",
    "may_take",
    "person_of",
    "verdict",
    "welcome",
]
