"""What bots remember, as the page looks at it and changes it."""

from channels.web.memory.routes import memory_routes

__all__ = ["memory_routes"]
