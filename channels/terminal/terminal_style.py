"""How a terminal can be written to. Imports nothing that takes long: a pipe needs no renderer."""

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Literal

Look = Literal["bare", "plain", "coloured"]
"""No escape sequences at all, those for bold and the like, or those for colours too."""


def look_of(environ: Mapping[str, str]) -> Look:
    """How the terminal of ``environ`` is written to (``TERM``, and ``NO_COLOR`` of no-color.org)."""
    if environ.get("TERM", "").lower() in {"", "dumb", "unknown"}:
        return "bare"
    return "plain" if environ.get("NO_COLOR") else "coloured"


def for_output(answer: str) -> str:
    """An answer for standard output: rendered on a terminal, otherwise exactly as the model wrote it."""
    if not sys.stdout.isatty():
        return answer
    from channels.terminal.markdown import rendered  # noqa: PLC0415 - rich takes 0.2 s, for nothing in a pipe

    return rendered(answer, columns=shutil.get_terminal_size().columns, look=look_of(os.environ))
