"""A tool server whose tools are missing in a turn."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Missing:
    """A server none of whose tools a turn has."""

    server: str
    """As the configuration names it."""
    why: Literal["slow", "broken", "large"]
    """It did not answer in time; it cannot be used; its tools would leave no room in the model's window."""
    reason: str
    """In words, for those who run the bot: a server may have had a say in them."""
