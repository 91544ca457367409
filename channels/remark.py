"""What is found when an adapter is examined."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Remark:
    """One thing that was found."""

    state: Literal["ok", "warning", "error"]
    text: str
