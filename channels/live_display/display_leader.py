"""In whose name a process shows texts in the chats of a partition."""

from collections.abc import Callable
from dataclasses import dataclass

from anyio.abc import TaskGroup

from channels.leader_election import Lease


@dataclass(frozen=True, eq=False, kw_only=True)
class Lead:
    """The leader of a channel's partition, for as long as it is."""

    partition: int
    lease: Lease
    sends: TaskGroup
    """Over before the lease is given back: what is shown must not come after what a successor sends."""
    holds: Callable[[str], bool]
    """Whether there are replies to deliver to a session."""
