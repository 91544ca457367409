"""Every way in which the Bot API, or the way to it, goes wrong; and how often it lets something be sent."""

from dataclasses import dataclass, field
from typing import Any

from tests.fakes.faults import Cut, Garbled, Hang, Page, Slow
from tests.fakes.platform import Buckets


@dataclass(frozen=True)
class Refuse:
    """The answer ``ok: false`` with any code; nothing is done."""

    code: int = 429
    description: str = ""
    retry_after: int | None = None  # seconds; for 429 one by default
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])


Fault = Refuse | Page | Garbled | Cut | Hang | Slow


@dataclass
class Floods(Buckets):
    """How often something may be sent: a chat once a second, a group 20 times a minute, all of a bot 30 a second.

    A little more than that passes, as the documentation says: short bursts are let through.
    """

    chat_burst: int = 4
    chat_per_s: float = 1.0
    group_burst: int = 21
    group_per_s: float = 20 / 60
    all_burst: int = 33
    all_per_s: float = 30.0

    def wait_s(self, bot: str, chat: int) -> int:
        """Take one of everything; else whole seconds to wait, and nothing is taken."""
        whose = f"{bot} {chat}"
        group, one = (whose, self.group_burst, self.group_per_s), (whose, self.chat_burst, self.chat_per_s)
        return self.take((bot, self.all_burst, self.all_per_s), group if chat < 0 else one)
