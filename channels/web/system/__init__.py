"""The state of the system for operators: snapshots, history, queues, dead letters, usage and log lines."""

from channels.web.system.dead import DeadPages
from channels.web.system.endpoints import SystemPages
from channels.web.system.history import HistoryPages
from channels.web.system.logs import LogPages
from channels.web.system.queues import QueuePages
from channels.web.system.usage import UsagePages

__all__ = ["DeadPages", "HistoryPages", "LogPages", "QueuePages", "SystemPages", "UsagePages"]
