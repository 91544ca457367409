"""Backs up, restores and checks stored data, and deletes expired data.

Public: ``back_up`` writes a folder, ``restore`` reads it, ``verify`` tests a backup, ``DataCheck`` finds each ``Flaw``.
Begin with ``backup`` and ``data_check``. ``retention`` deletes data that is too old, ``key_names`` explains a key.
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
