"""``/api/settings``: the configuration file, the first setup, people and links, for operators."""

from channels.web.settings.settings_routing import settings_routes

__all__ = ["settings_routes"]
