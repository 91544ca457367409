"""The web for tools: search at a provider, and pages as readable text."""

from workers.tools.web.address_check import Resolve, resolved
from workers.tools.web.search import search
from workers.tools.web.web_access import WebAccess

__all__ = ["Resolve", "WebAccess", "resolved", "search"]
