"""All of Millpond at one moment, for the page: computed once, however many look."""

from channels.web.system.dead import DeadPages
from channels.web.system.endpoints import SystemPages

__all__ = ["DeadPages", "SystemPages"]
