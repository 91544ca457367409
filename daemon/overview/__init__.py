"""Reads the state of all processes and queues, for commands and the web page.

Public: ``read_system`` returns everything, ``read_workers``, ``read_queues``, ``read_leaders``, ``read_problems`` and
``read_tool_servers`` its parts.
Begin with ``system_overview``.
"""

from daemon.overview.queue_contents import (
    BACKING_OFF,
    Contents,
    Lengths,
    MessageQueue,
    QueuedMessage,
    QueuedSession,
    Queues,
    SessionQueue,
    push_channels,
    read_queues,
)
from daemon.overview.system_overview import (
    ParkedSession,
    PausedChat,
    SystemOverview,
    UnknownDelivery,
    read_system,
    read_unknown,
)
from daemon.overview.workers import (
    Leader,
    Lease,
    Problem,
    Worker,
    Workers,
    read_leaders,
    read_problems,
    read_tool_servers,
    read_workers,
    token_conflicts,
    web_addresses,
)

__all__ = [
    "BACKING_OFF",
    "Contents",
    "Leader",
    "Lease",
    "Lengths",
    "MessageQueue",
    "ParkedSession",
    "PausedChat",
    "Problem",
    "QueuedMessage",
    "QueuedSession",
    "Queues",
    "SessionQueue",
    "SystemOverview",
    "UnknownDelivery",
    "Worker",
    "Workers",
    "push_channels",
    "read_leaders",
    "read_problems",
    "read_queues",
    "read_system",
    "read_tool_servers",
    "read_unknown",
    "read_workers",
    "token_conflicts",
    "web_addresses",
]
