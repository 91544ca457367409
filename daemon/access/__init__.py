"""Who may speak on a push channel, and in which chats a bot rests: what the configuration says, and administrators.

``verdict`` judges, ``Access`` and ``Pauses`` keep what was decided in this process's memory, ``PairingCodes`` deals in
the codes by which strangers are let in, ``AccessNotices`` says a thing once.
"""

from daemon.access.access_list import Access
from daemon.access.access_notices import AccessNotice, AccessNotices
from daemon.access.access_rule import (
    AccessEntry,
    Speaker,
    Verdict,
    allowed,
    is_admin,
    is_kept_from_members,
    is_listed,
    may,
    may_take,
    person_of,
    verdict,
)
from daemon.access.pairing_codes import LENGTH, VALID_S, WRONG_S, PairingCodes, Refused, Stranger, welcome
from daemon.access.pauses import EVERYWHERE, Pauses, chat_of

__all__ = [
    "EVERYWHERE",
    "LENGTH",
    "VALID_S",
    "WRONG_S",
    "Access",
    "AccessEntry",
    "AccessNotice",
    "AccessNotices",
    "PairingCodes",
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
