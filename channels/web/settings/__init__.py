"""``/api/settings``: the configuration file, the first setup, people and links, for operators."""

from channels.web.settings.routes import settings_routes

__all__ = ["settings_routes"]
