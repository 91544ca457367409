"""Memories of bots, as the page shows and changes them."""

from channels.web.memory.routes import memory_routes

__all__ = ["memory_routes"]
