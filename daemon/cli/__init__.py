"""Contains the ``millpond`` command, with one file for each group of subcommands.

Public: ``main`` runs the command.
Begin with ``root_command`` and ``command_setup``. The command ``millpond X`` is in ``X_command``. Heavy imports happen
in a command.
"""

import atexit
import gc
import os

from daemon.cli.root_command import root

__all__ = ["main"]


PRIVATE = 0o077
"""Umask: other users get no access to files of a command, because these contain conversations or their names."""


COLLECT_AFTER = 100_000
"""New objects after which the garbage collector looks at them. Imports create many objects and no garbage: at Python's
700, the collector takes a tenth of the CPU time of a short command."""


def main() -> None:
    """Run the command that the process's arguments name; does not return."""
    os.umask(PRIVATE)
    gc.set_threshold(COLLECT_AFTER)
    # As it ends, Python searches all objects for garbage several times: a quarter of a short command's CPU time.
    atexit.register(gc.freeze)
    root(prog_name="millpond")
