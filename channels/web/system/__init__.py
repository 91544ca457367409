"""Snapshots of the whole system for the page, computed once for all viewers."""

from channels.web.system.dead import DeadPages
from channels.web.system.endpoints import SystemPages
from channels.web.system.usage import UsagePages

__all__ = ["DeadPages", "SystemPages", "UsagePages"]
