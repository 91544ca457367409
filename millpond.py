"""The command's first step: make sure that the rooms about to be imported are Millpond's own.

``daemon`` and ``channels`` are also names of other packages on PyPI. Whichever lies earlier on the path wins an import,
so this module, whose name nobody else uses, looks before anything is imported and refuses with the reason.
"""

import io
import os
import sys
from pathlib import Path

ROOMS = ("daemon", "channels", "workers")
"""Millpond's top-level packages; they lie beside this file."""

MARK = "A package of Millpond:"
"""How the docstring of each of our packages begins; a package installed over ours would not say so."""


def foreign_rooms(path: list[str], home: Path) -> list[str]:
    """What stands in the way of our packages on ``path``: one line a finding, empty when all are ours."""
    findings: list[str] = []
    for room in ROOMS:
        ours = home / room
        for folder in (Path(entry or ".").resolve() for entry in path):
            if folder == home:
                break  # what lies behind ours loses the import
            findings += [str(other) for other in (folder / room, folder / f"{room}.py") if _importable(other)]
        init = ours / "__init__.py"
        if not init.is_file() or MARK not in init.read_text(encoding="utf-8", errors="replace"):
            findings.append(f"{init} (not the file that Millpond installed)")
    return findings


def _importable(candidate: Path) -> bool:
    # A folder without __init__.py is a namespace package: it loses to a regular package anywhere on the path.
    return candidate.is_file() if candidate.suffix else (candidate / "__init__.py").is_file()


def open_streams() -> None:
    """Have standard streams that were closed (``<&-``) be ``/dev/null``, and lose characters that a terminal lacks."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # The lowest number that is free: theirs, since the streams before it are open by now.
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def main() -> None:
    """Start the ``millpond`` command; exit 78 (EX_CONFIG of sysexits.h) when foreign packages stand in its way."""
    open_streams()
    findings = foreign_rooms(sys.path, Path(__file__).resolve().parent)
    if findings:
        sys.stderr.write(
            "millpond: other packages in this environment use the names of Millpond's packages:\n"
            + "".join(f"  {finding}\n" for finding in findings)
            + "Millpond would import the wrong code. Install it in its own virtual environment (`make "
            "setup`),\nor uninstall the packages that own these files (for example python-daemon or "
            "django-channels).\n"
        )
        raise SystemExit(78)
    from daemon.cli import main as command  # noqa: PLC0415 - only after the check above

    command()


if __name__ == "__main__":
    main()
