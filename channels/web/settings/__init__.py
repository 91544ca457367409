"""Shows and changes the configuration over the HTTP API, including the first setup.

Public: ``settings_routes`` lists the addresses.
Begin with ``settings_endpoints``. ``connection_endpoints`` has the forms of models and channels.
"""

from starlette.routing import Route

from channels.web.access import Only
from channels.web.settings.bot_endpoints import Bots
from channels.web.settings.connection_endpoints import ConnectionEndpoints
from channels.web.settings.people_settings import PeopleSettings
from channels.web.settings.settings_endpoints import SettingsEndpoints, SettingsFile, translated
from channels.web.site import Site

__all__ = ["settings_routes"]


def settings_routes(site: Site, only: Only) -> list[Route]:
    """Addresses of the configuration and of people, for operators ``only``."""
    file = SettingsFile(site)
    reading, connecting, people, bots = (
        SettingsEndpoints(site, file),
        ConnectionEndpoints(file),
        PeopleSettings(site),
        Bots(file),
    )
    forms = {
        "bot": bots.create,
        "bot/delete": bots.delete,
        "model": connecting.model,
        "model/names": connecting.names,
        "web": connecting.web,
        "voice": connecting.voice,
        "telegram": connecting.telegram,
        "slack": connecting.slack,
        "discord": connecting.discord,
        "feishu": connecting.feishu,
        "webhook": connecting.webhook,
        "owner": connecting.owner,
    }
    decisions = {
        "approve": people.approve,
        "ban": people.ban,
        "unban": people.unban,
        "link": people.link,
        "unlink": people.unlink,
    }
    return [
        Route("/api/settings", only(translated(reading.read)), methods=["GET"]),
        Route("/api/settings", only(translated(reading.change)), methods=["PUT"]),
        Route("/api/settings/restart", only(translated(reading.restart)), methods=["POST"]),
        Route("/api/settings/manifest", only(translated(connecting.manifest))),
        Route("/api/settings/scopes", only(translated(connecting.scopes))),
        Route("/api/settings/people", only(people.read)),
        *(
            Route(f"/api/settings/{name}", only(translated(handler)), methods=["POST"])
            for name, handler in forms.items()
        ),
        *(
            Route(f"/api/settings/people/{name}", only(handler), methods=["POST"])
            for name, handler in decisions.items()
        ),
    ]
