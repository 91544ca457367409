"""Sessions: the log and its positions, and the lease that lets one worker at a time append to the log.

``Sessions`` claims, renews, journals, commits and releases; ``SessionReader`` reads without holding anything;
``Locks`` is for those who consolidate older messages; ``Asides`` answers commands that wait for no turn; ``Amendments``
edits what waits, or takes it out; ``Sayings`` says what a turn says before its answer; ``Labels`` names sessions in
lists; ``standings`` tells who is held and who rests, ``settlement_of`` how far a session is consolidated.
``all_sessions`` and ``sessions_of`` find sessions, every one of them.
"""

from daemon.session.claim import SUSPECT_DEATHS, Begun, Claim, Waiting, after, commit_name
from daemon.session.consolidation_locks import Lock, Locks
from daemon.session.consolidation_state import Settlement, settlement_of
from daemon.session.immediate_commands import Aside, Asides
from daemon.session.message_edits import Amended, Amendments, Withdrawn
from daemon.session.pending_messages import pending_of
from daemon.session.release import Word
from daemon.session.session_census import Standing, oldest_s, overdue_s, standings
from daemon.session.session_labels import NO_LABEL, Label, Labels, title_of, without_files
from daemon.session.session_notices import tell
from daemon.session.session_reader import SessionReader, SessionState, raws_of_log
from daemon.session.session_scopes import all_sessions, sessions_of, sessions_where
from daemon.session.sessions import NO_CHANGE, Change, Commit, Sessions, StillParked
from daemon.session.turn_sayings import Saying, Sayings, saying_id

__all__ = [
    "NO_CHANGE",
    "NO_LABEL",
    "SUSPECT_DEATHS",
    "Amended",
    "Amendments",
    "Aside",
    "Asides",
    "Begun",
    "Change",
    "Claim",
    "Commit",
    "Label",
    "Labels",
    "Lock",
    "Locks",
    "Saying",
    "Sayings",
    "SessionReader",
    "SessionState",
    "Sessions",
    "Settlement",
    "Standing",
    "StillParked",
    "Waiting",
    "Withdrawn",
    "Word",
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
