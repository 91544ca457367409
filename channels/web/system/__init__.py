"""Snapshots of the whole system for the page, computed once for all viewers."""

from channels.web.system.dead import DeadPages
from channels.web.system.endpoints import SystemPages

__all__ = ["DeadPages", "SystemPages"]
