"""All of Millpond at one moment, looked at from outside: for the commands that show it, and for the page."""

from daemon.overview.contents import Contents, MessageQueue, QueuedMessage, QueuedSession, SessionQueue
from daemon.overview.leaders import Leader, read_leaders
from daemon.overview.problems import Problem, read_problems
from daemon.overview.queues import BACKING_OFF, Lengths, Queues, push_channels, read_queues
from daemon.overview.resting import Parked, Paused
from daemon.overview.system import System, read_system
from daemon.overview.unknown import Unknown, read_unknown
from daemon.overview.workers import Lease, Worker, Workers, read_workers, token_conflicts, web_addresses

__all__ = [
    "BACKING_OFF",
    "Contents",
    "Leader",
    "Lease",
    "Lengths",
    "MessageQueue",
    "Parked",
    "Paused",
    "Problem",
    "QueuedMessage",
    "QueuedSession",
    "Queues",
    "SessionQueue",
    "System",
    "Unknown",
    "Worker",
    "Workers",
    "push_channels",
    "read_leaders",
    "read_problems",
    "read_queues",
    "read_system",
    "read_unknown",
    "read_workers",
    "token_conflicts",
    "web_addresses",
]
