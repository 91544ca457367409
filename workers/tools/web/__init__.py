"""The web for tools: search at a provider, and pages as readable text."""

from workers.tools.web.access import WebAccess
from workers.tools.web.search import search
from workers.tools.web.target import Resolve, resolved

__all__ = ["Resolve", "WebAccess", "resolved", "search"]
