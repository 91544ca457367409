"""All of Millpond at one moment, looked at from outside: for the commands that show it, and for the page."""

from daemon.overview.bot_problems import Problem, read_problems
from daemon.overview.leaders import Leader, read_leaders
from daemon.overview.paused_sessions import Parked, Paused
from daemon.overview.queue_contents import Contents, MessageQueue, QueuedMessage, QueuedSession, SessionQueue
from daemon.overview.queue_lengths import BACKING_OFF, Lengths, Queues, push_channels, read_queues
from daemon.overview.system_overview import System, read_system
from daemon.overview.unknown_deliveries import Unknown, read_unknown
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
