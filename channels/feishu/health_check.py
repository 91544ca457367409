"""How an app fares at Feishu, in sentences for people."""

from channels.base import Remark
from channels.feishu.api import Api
from channels.feishu.api_types import Rejected, Unauthorized
from channels.feishu.feishu_events import me_of
from channels.shapes import nested, objects_in
from daemon.config import FeishuConfig
from daemon.errors import ChannelError
from daemon.setup.platforms.feishu_scopes import CALLBACK, REACTION_EVENTS, missing_of

TIMEOUT_S = 10.0

ACTIVE = 2
"""``activate_status`` of a bot that people of the tenant can use."""


async def examined(api: Api, config: FeishuConfig, *, name: str) -> list[Remark]:
    """Feishu's report on the app of the channel ``name``, and problems of the app.

    Never raises what ``send`` raises.
    """
    where = f"channels.{name}"
    try:
        answer = await api.call("GET", "/bot/v3/info", timeout_s=TIMEOUT_S)
        me = me_of(answer, api.app_id)
    except Unauthorized as error:
        text = f"{error} The app ID and secret are set in {where}.app_id and {where}.app_secret_file."
        return [Remark(state="error", text=text)]
    except Rejected as error:
        text = f"{error}. Add the bot capability to the app, and publish a new version of the app. See {where}."
        return [Remark(state="error", text=text)]
    except ChannelError as error:
        return [Remark(state="error", text=f"{error}. See {where}.base_url.")]
    except ValueError as error:
        return [Remark(state="error", text=f"{error}. See {where}.")]
    remarks = [Remark(state="ok", text=f"{me.name} ({me.app_id}) at {config.base_url}")]
    if nested(answer, "bot", "activate_status") not in (None, ACTIVE):
        text = "the app is not active. Publish a new version of the app, and have a tenant administrator approve it"
        remarks.append(Remark(state="warning", text=text))
    if config.hear_reactions:
        remarks.append(_reactions())
    return [*remarks, *await _lacking(api), await _hearing(api, config)]


async def _lacking(api: Api) -> list[Remark]:
    try:
        answer = await api.call("GET", "/application/v6/scopes", timeout_s=TIMEOUT_S)
    except ChannelError:
        return []  # not every server tells
    scopes = objects_in(nested(answer, "data", "scopes"))
    granted = [str(each.get("scope_name")) for each in scopes if each.get("grant_status") == 1]
    if not granted or not (missing := missing_of(granted)):
        return []
    text = (
        f"the app lacks permissions: {', '.join(missing)}. Add the permissions under Permissions & Scopes in the "
        "developer console, and publish a new version of the app."
    )
    return [Remark(state="warning", text=text)]


def _reactions() -> Remark:
    """Feishu does not tell which events an app subscribes to."""
    text = (
        f"to receive reactions, add these events to the app: {' and '.join(REACTION_EVENTS)}. In the developer "
        "console, open Events & Callbacks, add the events, and publish a new version of the app"
    )
    return Remark(state="ok", text=text)


async def _hearing(api: Api, config: FeishuConfig) -> Remark:
    """The way in which the app receives events, and whether it works."""
    if config.events.url:
        text = (
            f"Feishu sends the app's events to {config.events.url}. In the developer console, enter this address "
            "under Events & Callbacks > Event Configuration, and under Callback Configuration. "
            f"Buttons need the callback {CALLBACK}."
        )
        return Remark(state="ok", text=text)
    from channels.feishu.long_connection import endpoint_of  # noqa: PLC0415 - it needs aiohttp

    try:
        endpoint_of(await api.endpoint(timeout_s=TIMEOUT_S), api.address)
    except ChannelError as error:
        return Remark(state="error", text=f"{error}. The long-lived connection for events cannot be opened.")
    text = f"the app receives events over a long-lived connection. Buttons need the callback {CALLBACK}"
    return Remark(state="ok", text=text)
