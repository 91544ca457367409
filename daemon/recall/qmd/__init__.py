"""Connects to the optional search engine ``qmd``, a program in the npm package ``@tobilu/qmd``.

Public: ``QmdEngine`` searches, ``probed`` tests the program, ``remove_index`` deletes an index.
Begin with ``qmd_engine``; the built-in engine answers if QMD fails.
"""

from daemon.recall.qmd.qmd_commands import ProbeResult, probed
from daemon.recall.qmd.qmd_engine import QmdEngine
from daemon.recall.qmd.qmd_program import INSTALL, PROGRAM, Failed, Qmd
from daemon.recall.qmd.qmd_store import MemorySource, PassageSource, State, remove_index

__all__ = [
    "INSTALL",
    "PROGRAM",
    "Failed",
    "MemorySource",
    "PassageSource",
    "ProbeResult",
    "Qmd",
    "QmdEngine",
    "State",
    "probed",
    "remove_index",
]
