"""Shows and changes memories for the page.

Public: ``memory_routes`` lists the addresses.
Begin with ``memory_endpoints``. ``forget_endpoints`` deletes text.
"""

from channels.web.memory.memory_routing import memory_routes

__all__ = ["memory_routes"]
