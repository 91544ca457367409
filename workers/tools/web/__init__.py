"""Searches the web with a search provider, and reads web pages as text.

Public: ``WebAccess`` is the web of one turn, ``search`` asks a provider, ``resolved`` looks up a host.
Begin with ``web_access``. ``address_check`` blocks private networks, ``fetch`` loads a page.
"""

from workers.tools.web.address_check import Resolve, resolved
from workers.tools.web.search import search
from workers.tools.web.web_access import WebAccess

__all__ = ["Resolve", "WebAccess", "resolved", "search"]
