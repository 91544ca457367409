"""Sessions: the log and its positions, and the lease that lets one worker at a time append to the log.

``Sessions`` claims, renews, journals, commits and releases; ``SessionReader`` reads without holding anything;
``ConsolidationLocks`` is for those who consolidate older messages; ``ImmediateCommands`` answers commands that wait for
no turn; ``MessageEdits`` edits what waits, or takes it out; ``TurnMessages`` says what a turn says before its answer;
``SessionLabels`` names sessions in lists; ``standings`` tells who is held and who rests, ``settlement_of`` how far a
session is consolidated. ``all_sessions`` and ``sessions_of`` find sessions, every one of them.
"""

from daemon.session.claim import SUSPECT_DEATHS, Claim, PendingMessage, SessionNotice, TurnStart, after, commit_name
from daemon.session.consolidation_locks import ConsolidationLock, ConsolidationLocks, ConsolidationState, settlement_of
from daemon.session.immediate_commands import ImmediateCommand, ImmediateCommands
from daemon.session.message_edits import Amended, MessageEdits, Withdrawn
from daemon.session.session_census import SessionStatus, oldest_s, overdue_s, standings
from daemon.session.session_labels import NO_LABEL, SessionLabel, SessionLabels, title_of, without_files
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
]
