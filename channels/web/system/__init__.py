"""The state of the system for operators: snapshots, history, queues, dead letters, usage and log lines."""

from channels.web.system.log_endpoints import LogEndpoints
from channels.web.system.queue_endpoints import DeadLetterEndpoints, QueueEndpoints
from channels.web.system.system_endpoints import RateEndpoints, SystemEndpoints
from channels.web.system.usage_endpoints import UsageEndpoints

__all__ = [
    "DeadLetterEndpoints",
    "LogEndpoints",
    "QueueEndpoints",
    "RateEndpoints",
    "SystemEndpoints",
    "UsageEndpoints",
]
