"""QMD, an optional search engine: the program ``qmd`` of the npm package ``@tobilu/qmd``.

It is asked by its command line. Whatever goes wrong there, the builtin engine answers instead.
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
