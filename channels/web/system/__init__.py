"""Shows the state of the system over the HTTP API: processes, queues, dead letters, usage and logs.

Public: ``SystemEndpoints``, ``QueueEndpoints``, ``DeadLetterEndpoints``, ``RateEndpoints``, ``UsageEndpoints``,
``LogEndpoints`` and ``ToolEndpoints``.
Begin with ``system_endpoints``.
"""

from channels.web.system.log_endpoints import LogEndpoints
from channels.web.system.queue_endpoints import DeadLetterEndpoints, QueueEndpoints
from channels.web.system.system_endpoints import RateEndpoints, SystemEndpoints
from channels.web.system.tool_endpoints import ToolEndpoints
from channels.web.system.usage_endpoints import UsageEndpoints

__all__ = [
    "DeadLetterEndpoints",
    "LogEndpoints",
    "QueueEndpoints",
    "RateEndpoints",
    "SystemEndpoints",
    "ToolEndpoints",
    "UsageEndpoints",
]
