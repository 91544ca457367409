"""Authenticates operators of the web page and the API, and records their actions in the audit log.

Public: ``LoginCodes`` creates login links, ``local_token`` reads the token of a data directory, ``Approvals`` lets
administrators approve commands, ``OperatorAudit`` records actions.
Begin with ``login_codes``.
"""

from daemon.operators.command_approvals import Approval, Approvals, approval_id_of
from daemon.operators.login_codes import CODE_VALID_S, VISITOR_VALID_S, LoginCodes, Visit, link, short_id
from daemon.operators.operator_audit import AuditEntry, OperatorAudit
from daemon.operators.token_file import FILE_NAME, LocalToken, fingerprint, known_token, local_token

__all__ = [
    "CODE_VALID_S",
    "FILE_NAME",
    "VISITOR_VALID_S",
    "Approval",
    "Approvals",
    "AuditEntry",
    "LocalToken",
    "LoginCodes",
    "OperatorAudit",
    "Visit",
    "approval_id_of",
    "fingerprint",
    "known_token",
    "link",
    "local_token",
    "short_id",
]
