"""Care of data: backups that are taken while everything runs and restored to be sure of them, and a look at every rule.

``back_up`` writes a folder, ``restore`` makes a database and files of it, ``check`` finds what breaks a rule.
"""

from daemon.data.backup import BackupContents, BackupResult, back_up
from daemon.data.backup_records import Loss, Manifest
from daemon.data.backup_restore import RestoreResult, RestoreTarget, restore
from daemon.data.backup_verification import VerificationResult, verify
from daemon.data.data_check import DataCheck, DataReport
from daemon.data.flaw import Flaw

__all__ = [
    "BackupContents",
    "BackupResult",
    "DataCheck",
    "DataReport",
    "Flaw",
    "Loss",
    "Manifest",
    "RestoreResult",
    "RestoreTarget",
    "VerificationResult",
    "back_up",
    "restore",
    "verify",
]
