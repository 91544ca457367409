"""Care of data: backups that are taken while everything runs and restored to be sure of them, and a look at every rule.

``back_up`` writes a folder, ``restore`` makes a database and files of it, ``check`` finds what breaks a rule.
"""

from daemon.data.backup import BackedUp, Wanted, back_up
from daemon.data.backup_records import Loss, Manifest
from daemon.data.backup_restore import Restored, Target, restore
from daemon.data.backup_verification import Verified, verify
from daemon.data.data_check import Check, Checked
from daemon.data.flaw import Flaw

__all__ = [
    "BackedUp",
    "Check",
    "Checked",
    "Flaw",
    "Loss",
    "Manifest",
    "Restored",
    "Target",
    "Verified",
    "Wanted",
    "back_up",
    "restore",
    "verify",
]
