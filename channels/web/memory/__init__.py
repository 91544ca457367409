"""Memories of bots, as the page shows and changes them."""

from channels.web.memory.memory_routing import memory_routes

__all__ = ["memory_routes"]
