"""The state of a bot at Discord, in sentences for people."""

from typing import Literal

import msgspec

from channels.discord.api import Api, Request
from channels.discord.api_types import STARTS_FEW, GatewayAddress, Unauthorized, User
from daemon.config import DiscordConfig
from daemon.errors import UNREADABLE, ChannelError
from daemon.setup.platforms.discord_api import NO_INTENT, App

TIMEOUT_S = 10.0


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """One fact."""

    state: Literal["ok", "warning", "error"]
    text: str


_gateway = msgspec.json.Decoder(GatewayAddress).decode
_user = msgspec.json.Decoder(User).decode
_app = msgspec.json.Decoder(App).decode


async def me_of(api: Api, *, timeout_s: float = TIMEOUT_S) -> User:
    """The bot's identity. Raises: ChannelError; ValueError: the answer is another one."""
    found = _user(await api.call(Request("GET", "/users/@me"), timeout_s=timeout_s))
    if not found.id:
        raise ValueError("Discord's response does not contain the bot's ID")
    return found


async def app_of(api: Api, *, timeout_s: float = TIMEOUT_S) -> App:
    """The bot's app. Errors as for ``me_of``."""
    return _app(await api.call(Request("GET", "/applications/@me"), timeout_s=timeout_s))


async def examined(api: Api, config: DiscordConfig, *, name: str) -> list[Remark]:
    """Facts about the bot of the channel ``name``, and problems with remedies. Never raises what ``send`` raises."""
    try:
        me, app = await me_of(api), await app_of(api)
    except Unauthorized as error:
        place = f"The token is set in channels.{name}.token or channels.{name}.token_file."
        return [Remark(state="error", text=f"{error} {place}")]
    except ChannelError as error:
        return [Remark(state="error", text=str(error))]
    except UNREADABLE:
        return [
            Remark(state="error", text=f"{config.base_url} is not Discord's API. Correct channels.{name}.base_url.")
        ]
    remarks = [Remark(state="ok", text=f"@{me.username}")]
    if not app.may_read_content and config.access.groups != "off":
        state: Literal["warning", "error"] = "error" if config.access.groups == "all" else "warning"
        remarks.append(Remark(state=state, text=NO_INTENT))
    if app.approximate_guild_count == 0:
        text = f"the bot has not been added to any server. To add the bot to a server, open {app.invitation}"
        remarks.append(Remark(state="ok", text=text))
    gateway = await _gateway_of(api)
    if (left := gateway.session_start_limit.remaining) < STARTS_FEW:
        text = (
            f"Discord allows this bot to start {left} more sessions today (limit: 1,000 per day). Search the log "
            "for gateway.closed to see why connections end, and check whether another program uses the token"
        )
        remarks.append(Remark(state="warning" if left else "error", text=text))
    return remarks


async def _gateway_of(api: Api) -> GatewayAddress:
    """What Discord recommends and allows; the defaults if it is unknown."""
    try:
        return _gateway(await api.call(Request("GET", "/gateway/bot"), timeout_s=TIMEOUT_S))
    except (ChannelError, *UNREADABLE):
        return GatewayAddress(url="")
