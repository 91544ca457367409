"""The state of the system for operators: snapshots, history, queues, dead letters, usage and log lines."""

from channels.web.system.dead_letter_endpoints import DeadPages
from channels.web.system.log_endpoints import LogPages
from channels.web.system.queue_endpoints import QueuePages
from channels.web.system.rate_endpoints import HistoryPages
from channels.web.system.system_endpoints import SystemPages
from channels.web.system.usage_endpoints import UsagePages

__all__ = ["DeadPages", "HistoryPages", "LogPages", "QueuePages", "SystemPages", "UsagePages"]
