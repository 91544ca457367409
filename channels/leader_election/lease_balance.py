"""How many leases a process holds: who holds many gives some of them to processes that hold fewer."""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager

CEDE_EVERY_S = 10.0
"""Shortest time between two leases that a process gives away. By then who stands by has asked again for all others
(``STANDBY_S``), and said how many it holds now: several would be given for the same want."""

WISH_S = 10.0
"""How long a wish counts: whoever stands by asks twice in this time."""

NOBODY = -1
"""Stands for the leases of whoever stands by, when nobody does."""


class Leads:
    """The leases of one process, for all channels; see ``Process.shared``."""

    def __init__(self) -> None:
        self.count = 0
        self._next_at = -math.inf

    @contextmanager
    def one_more(self) -> Generator[None]:
        """A lease is held for the length of the block."""
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1

    def cedes(self, theirs: int) -> bool:
        """Whether a lease is given away now to a process that holds ``theirs``, or nobody (``NOBODY``)."""
        # Between two numbers next to each other a lease would go to and fro for ever.
        if theirs == NOBODY or self.count - theirs < 2 or time.monotonic() < self._next_at:
            return False
        self._next_at = time.monotonic() + CEDE_EVERY_S
        return True
