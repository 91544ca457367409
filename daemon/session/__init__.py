"""Stores the messages of each session, and the lease that allows only one worker at a time to add messages.

Public: ``Sessions`` claims, renews, commits and releases, ``SessionReader`` reads without a lease,
``ConsolidationLocks`` protects consolidation, ``ImmediateCommands`` and ``MessageEdits`` handle pending messages,
``all_sessions`` finds sessions.
Begin with ``sessions`` and ``claim``.
"""

from daemon.session.claim import SUSPECT_DEATHS, Claim, PendingMessage, SessionNotice, TurnStart, after, commit_name
from daemon.session.consolidation_locks import ConsolidationLock, ConsolidationLocks, ConsolidationState, settlement_of
from daemon.session.immediate_commands import ImmediateCommand, ImmediateCommands
from daemon.session.message_edits import Amended, MessageEdits, Withdrawn
from daemon.session.session_census import SessionStatus, oldest_s, overdue_s, standings
from daemon.session.session_labels import NO_LABEL, SessionLabel, SessionLabels, title_of, without_files, words_or_files
from daemon.session.session_reader import (
    SessionReader,
    SessionState,
    all_sessions,
    pending_of,
    raws_of_log,
    sessions_of,
    sessions_where,
)
from daemon.session.sessions import NO_CHANGE, Change, Commit, Sessions, StillParked
from daemon.session.turn_sayings import TurnMessage, TurnMessages, saying_id, tell

__all__ = [
    "NO_CHANGE",
    "NO_LABEL",
    "SUSPECT_DEATHS",
    "Amended",
    "Change",
    "Claim",
    "Commit",
    "ConsolidationLock",
    "ConsolidationLocks",
    "ConsolidationState",
    "ImmediateCommand",
    "ImmediateCommands",
    "MessageEdits",
    "PendingMessage",
    "SessionLabel",
    "SessionLabels",
    "SessionNotice",
    "SessionReader",
    "SessionState",
    "SessionStatus",
    "Sessions",
    "StillParked",
    "TurnMessage",
    "TurnMessages",
    "TurnStart",
    "Withdrawn",
    "after",
    "all_sessions",
    "commit_name",
    "oldest_s",
    "overdue_s",
    "pending_of",
    "raws_of_log",
    "saying_id",
    "sessions_of",
    "sessions_where",
    "settlement_of",
    "standings",
    "tell",
    "title_of",
    "without_files",
    "words_or_files",
]
