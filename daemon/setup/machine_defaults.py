"""What this machine tells of the person at it: the defaults of questions."""

from collections.abc import Mapping
from pathlib import Path

from daemon.wording import Language

_ZONES = "zoneinfo/"


def time_zone_here(environ: Mapping[str, str]) -> str:
    """The machine's time zone by its IANA name; ``UTC`` when it does not tell."""
    if named := environ.get("TZ", "").lstrip(":"):
        return named.rpartition(_ZONES)[2] if _ZONES in named else named
    try:
        link = str(Path("/etc/localtime").readlink())
    except OSError:
        link = ""
    if _ZONES in link:
        return link.rpartition(_ZONES)[2]
    try:
        return Path("/etc/timezone").read_text(encoding="utf-8").strip() or "UTC"
    except (OSError, UnicodeDecodeError):
        return "UTC"


def language_here(environ: Mapping[str, str]) -> Language:
    """The language of the person's programs, as far as bots speak it."""
    said = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    return "zh" if said.startswith("zh") else "en"
