"""Shows and changes the configuration for operators, including the first setup.

Public: ``settings_routes`` lists the addresses.
Begin with ``settings_endpoints``. ``connection_endpoints`` has the forms of models and channels.
"""

from channels.web.settings.settings_routing import settings_routes

__all__ = ["settings_routes"]
