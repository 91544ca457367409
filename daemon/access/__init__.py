"""Decides who may use a bot on a chat platform, and in which chats a bot is paused.

Public: ``verdict`` decides, ``Access`` has the decisions of administrators, ``PairingCodes`` gives strangers codes,
``Pauses`` has the paused chats, ``AccessNotices`` limits notices.
Begin with ``access_list``.
"""

from daemon.access.access_list import (
    Access,
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
from daemon.access.access_notices import AccessNotice, AccessNotices
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
