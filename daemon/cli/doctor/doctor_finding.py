"""The result of one check of ``millpond doctor``."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the doctor's report."""

    check: str
    """The checked thing, in a word or two."""
    state: Literal["ok", "warning", "error"]
    text: str
    """The result, and the remedy unless it is ok."""


def ok(check: str, text: str) -> Finding:
    """Nothing to do."""
    return Finding(check=check, state="ok", text=text)


def warning(check: str, text: str) -> Finding:
    """It works, and should be seen to all the same."""
    return Finding(check=check, state="warning", text=text)


def error(check: str, text: str) -> Finding:
    """It does not work."""
    return Finding(check=check, state="error", text=text)
