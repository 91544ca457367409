"""Snapshots of the whole system for the page, computed once for all viewers."""

from channels.web.system.dead_letter_endpoints import DeadPages
from channels.web.system.system_endpoints import SystemPages
from channels.web.system.usage_endpoints import UsagePages

__all__ = ["DeadPages", "SystemPages", "UsagePages"]
